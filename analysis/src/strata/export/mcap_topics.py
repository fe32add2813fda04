# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Latencies as topics of an MCAP file, to be opened beside the robot's own bag.

A topic for each chain and each hop, with a message for each chosen instance: its latency and the
time in each layer, as numbers that can be plotted. `log_time` is the end of the last callback,
`publish_time` the first publish, both ns since the epoch as in a bag of rosbag2. The format:
https://mcap.dev/spec/registry (profile ros2, ros2msg schemas, cdr messages)
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt
from mcap.writer import Writer

from strata import __version__
from strata.export.chosen import Chosen
from strata.export.file_target import replacing_file
from strata.export.written import Written
from strata.printable import printable
from strata.schema.layers import HOP_LAYERS
from strata.schema.rows import NONE, Ints, Rows

_CDR_LITTLE_ENDIAN = bytes([0, 1, 0, 0])
_NS_PER_MS = 1e6
_HEAD = """\
# {what}
# Number of the message (message_id of the tables of strata).
int64 message_id
# The sum of the layers below, ns.
int64 latency_ns
# The same, ms, to be plotted.
float64 latency_ms
"""


@dataclass(frozen=True)
class _Topic:
    """A topic and its messages in columns, in the order of time.

    `layers_ns` has a row per layer; `NONE` where the layer is not in the message.
    """

    name: str
    type_name: str
    what: str
    metadata: dict[str, str]
    begin_ns: Ints
    end_ns: Ints
    message_id: Ints
    layers: tuple[str, ...]
    layers_ns: Ints

    def schema(self) -> bytes:
        """Return the definition of its message in ros2msg."""
        fields = [
            f"# Layer {layer}, ms; NaN where it is not in the message.\nfloat64 {_field(layer)}\n"
            for layer in self.layers
        ]
        return "".join([_HEAD.format(what=printable(self.what)), *fields]).encode()

    def messages(self) -> Iterator[bytes]:
        """Yield each message in CDR: only numbers of 8 bytes, so nothing is padded."""
        ms = np.where(self.layers_ns == NONE, np.nan, self.layers_ns / _NS_PER_MS)
        form = struct.Struct(f"<qq{1 + len(self.layers)}d")
        latency = self.end_ns - self.begin_ns
        for at, (message, ns) in enumerate(
            zip(self.message_id.tolist(), latency.tolist(), strict=True)
        ):
            values = form.pack(message, ns, ns / _NS_PER_MS, *ms[:, at].tolist())
            yield _CDR_LITTLE_ENDIAN + values


def write(chosen: Chosen, target: Path, *, force: bool = False) -> Written:
    """Write the topics of the chosen chain instances and messages to the file `target`.

    Raises OutputError.
    """
    topics = [*_chains(chosen), *_hops(chosen)]
    with replacing_file(target, chosen.choice.max_bytes, force=force) as file:
        writer = Writer(cast("IO[Any]", file))
        writer.start(profile="ros2", library=f"strata {__version__}")
        writer.add_metadata(
            "strata", {"trace": chosen.analysis.trace.path, "verdict": chosen.analysis.system.text}
        )
        writer.add_metadata("strata findings", _findings(chosen))
        channels = [_register(writer, topic) for topic in topics]
        count = _write_messages(writer, topics, channels)
        writer.finish()  # type: ignore[no-untyped-call]
        size = file.size
    return Written(target, size, {"topics": len(topics), "messages": count})


def _findings(chosen: Chosen) -> dict[str, str]:
    """Return what is lost or uncertain in the trace: a text by the code of the finding."""
    return {
        f"{row['severity']}: {row['code']}": row["text"]
        for row in chosen.analysis.rows("quality").records()
        if row["severity"] != "info"
    }


def _register(writer: Writer, topic: _Topic) -> int:
    schema = writer.register_schema(topic.type_name, "ros2msg", topic.schema())
    return int(writer.register_channel(topic.name, "cdr", schema, topic.metadata))


