# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Write events of the kernel as CTF 1.8, in the shape that LTTng's kernel traces have.

One stream a CPU; a packet a block of events. All fields are whole bytes, little endian, so that a
record is a NumPy structure. Specification: diamon.org/ctf/v1.8.3.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from strata.record.kernel.events import Form, PerfEvent
from strata.record.kernel.text import Array, Batch, Block, Lost, dtype_of

_MAGIC = 0xC1FC1FC1
_HEADER = np.dtype(
    [
        ("magic", "<u4"),
        ("uuid", "u1", 16),
        ("stream_id", "<u4"),
        ("timestamp_begin", "<u8"),
        ("timestamp_end", "<u8"),
        ("content_size", "<u8"),
        ("packet_size", "<u8"),
        ("packet_seq_num", "<u8"),
        ("events_discarded", "<u8"),
        ("cpu_id", "<u4"),
    ]
)
_SIGNED = {Form.INT32, Form.INT64, Form.STATE, Form.HANDLED}
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class Origin:
    """What the metadata say of the trace: who recorded it where, and its clock.

    Time since the epoch = CLOCK_MONOTONIC + `clock_offset_ns`. `boot_id` names the clock, so that
    readers know it for that of the userspace traces; empty when unknown.
    """

    hostname: str
    tracer: str
    kernel: str
    clock_offset_ns: int
    boot_id: str


class KernelTrace:
    """A CTF trace being written into a directory, block by block; a context manager."""

    def __init__(self, directory: Path, events: list[PerfEvent], origin: Origin) -> None:
        directory.mkdir(parents=True)
        self._directory = directory
        self._uuid = uuid.uuid4()
        self._ids = {event.name: number for number, event in enumerate(events)}
        self._streams: dict[int, IO[bytes]] = {}
        self._packets: dict[int, int] = {}
        self._lost: dict[int, int] = {}
        self._begin_ns: int | None = None
        self.events = 0
        (directory / "metadata").write_text(_metadata(self._uuid, events, origin))

    def __enter__(self) -> KernelTrace:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in self._streams.values():
            stream.close()

    @property
    def lost(self) -> int:
        """Events that were lost, as far as blocks were written."""
        return sum(self._lost.values())

    def write(self, block: Block) -> None:
        """Append a packet to each CPU's stream that has events in the block, or lost some."""
        for cpu, lost in block.lost.items():
            self._lost[cpu] = self._lost.get(cpu, 0) + lost.count
        self._begin(block)
        cpus = {int(cpu) for batch in block.batches for cpu in np.unique(batch.cpu)}
        for cpu in sorted(cpus | set(block.lost)):
            batches = [_of_cpu(batch, cpu) for batch in block.batches]
            self._write_packet(cpu, batches, block.lost.get(cpu))

    def _begin(self, block: Block) -> None:
        """Note where the trace begins: what a CPU lost before its first event was lost since."""
        if self._begin_ns is None:
            first = [int(batch.time_ns.min()) for batch in block.batches if len(batch.time_ns)]
            first += [lost.until_ns for lost in block.lost.values()]
            self._begin_ns = min(first, default=None)

    def _write_packet(self, cpu: int, batches: list[Batch], lost: Lost | None) -> None:
        times = np.concatenate([np.empty(0, np.int64), *(batch.time_ns for batch in batches)])
        # A packet may hold no event, only a loss; it reaches to where perf noticed that.
        known = np.append(times, lost.until_ns) if lost else times
        records = [_records(self._ids[batch.event.name], batch) for batch in batches]
        content = _interleaved(times, records)
        header = np.zeros(1, _HEADER)
        size = (_HEADER.itemsize + len(content)) * 8
        values = {
            "magic": _MAGIC,
            "uuid": np.frombuffer(self._uuid.bytes, np.uint8),
            "timestamp_begin": known.min() if cpu in self._packets else self._begin_ns,
            "timestamp_end": known.max(),
            "content_size": size,
            "packet_size": size,
            "packet_seq_num": self._packets.get(cpu, 0),
            "events_discarded": self._lost.get(cpu, 0),
            "cpu_id": cpu,
        }
        for name, value in values.items():
            header[name] = value
        if cpu not in self._streams:
            self._streams[cpu] = (self._directory / f"kernel_{cpu}").open("wb")
        self._streams[cpu].write(header.tobytes())
        self._streams[cpu].write(content)
        self._packets[cpu] = self._packets.get(cpu, 0) + 1
        self.events += len(times)


