# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the nodes of a cell wrote themselves: a second opinion beside the trace.

Known are the stamps of relay_chain's nodes (NODE.csv) and their summaries (NODE.json), perf_node's
samples (perf_TOPIC.csv, perf_TOPIC_columns.csv, perf.json) and image_subscriber's summary
(images.json). What is no file of theirs is passed over; one that is theirs and cannot be read is
counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from strata.documents import read_json
from strata.read.manifest import read_manifest
from strata.record.directory import host_sessions
from strata.schema.quality import Finding, Findings
from strata.schema.tables.measured import (
    MEASURED_COLUMN_TIMES,
    MEASURED_ROUND_TRIPS,
    MEASURED_STAMPS,
)
from strata.study.hop_selection import HopSelection

RESULTS = Path("scenario") / "results"
_STAMP_COLUMNS = {"node", "event", "seq", "t_mono_ns", "src_mono_ns"}
_PERF_COLUMNS = {"recv_stamp", "msg_stamp"}
_TIMES_COLUMNS = {"scan", "column", "t_ns"}
_TIMES_END = "_columns"


@dataclass(frozen=True)
class OwnCounts:
    """What a node says that it received and lost.

    `lost` is null where it cannot be of one hop, or where the node cannot know it. `node` and
    `topic` are null where the file does not say. It counted the messages from its `begin`-th to its
    `end`-th (excluded; null: all). With `is_lower_bound` more may be lost.
    """

    file: str
    received: int
    lost: int | None
    node: str | None = None
    topic: str | None = None
    begin: int = 0
    end: int | None = None
    payload_bytes: int | None = None
    is_lower_bound: bool = False


@dataclass
class OwnFiles:
    """All that the nodes of a cell wrote; `payload_bytes` is what a setting states."""

    counts: list[OwnCounts] = field(default_factory=list)
    stamps: pd.DataFrame = field(default_factory=MEASURED_STAMPS.empty)
    column_times: pd.DataFrame = field(default_factory=MEASURED_COLUMN_TIMES.empty)
    round_trips: pd.DataFrame = field(default_factory=MEASURED_ROUND_TRIPS.empty)
    payload_bytes: int | None = None

    def of(self, node: str, topic: str) -> OwnCounts | None:
        """Return the counts of a node about a topic; null without any."""
        # A file may have the full name, or that without the namespace.
        names = (None, node, node.rsplit("/", 1)[-1])
        fitting = [
            counts
            for counts in self.counts
            if counts.node in names
            and counts.topic in (None, topic)
            # A file that names neither is nobody's.
            and (counts.node or counts.topic)
        ]
        # A summary knows what was sent, stamps alone do not.
        return min(fitting, key=lambda counts: counts.file.endswith(".csv"), default=None)


def read_own_files(directory: Path, wanted: HopSelection) -> tuple[OwnFiles, Findings]:
    """Read what the nodes of a session wrote; files that cannot be read are counted beside it."""
    own = OwnFiles(payload_bytes=_stated_payload(directory))
    unreadable = 0
    sessions = (directory, *host_sessions(directory).values())
    for path in [path for one in sessions for path in sorted((one / RESULTS).glob("*"))]:
        reader: Callable[[Path, HopSelection, OwnFiles], None] | None
        reader = {".csv": _read_csv, ".json": _read_json}.get(path.suffix)
        if reader is None or not path.is_file():
            continue
        try:
            reader(path, wanted, own)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            unreadable += 1
    return own, Findings(Finding("unreadable_own_files", unreadable))


def _stated_payload(directory: Path) -> int | None:
    manifest = read_manifest(directory) or {}
    settings = (manifest.get("scenario") or {}).get("settings") or {}
    for name in ("size", "payload"):
        value = settings.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def _read_csv(path: Path, wanted: HopSelection, own: OwnFiles) -> None:
    with path.open(encoding="utf-8") as file:
        head = set(file.readline().strip().split(","))
    if head >= _PERF_COLUMNS:
        own.stamps = pd.concat([own.stamps, _perf_stamps(path, wanted)], ignore_index=True)
    elif head == _TIMES_COLUMNS:
        own.column_times = pd.concat([own.column_times, _column_times(path)], ignore_index=True)
    elif head >= _STAMP_COLUMNS:
        own.counts += _relay_counts(path)


