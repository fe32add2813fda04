# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the init session knows of processes that were there before a recording, kept beside it.

`strata daemon` records init events, those that introduce entities, all the time. A recording that
attaches later keeps those of the processes that it records. Nodes in the environment of `strata
env` announce their entities themselves; of others, such as those of an installed ROS 2, nobody else
knows their names.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from strata.errors import OutputError, TraceError
from strata.read import open_trace
from strata.read.announced import ANNOUNCED, ANNOUNCEMENTS, announced_text, read_announced
from strata.record import processes
from strata.record.daemon import process_start_ticks
from strata.record.directory import TRACE, read_state, write_text
from strata.record.plan import Attachment, Say
from strata.record.traced_processes import traced_pids

INIT_CONFIG = "init"
"""The session configuration of the init session."""
DIRECTORY_VARIABLE = "STRATA_INIT_SESSION"
_TICK_NS = 100_000_000
"""More than a tick of the kernel's, and than what passes between readings of two clocks."""

_Tables = dict[str, pa.Table]


def init_directory(environment: Mapping[str, str]) -> Path:
    """Give where the init session is recorded: `STRATA_INIT_SESSION`, else a place of the user's.

    That is `strata/init-session` in `XDG_STATE_HOME`, by default `~/.local/state`.
    """
    stated = environment.get(DIRECTORY_VARIABLE)
    if stated:
        return Path(stated).absolute()
    state = environment.get("XDG_STATE_HOME")
    home = Path(state) if state else Path.home() / ".local/state"
    return home / "strata/init-session"


def is_running(directory: Path) -> bool:
    """Return whether an init session is being recorded into a directory."""
    state = read_state(directory)
    return state is not None and state.recorder_alive


def announced_by_init_session(say: Say) -> Attachment | None:
    """Keep what the running init session knows, beside a recording; null when none is running."""
    directory = init_directory(os.environ)
    if not is_running(directory):
        return None
    seen: dict[int, int] = {}

    def prepare(_: Path) -> None:
        seen.update(traced_since())

    def describe(recording: Path) -> dict[str, Any]:
        try:
            until_ns = begin_of(recording / TRACE)
            tables = known_to(directory, traced_since() | seen, until_ns)
            write_text(recording / ANNOUNCED, announced_text(tables))
        except (TraceError, OutputError) as error:
            say(f"names of nodes that are older than the recording may be missing: {error}")
            return {"announced": None}
        return {"announced": _summary(tables)}

    return Attachment(prepare, describe, has_names=True)


def carried_over(directory: Path) -> Attachment:
    """Keep what a former init session knew of processes that still run, in the next one.

    To be called before the directory is recorded into again.
    """
    try:
        tables = known_to(directory, traced_since())
    except TraceError:
        # There is none, or nothing that can be read: names begin now.
        tables = {}

    def prepare(session: Path) -> None:
        if tables:
            write_text(session / ANNOUNCED, announced_text(tables))

    return Attachment(prepare, lambda _: {"announced": _summary(tables) if tables else None})


def known_to(directory: Path, since: Mapping[int, int], until_ns: int | None = None) -> _Tables:
    """Return the init events that an init session has of processes, up to a time since the epoch.

    `since` has the processes by their own ids, and when each began at the latest, by
    CLOCK_MONOTONIC: what is older is of another process that had the id. Raises TraceError.
    """
    trace = open_trace(directory)
    offset_ns = next(iter(trace.clock_offsets_ns.values()), 0)
    recorded = trace.tables(ANNOUNCEMENTS, end_ns=until_ns)
    kept = [_of_processes(read_announced(directory), since, offset_ns)]
    kept.append(_of_processes(recorded, since, offset_ns))
    names = dict.fromkeys(name for tables in kept for name in tables)
    return {
        name: pa.concat_tables(
            [tables[name] for tables in kept if name in tables], promote_options="default"
        ).unify_dictionaries()
        for name in names
    }


def begin_of(trace: Path) -> int:
    """Return when the first packet of a trace begins, in ns since the epoch. Raises TraceError."""
    begin = open_trace(trace).decoder.packets["begin_ns"]
    if not len(begin):
        raise TraceError(f"Cannot read trace {trace}: it has no packet.")
    return int(begin.min())


def traced_since() -> dict[int, int]:
    """Return the traced processes by their own ids, and when each began at the latest.

    In ns of CLOCK_MONOTONIC. The kernel tells ages by CLOCK_BOOTTIME, in ticks: a process may be
    taken for older than it is, but not for younger.
    """
    found = {}
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    for pid in traced_pids():
        ticks = process_start_ticks(pid)
        if ticks is not None:
            age_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - ticks * 10**9 // ticks_per_s
            began_ns = time.monotonic_ns() - age_ns - _TICK_NS
            found[processes.own_id(pid)] = began_ns
    return found


def _of_processes(tables: _Tables, since: Mapping[int, int], offset_ns: int) -> _Tables:
    wanted = pa.array(sorted(since), pa.int64())
    kept = {}
    for name, table in tables.items():
        own = table.filter(pc.is_in(table["vpid"], wanted))
        began_ns = np.array([since[pid] for pid in own["vpid"].to_pylist()], np.int64)
        own = own.filter(pa.array(own["timestamp"].to_numpy() >= began_ns + offset_ns))
        if len(own):
            kept[name] = own
    return kept


def _summary(tables: _Tables) -> dict[str, Any]:
    pids = {pid for table in tables.values() for pid in table["vpid"].to_pylist()}
    return {"events": sum(map(len, tables.values())), "processes": sorted(pids)}