def _of_cpu(batch: Batch, cpu: int) -> Batch:
    own = batch.cpu == cpu
    fields = {name: values[own] for name, values in batch.fields.items()}
    return Batch(batch.event, batch.time_ns[own], batch.cpu[own], fields)


def _records(number: int, batch: Batch) -> Array:
    """Return the events as packed structures."""
    layout = [("id", "<u2"), ("timestamp", "<u8")]
    layout += [(f"_{name}", dtype_of(form)) for name, form in batch.event.fields]
    records = np.zeros(len(batch.time_ns), np.dtype(layout))
    records["id"] = number
    records["timestamp"] = batch.time_ns
    for name, values in batch.fields.items():
        records[f"_{name}"] = values
    return records


def _interleaved(times: Array, records: list[Array]) -> bytes:
    """Put records of different sizes into one row of bytes, in order of time."""
    sizes = np.repeat(
        [item.dtype.itemsize for item in records], [len(item) for item in records]
    ).astype(np.int64)
    order = np.argsort(times, kind="stable")
    begin = np.empty(len(times), np.int64)
    begin[order] = np.cumsum(sizes[order]) - sizes[order]
    content = np.empty(int(sizes.sum()), np.uint8)
    first = 0
    for item in records:
        width = item.dtype.itemsize
        places = begin[first : first + len(item), None] + np.arange(width)
        content[places] = np.frombuffer(item.tobytes(), np.uint8).reshape(-1, width)
        first += len(item)
    return content.tobytes()


def _metadata(trace: uuid.UUID, events: list[PerfEvent], origin: Origin) -> str:
    seconds, rest = divmod(origin.clock_offset_ns, _NS_PER_S)
    clock_uuid = f'\tuuid = "{origin.boot_id}";\n' if origin.boot_id else ""
    parts = [
        "/* CTF 1.8 */\n\n",
        f'trace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = "{trace}";\n\tbyte_order = le;\n'
        f"\tpacket.header := struct {{\n\t\t{_integer(32)} magic;\n\t\t{_integer(8)} uuid[16];\n"
        f"\t\t{_integer(32)} stream_id;\n\t}};\n}};\n\n",
        f'env {{\n\thostname = {_quoted(origin.hostname)};\n\tdomain = "kernel";\n'
        f'\ttracer_name = {_quoted(origin.tracer)};\n\tsysname = "Linux";\n'
        f"\tkernel_release = {_quoted(origin.kernel)};\n}};\n\n",
        f'clock {{\n\tname = "monotonic";\n{clock_uuid}\tdescription = "Monotonic Clock";\n'
        f"\tfreq = {_NS_PER_S};\n\toffset_s = {seconds};\n\toffset = {rest};\n"
        "\tabsolute = TRUE;\n};\n\n",
        _stream(),
        *(_event(number, event) for number, event in enumerate(events)),
    ]
    return "".join(parts)


def _stream() -> str:
    times = ("timestamp_begin", "timestamp_end")
    context = [f"\t\t{_integer(64, clock=True)} {name};\n" for name in times]
    context += [
        f"\t\t{_integer(64)} {name};\n"
        for name in ("content_size", "packet_size", "packet_seq_num", "events_discarded")
    ]
    return (
        "stream {\n\tid = 0;\n"
        f"\tevent.header := struct {{\n\t\t{_integer(16)} id;\n"
        f"\t\t{_integer(64, clock=True)} timestamp;\n\t}};\n"
        f"\tpacket.context := struct {{\n{''.join(context)}\t\t{_integer(32)} cpu_id;\n\t}};\n"
        "};\n\n"
    )


def _event(number: int, event: PerfEvent) -> str:
    fields = "".join(f"\t\t{_declared(name, form)};\n" for name, form in event.fields)
    return (
        f'event {{\n\tname = "{event.name}";\n\tid = {number};\n\tstream_id = 0;\n'
        f"\tfields := struct {{\n{fields}\t}};\n}};\n\n"
    )


def _declared(name: str, form: Form) -> str:
    width = np.dtype(dtype_of(form)).itemsize
    if form in (Form.COMM, Form.NAME):
        return f"{_integer(8, text=True)} _{name}[{width}]"
    return f"{_integer(width * 8, signed=form in _SIGNED)} _{name}"


def _integer(bits: int, *, signed: bool = False, clock: bool = False, text: bool = False) -> str:
    more = " map = clock.monotonic.value;" if clock else ""
    more += " encoding = UTF8;" if text else ""
    return f"integer {{ size = {bits}; align = 8; signed = {int(signed)};{more} }}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
