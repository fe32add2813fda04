# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Traces by name, the same in every run: damaged, odd and partly dropped ones, and changed tables.

CASES["a stream that was cut, no index"].make(empty_directory, sample)      a trace
dict(of_samples(sample))["services_kilted, robot ahead"]()                  a world
"""

from __future__ import annotations

import json
import os
import shutil
import struct
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
from driver_events import driver_work
from frozen_worlds import Tables, World
from model.steady_systems import MISLEADING
from model.without_stamps import (
    BY_EVERY_CLOCK,
    CLOCKS,
    OTHERS,
    as_humble,
    bare_publisher,
    unstamped,
)
from model.worlds import as_humble as world_as_humble
from model.worlds import chosen_world, record, steady_world
from process_events import in_containers, on_another_host
from read.damage import (
    FIELDS,
    HEADER,
    SAMPLE,
    STREAMS,
    flip,
    flip_of_number,
    packets_of,
    take_packets,
)
from ring_events import ring_work
from small_trace import write_trace
from work_events import work
from written_trace import write_tables

from strata.read import open_trace
from strata.read.names import keep
from strata.read.rotated import METADATA_NEW

Sample = Callable[[str], Path]
Change = Callable[[Path], object]

FOREIGN, OWN = 28633, (28359, 28360, 28361, 28362, 28363)
"""Process ids of the sample `BOTH`: of another program, and of its own."""
BOTH = "fast_relaymp_st_foreign"
_BOOT = b"3638c29e-f7bd-40c5-a0cd"
"""Of the machine of two samples."""
_SOME_STAMPED = (
    *("fast_relay1p_st_ipc", "fast_relay1p_ipcmixed", "intra_jazzy", "fast_relaymp_st"),
    *("fast_fusion", "dds_jazzy_udp_resends", "services_kilted", "actions_jazzy", "cell_lidar"),
)
_WRITTEN = 80


@dataclass(frozen=True)
class Case:
    """A trace that is made in an empty directory, of samples; how it is analyzed."""

    make: Callable[[Path, Sample], Path]
    without: Collection[int] = ()
    every: bool = False


def _changed(change: Change) -> Case:
    """A sample whose directory of streams was changed."""

    def make(place: Path, sample: Sample) -> Path:
        directory = place / "trace"
        shutil.copytree(sample(SAMPLE) / STREAMS, directory)
        change(directory)
        return directory

    return Case(make)


def _flip_events(seed: int, directory: Path) -> None:
    chance = Random(seed)
    for path, offset, size in packets_of(directory):
        for _ in range(20):
            flip(path, offset + HEADER + chance.randrange(size - HEADER), chance.randrange(8))


def _flip_headers(name: str, directory: Path) -> None:
    shutil.rmtree(directory / "index")
    for number, (path, offset, _) in enumerate(packets_of(directory)):
        if number % 2 == 0:
            flip_of_number(path, offset + FIELDS[name], 45 - number)


def _cut_stream(index: bool, directory: Path) -> None:
    if not index:
        shutil.rmtree(directory / "index")
    os.truncate(directory / "ros2_1", 1_500_000)
    (directory / "ros2_2").touch()


def _set_clocks(by_ns: int, directory: Path) -> None:
    for stream in ("ros2_0", "ros2_1"):
        _set_clock(directory / stream, directory, by_ns)


def _set_clock(path: Path, directory: Path, by_ns: int) -> None:
    """Add to the times of events that have all of them; those of others count from these."""
    trace = open_trace(directory)
    clock = next(iter(trace.clock_offsets_ns.values()))
    columns = trace.tables(columns=["timestamp"]).values()
    times = np.concatenate([column["timestamp"].to_numpy() for column in columns]) - clock
    content = bytearray(path.read_bytes())
    numbers: np.ndarray[tuple[int], np.dtype[np.int64]] = np.ndarray(
        (len(content) - 7,), "<i8", content, strides=(1,)
    )
    at = np.flatnonzero(np.isin(numbers, times))
    numbers[at[at > HEADER][1::2]] += by_ns
    path.write_bytes(content)


def _dropped(place: Path, sample: Sample) -> Path:
    """A trace of whose first packets only what names things was kept."""
    trace = place / "trace"
    chunk = trace / "archives" / "20260301T120000-0500-20260301T120100-0500-0"
    rest = trace / "ust"
    for part in (chunk / "ust", rest):
        shutil.copytree(sample(SAMPLE) / STREAMS, part)
        shutil.rmtree(part / "index")
    for path, offset, size in packets_of(sample(SAMPLE) / STREAMS):
        if not offset:
            content = path.read_bytes()
            (chunk / "ust" / path.name).write_bytes(content[:size])
            (rest / path.name).write_bytes(content[size:])
    names = chunk.parent / "names-0"
    keep([(chunk, names)], None, 1 << 20)
    for metadata in names.rglob(METADATA_NEW):
        metadata.rename(metadata.with_name("metadata"))
    shutil.rmtree(chunk)
    return trace


def _no_known_provider(process: str, directory: Path) -> None:
    for number, name in enumerate(("made:event", "made_of_kernel", "ros2:no_such_event")):
        write_trace(directory / str(number), [b""] * 1_000, event=name, process=process, host="a")
    write_trace(directory / "own", [b"text\0"] * 10, event="made:other", fields="string _message;")


def _odd_takes(directory: Path) -> None:
    """Write takes whose fields are other things than declared."""
    texts = [b"x" if number % 3 == 2 else b"%d" % number for number in range(30)]
    payloads = [text + b"\0" + struct.pack("<d", at / 2) for at, text in enumerate(texts)]
    fields = "string _taken; double _source_timestamp;"
    write_trace(directory / "odd", payloads, event="ros2:rmw_take", fields=fields)


def _odd_late_takes(directory: Path) -> None:
    _set_clock(directory / "ros2_0", directory, 3_000_000)
    _odd_takes(directory)


def _of_two_types(directory: Path) -> None:
    for number, kind in enumerate(("string", "int32_t")):
        payloads = [b"abc\0"] * 9
        write_trace(directory / f"{number}", payloads, event="made:event", fields=f"{kind} _x;")


def _nothing_of_ros2(events: int, place: Path, _: Sample) -> Path:
    write_trace(place / "a", [b""] * events)
    write_trace(place / "b", [b""] * events, event="sched_switch")
    return place


def _told_others(others: Collection[int], place: Path, sample: Sample) -> Path:
    """A session whose manifest tells which processes its command did not start."""
    path = place / BOTH
    shutil.copytree(sample(BOTH), path)
    (path / "manifest.json").write_text(json.dumps({"processes": {"others": list(others)}}))
    return path


def _two_machines(one_boot: bool, place: Path, sample: Sample) -> Path:
    shutil.copytree(sample("services_jazzy"), place / "one")
    shutil.copytree(sample("actions_jazzy"), place / "other")
    (metadata,) = (place / "other").rglob("metadata")
    text = metadata.read_bytes()
    if not one_boot:
        text = text.replace(_BOOT, b"0" * 8 + _BOOT[8:])
    metadata.write_bytes(text.replace(b'"vm"', b'"wm"'))
    return place


_EARLY: tuple[Callable[[int], int], ...] = (
    lambda ns: 0,
    lambda ns: 3 if ns % 3 == 0 else 0,
    lambda ns: ns % 7 * 1_000,
    lambda ns: 5_000_000 if ns % 5 == 0 else 0,
    lambda ns: ns % 2 << 60,
)
"""How long before its time an event is written."""


def _written(number: int, place: Path, _: Sample) -> Path:
    """A made-up world as streams, some of whose events come late."""
    chance = Random(number)
    make: Callable[[Random], Tables] = chance.choice(
        (
            lambda chance: record(chosen_world(chance)).tables(),
            lambda chance: work(chance)[0],
            lambda chance: ring_work(chance)[0],
            lambda chance: driver_work(chance)[0],
        )
    )
    tables, streams = make(chance), chance.randint(1, 3)
    return write_tables(place / "trace", tables, streams=streams, early=chance.choice(_EARLY))


def _cases() -> Iterator[tuple[str, Case]]:
    for seed in range(1, 12):
        yield f"flipped bits in events {seed}", _changed(partial(_flip_events, seed))
    for name in FIELDS:
        yield f"damaged headers, {name}", _changed(partial(_flip_headers, name))
    for first, count in ((0, 1), (1, 2), (0, 4)):
        yield (
            f"packets {first} to {first + count - 1} were deleted",
            _changed(lambda path, of=(first, count): take_packets(path, "ros2_1", *of)),
        )
    for index in ("with", "no"):
        yield f"a stream that was cut, {index} index", _changed(partial(_cut_stream, index != "no"))
    for by_ns in (-700_000_000, -100_000, 1_000, 3_000_000, 70_000_000):
        yield f"a clock that was set by {by_ns} ns", _changed(partial(_set_clocks, by_ns))
    yield "parts that were dropped", Case(_dropped)
    for name in ("sleep", "a name that has more than 24 bytes"):
        yield f"no known provider, {name}", _changed(partial(_no_known_provider, name))
    yield "values of another kind", _changed(_odd_takes)
    yield "values of another kind that come late", _changed(_odd_late_takes)
    yield "values that traces declare differently", _changed(_of_two_types)
    for events in (0, 3):
        yield f"nothing of ros2 in {events} events", Case(partial(_nothing_of_ros2, events))
    yield from _of_processes()
    for number in range(_WRITTEN):
        yield f"written {number}", Case(partial(_written, number))


def _of_processes() -> Iterator[tuple[str, Case]]:
    told: tuple[tuple[Collection[int], Collection[int]], ...] = (
        ((1, FOREIGN), ()),
        ((FOREIGN,), (OWN[0], FOREIGN)),
        (OWN[2:], (OWN[0],)),
        ((1, *OWN, FOREIGN), ()),
        ((1, *OWN), (FOREIGN,)),
        ((), ()),
        ((), (*OWN, FOREIGN)),
    )
    for others, without in told:
        name = f"others {sorted(others)}, without {sorted(without)}"
        yield name, Case(partial(_told_others, others), without)
    yield "others on request", Case(partial(_told_others, OWN), every=True)
    for boot in ("one boot", "two boots"):
        make = partial(_two_machines, boot == "one boot")
        yield f"two machines of {boot}", Case(make, every=True)


CASES = dict(_cases())


def of_samples(sample: Sample) -> Iterator[tuple[str, Callable[[], World]]]:
    """Give worlds by name: tables of samples, changed, and a few of a long time."""

    def changed(name: str, change: Callable[[Tables], World]) -> Callable[[], World]:
        return lambda: change(open_trace(sample(name)).tables())

    stamps = [(name, clock) for name in BY_EVERY_CLOCK for clock in CLOCKS]
    stamps += [(name, "as it was") for name in (*OTHERS, "fast_relay1p_st_latestart")]
    for name, clock in stamps:
        yield f"{name}, no stamps, {clock}", changed(name, partial(_humble, clock))
    for name in _SOME_STAMPED:
        yield f"{name}, each third stamp", changed(name, lambda of: World(unstamped(of, 3)))
    for name in _SOME_STAMPED[:3]:
        yield f"{name}, no stamp", changed(name, lambda of: World(unstamped(of)))
    for name in ("dds_jazzy_udp_resends", "services_kilted", "actions_jazzy"):
        for shared in ("", " of one clock"):
            for ahead_ns in (0, 10_000_000):
                change = partial(_second_away, ahead_ns, bool(shared))
                yield f"{name}, robot{shared} {ahead_ns} ns ahead", changed(name, change)
    for name in ("dds_jazzy_udp_resends", "services_jazzy", "cell_lidar"):
        for context in ("with", "without"):
            change = partial(_in_containers, context == "with")
            yield f"{name}, containers {context} namespaces", changed(name, change)
    yield "a thread that only publishes", lambda: _humble("5 ms ahead", _bare())
    for title, system in MISLEADING.items():
        recording = partial(steady_world, **system)
        yield title, lambda of=recording: World(world_as_humble(record(of())).tables())


def _bare() -> Tables:
    return bare_publisher(300, 10_000_000, 60_000)


def _humble(clock: str, tables: Tables) -> World:
    return World(as_humble(tables, CLOCKS[clock]))


def _second_away(ahead_ns: int, shared: bool, tables: Tables) -> World:
    vpids = sorted({vpid for table in tables.values() for vpid in table["vpid"].to_pylist()})
    clocks = {"base": "boot", "robot": "boot"} if shared else {}
    return World(on_another_host(tables, vpids[1:2], ahead_ns), clocks=clocks)


def _in_containers(context: bool, tables: Tables) -> World:
    return World(in_containers(tables, context=context))
