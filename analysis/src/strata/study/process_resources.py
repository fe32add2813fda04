# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""CPU time and memory of a cell's processes, as the scenario's runner noted them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from strata.documents import read_json
from strata.read.manifest import read_manifest
from strata.record.directory import host_sessions
from strata.schema.quality import NOTHING_FOUND, Finding, Findings
from strata.schema.tables.measured import MEASURED_PROCESSES, MEASURED_RESOURCES

_OUTCOME = Path("scenario") / "outcome.json"
_RESOURCES = Path("scenario") / "resources.csv"
_OF_MACHINE = ("load", "machine")


def _begun_ns(directory: Path) -> int | None:
    """Return when the run began, in ns since the epoch; null where that is not recorded."""
    outcome, manifest = _outcome(directory), read_manifest(directory) or {}
    begun = (outcome.get("resources") or {}).get("begun_monotonic_ns")
    clocks = (manifest.get("start") or {}).get("clocks") or {}
    offset = clocks.get("realtime_minus_monotonic_ns")
    return None if begun is None or offset is None else int(begun) + int(offset)


def _outcome(directory: Path) -> dict[str, Any]:
    try:
        outcome = read_json(directory / _OUTCOME)
    except (OSError, ValueError):
        return {}
    return outcome if isinstance(outcome, dict) else {}


def foreign_pids(directory: Path) -> list[int]:
    """Return the ids of processes beside the scenario's; empty where the runner noted none."""
    return list(_outcome(directory).get("others") or ())


def is_of_several_hosts(directory: Path) -> bool:
    """Return whether the run connected hosts, as namespaces of this machine or other machines."""
    return bool(_outcome(directory).get("network")) or bool(host_sessions(directory))


@dataclass(frozen=True)
class ZenohPools:
    """Pools of Zenoh's shared memory: how many processes made, their bytes, and how many of them
    another process was seen to map, which it does to read a message. Pools of fewer than
    `least_bytes` are not seen.
    """

    made: int
    size_bytes: int
    shared: int
    least_bytes: int


def zenoh_pools(directory: Path) -> ZenohPools | None:
    """Return the pools of Zenoh's shared memory on this machine; null where nobody looked."""
    found = (_outcome(directory).get("resources") or {}).get("zenoh_pools")
    if not found:
        return None
    return ZenohPools(found["made"], found["bytes"], found["shared"], found.get("least_bytes", 0))


def process_frame(directory: Path) -> pd.DataFrame:
    """Return the table measured_processes; what the runner did not note is null."""
    rows = [
        _process(process)
        for session in (directory, *host_sessions(directory).values())
        for process in _outcome(session).get("processes") or ()
    ]
    frame = pd.DataFrame(rows, columns=MEASURED_PROCESSES.names)
    numbers = dict.fromkeys(MEASURED_PROCESSES.names[1:], "Int64")
    return MEASURED_PROCESSES.frame(frame.astype(numbers))


def _process(process: dict[str, Any]) -> dict[str, object]:
    usage = process.get("usage") or {}
    user, system = usage.get("cpu_user_ns"), usage.get("cpu_system_ns")
    return {
        "process": process["name"],
        "cpu_ns": None if user is None or system is None else user + system,
        "wall_ns": process.get("duration_ns"),
        "rss_max_bytes": usage.get("rss_max_bytes"),
        "voluntary_switches": usage.get("voluntary_switches"),
        "involuntary_switches": usage.get("involuntary_switches"),
    }


def resource_frame(directory: Path) -> tuple[pd.DataFrame, Findings]:
    """Return the table measured_resources, empty where the runner noted nothing, and findings.

    A last line that was cut off (the runner was killed) is left out. Of other machines only the
    scenario's processes are in it: their load and their memory are none of this machine's.
    """
    frame, found = _resources_of(directory)
    for session in host_sessions(directory).values():
        there, unread = _resources_of(session)
        found += unread
        frame = pd.concat([frame, there[~there["process"].isin(_OF_MACHINE)]], ignore_index=True)
    return MEASURED_RESOURCES.frame(frame), found


def _resources_of(directory: Path) -> tuple[pd.DataFrame, Findings]:
    path = directory / _RESOURCES
    begun_ns = _begun_ns(directory)
    if not path.is_file():
        return MEASURED_RESOURCES.empty(), NOTHING_FOUND
    try:
        rows = pd.read_csv(path).dropna()
        whole = rows.astype({name: "int64" for name in rows.columns if name != "process"})
        frame = MEASURED_RESOURCES.frame(
            pd.DataFrame(
                {
                    "process": whole["process"].astype(str),
                    "t_ns": whole["t_ns"],
                    "at_ns": None if begun_ns is None else whole["t_ns"] + begun_ns,
                    "cpu_ns": whole["cpu_user_ns"] + whole["cpu_system_ns"],
                    "rss_bytes": whole["rss_bytes"],
                }
            )
        )
    except (OSError, ValueError, KeyError):
        return MEASURED_RESOURCES.empty(), Findings(Finding("unreadable_own_files", 1))
    return frame, NOTHING_FOUND