def _perf_stamps(path: Path, wanted: HopSelection) -> pd.DataFrame:
    rows = pd.read_csv(path, dtype=np.int64)
    topic = _topic_of(path, path.stem)
    number = np.arange(len(rows))
    return MEASURED_STAMPS.frame(
        pd.DataFrame(
            {
                "topic": topic,
                "number": number,
                "recv_ns": rows["recv_stamp"],
                "msg_ns": rows["msg_stamp"],
                "warm_up": number < wanted.warm_up,
            }
        )
    )


def _column_times(path: Path) -> pd.DataFrame:
    rows = pd.read_csv(path, dtype=np.int64)
    return MEASURED_COLUMN_TIMES.frame(
        pd.DataFrame(
            {
                "topic": _topic_of(path, path.stem.removesuffix(_TIMES_END)),
                "number": rows["scan"],
                "column": rows["column"],
                "since_ns": rows["t_ns"],
            }
        )
    )


def _topic_of(path: Path, stem: str) -> str:
    """Name the topic of a perf node's file by the stem of its samples' file."""
    summary = path.with_name("perf.json")
    if summary.is_file():
        # A topic's slashes became underscores in the file's name.
        for one in read_json(summary):
            if _perf_stem(one["topic"]) == stem:
                return str(one["topic"])
    return "/" + stem.removeprefix("perf_")


def _perf_stem(topic: str) -> str:
    return "perf_" + topic.strip("/").replace("/", "_")


def _relay_counts(path: Path) -> list[OwnCounts]:
    rows = pd.read_csv(path, usecols=["node", "event", "seq"])
    begun = rows[rows["event"] == "cb_start"]
    if begun.empty:
        return []
    numbers = begun["seq"].to_numpy(np.int64)
    different = len(np.unique(numbers))
    lost = int(numbers.max() - numbers.min() + 1 - different)
    return [OwnCounts(path.name, different, lost, node=str(begun["node"].iloc[0]))]


def _read_json(path: Path, wanted: HopSelection, own: OwnFiles) -> None:
    document = read_json(path)
    if path.name == "perf.json":
        own.counts += [_of_perf_node(path, one) for one in document]
    elif isinstance(document, dict) and "round_trips_ns" in document:
        own.round_trips = _round_trips(document, wanted)
    elif isinstance(document, dict) and document.get("lost") is not None:
        own.counts += _of_sink(path, document)


def _of_perf_node(path: Path, document: dict[str, Any]) -> OwnCounts:
    begin, samples = int(document["warm_up"]), int(document["samples"])
    # Null where the middleware numbers no messages. Gaps of stamps are no substitute: scans that
    # the driver never published are gaps, too.
    lost = document["lost_by_sequence"]
    return OwnCounts(
        path.name,
        samples,
        None if lost is None else int(lost),
        topic=document["topic"],
        begin=begin,
        end=begin + samples,
    )


def _of_sink(path: Path, document: dict[str, Any]) -> list[OwnCounts]:
    received = document.get("received")
    if received is None:
        return []
    topic, image = document.get("topic"), document.get("image") or {}
    # Several subscribers of a topic are told apart by their names; older files have none.
    node = document.get("node") or (None if topic else path.stem)
    size = image.get("bytes") or document.get("payload")
    if not size and received and document.get("bytes"):
        size = round(document["bytes"] / received)
    # Copies of one message are one.
    different = int(received) - int(document.get("duplicates") or 0)
    return [
        OwnCounts(
            path.name,
            different,
            int(document["lost"]),
            node=node,
            topic=topic,
            payload_bytes=int(size) if size else None,
            is_lower_bound=document.get("lost_is_lower_bound") is True,
        )
    ]


def _round_trips(document: dict[str, Any], wanted: HopSelection) -> pd.DataFrame:
    trips = pd.Series(document["round_trips_ns"], dtype="Int64")
    number = np.arange(len(trips))
    frame = pd.DataFrame(
        {
            "number": number,
            "round_trip_ns": trips,
            "warm_up": number < wanted.warm_up,
        }
    )
    return MEASURED_ROUND_TRIPS.frame(frame[frame["round_trip_ns"].notna()])