def _write_messages(writer: Writer, topics: list[_Topic], channels: list[int]) -> int:
    """Write the messages of all topics in the order of time, as a reader expects them."""
    if not topics:
        return 0
    of = np.repeat(np.arange(len(topics)), [len(topic.end_ns) for topic in topics])
    ends = np.concatenate([topic.end_ns for topic in topics])
    begins = np.concatenate([topic.begin_ns for topic in topics])
    streams = [topic.messages() for topic in topics]
    sequence = [0] * len(topics)
    order = np.lexsort((of, ends))
    for row, at in zip(order.tolist(), of[order].tolist(), strict=True):
        writer.add_message(
            channels[at],
            log_time=int(ends[row]),
            publish_time=int(begins[row]),
            data=next(streams[at]),
            sequence=sequence[at],
        )
        sequence[at] += 1
    return len(order)


def _chains(chosen: Chosen) -> Iterator[_Topic]:
    chains, instances = chosen.analysis.rows("chains"), chosen.rows("chain_instances")
    segments = chosen.rows("chain_segments")
    for chain in np.unique(instances["chain_id"]).tolist():
        own = _by_end(instances, np.flatnonzero(instances["chain_id"] == chain), "end_ns")
        record = chains.record(chain)
        along = segments.take(np.flatnonzero(segments["chain_id"] == chain))
        layers, layers_ns = _sums(along, instances["chain_instance_id"][own])
        yield _Topic(
            f"/strata/chain_{chain}",
            f"strata/msg/Chain{chain}",
            f"A message along the chain {record['name']}",
            {"chain": record["name"], "nodes": record["nodes"]},
            instances["begin_ns"][own],
            instances["end_ns"][own],
            instances["message_id"][own],
            layers,
            layers_ns,
        )


def _sums(segments: Rows, instances: Ints) -> tuple[tuple[str, ...], Ints]:
    """Return the layers of instances, and their ns over all hops: a row per layer.

    `segments` are those of these instances, in any order.
    """
    column = segments.words("layer")
    order = np.argsort(instances)
    of = order[np.searchsorted(instances[order], segments["chain_instance_id"])]
    used = np.unique(column.codes).tolist()
    total = np.full((len(used), len(instances)), NONE, np.int64)
    for at, code in enumerate(used):
        there = np.flatnonzero(column.codes == code)
        # From null to a sum: what is added first replaces it.
        total[at, of[there]] = 0
        np.add.at(total[at], of[there], segments["duration_ns"][there])
    return tuple(column.words[code] for code in used), total


def _hops(chosen: Chosen) -> Iterator[_Topic]:
    hops, messages = chosen.analysis.rows("hops"), chosen.rows("messages")
    end_ns = messages["begin_ns"] + messages["latency_ns"]
    for hop in np.unique(messages["hop_id"]).tolist():
        own = np.flatnonzero(messages["hop_id"] == hop)
        own = own[np.argsort(end_ns[own], kind="stable")]
        record = hops.record(hop)
        columns = {
            layer.name: messages[layer.column][own]
            for layer in HOP_LAYERS
            if (messages[layer.column][own] != NONE).any()
        }
        yield _Topic(
            f"/strata/hop_{hop}",
            f"strata/msg/Hop{hop}",
            f"A message of {record['topic']} to {record['subscription_node']}",
            {
                "topic": record["topic"],
                "publisher": str(record["publisher_node"]),
                "subscription": str(record["subscription_node"]),
            },
            messages["begin_ns"][own],
            end_ns[own],
            messages["message_id"][own],
            tuple(columns),
            np.array([*columns.values()], np.int64).reshape(len(columns), len(own)),
        )


def _by_end(rows: Rows, own: npt.NDArray[np.int64], column: str) -> Ints:
    return own[np.argsort(rows[column][own], kind="stable")]


def _field(layer: str) -> str:
    """Return the name of a layer's field: `executor wait` is `executor_wait_ms`."""
    return re.sub(r"[^a-z0-9]+", "_", layer) + "_ms"
