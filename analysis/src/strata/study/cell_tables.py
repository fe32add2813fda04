# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What was measured in one cell: its session analyzed once, and kept as tables beside it.

The tables are those of strata.schema.tables.measured and `findings` (the table `quality`). They are
computed again for another version, another trace, or other hops or warm-up.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from strata import __version__
from strata.campaign.cells import Cell
from strata.campaign.directory import CampaignDirectory
from strata.documents import read_json
from strata.errors import OutputError
from strata.marks import foreign_entry
from strata.pipeline import analyze
from strata.record.former import HOSTS
from strata.schema.quality import Finding, Findings, worst_first
from strata.schema.table import Table
from strata.schema.tables import DRIVER_SOURCES, QUALITY
from strata.schema.tables.measured import MEASURED_SOURCES, MEASURED_TABLES
from strata.schema.version import VERSION
from strata.study.cell_calls import measured_calls
from strata.study.cell_executors import measured_executors
from strata.study.cell_transfers import measured_chains, measured_traffic
from strata.study.hop_selection import HopSelection
from strata.study.node_result_files import OwnFiles, read_own_files
from strata.study.process_resources import foreign_pids, process_frame, resource_frame
from strata.study.table_cache import KeptTables, check_table, read_table

__all__ = ["CellTables", "HopSelection", "measure", "measure_cell"]

SUBDIRECTORY = "measured"
CONTENTS = "measured.json"
FORMAT = 4
"""Of the tables and of measured.json; tables of another one are computed again."""

FINDINGS = "findings"
_TABLES: dict[str, Table] = {
    **{table.name.removeprefix("measured_"): table for table in MEASURED_TABLES},
    FINDINGS: QUALITY,
}


@dataclass(frozen=True)
class CellTables:
    """The tables of a cell. `directory` is the cell's, `counts` what `line` says."""

    directory: Path
    wanted: HopSelection
    counts: dict[str, int]
    kept: KeptTables | None = field(default=None, compare=False, repr=False)
    """Where its tables are kept, with those of other cells; null: each is read when asked for."""

    def read(self, table: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read a table: transfers, chains, publications, hops, sources, processes, resources,
        stamps, column_times, round_trips, calls, call_chains, executors, work or findings; all of
        it, or the named columns alone.
        """
        declared = _TABLES[table]
        wanted = list(columns) if columns is not None else declared.names
        directory = self.directory / SUBDIRECTORY
        kept = self.kept.frame(directory, table, declared, wanted) if self.kept else None
        if kept is not None:
            return kept
        return read_table(directory, table, declared, wanted)

    def check(self) -> None:
        """Raise CampaignError when one of the tables is damaged."""
        for name in _TABLES:
            check_table(self.directory / SUBDIRECTORY, name)

    def keep_in(self, kept: KeptTables) -> CellTables:
        """Return the same with tables that are kept."""
        kept.add(self.directory / SUBDIRECTORY)
        return replace(self, kept=kept)

    @property
    def line(self) -> str:
        """Say in one line what was measured: what `strata campaign status` shows."""
        counts = self.counts
        if not (counts["received"] or counts["calls"]):
            return _nothing(counts)
        parts = []
        if counts["received"] or not counts["calls"]:
            parts.append(
                f"{counts['received']:,} messages over {counts['hops']} "
                f"{'hop' if counts['hops'] == 1 else 'hops'}"
            )
        if counts["calls"]:
            parts.append(f"{counts['calls']:,} calls, {counts['unanswered']:,} without an answer")
        if counts["chains"]:
            parts.append(f"{counts['chains']:,} chains")
        parts.append(f"{counts['lost']:,} lost")
        parts.append(f"{counts['left_out']:,} warm-up")
        if counts["findings"]:
            count = counts["findings"]
            parts.append(f"{count} {'finding' if count == 1 else 'findings'}")
        return ", ".join(parts)


def _nothing(counts: Mapping[str, int]) -> str:
    """Say why nothing was measured: all that was sent is warm-up, or nothing came of the rest."""
    published, left_out = counts["published"], counts["left_out"]
    # Tables that were kept before do not count these.
    calls = counts.get("calls_left_out", 0)
    if calls and not published:
        return f"nothing measured: {calls:,} calls, all are warm-up"
    if left_out and left_out == published:
        return f"nothing measured: {published:,} published, all are warm-up"
    rest = f", none taken but for {left_out:,} warm-up" if left_out else ", none taken"
    return f"nothing measured: {published:,} published{rest}"


def measure_cell(directory: CampaignDirectory, cell: Cell) -> CellTables:
    """Return what was measured in a cell that ran; raises as `measure`."""
    study = directory.loaded.campaign.studies[cell.study]
    wanted = HopSelection(study.measured.topic, study.measured.node, cell.warm_up)
    return measure(directory.cell_directory(cell), wanted)


def measure(
    directory: Path, wanted: HopSelection, *, progress: Callable[[int], None] | None = None
) -> CellTables:
    """Return what was measured in the session below `directory`, from its tables if they hold.

    `progress` is that of strata.read.open_trace. Raises TraceError when there is nothing to
    analyze, OutputError when the tables cannot be written.
    """
    key = _key(directory, wanted)
    known = _known(directory / SUBDIRECTORY)
    if known and known.get("key") == key:
        return CellTables(directory, wanted, known["counts"])
    frames, counts = _measure(directory, wanted, progress)
    _write(directory / SUBDIRECTORY, frames, {"key": key, "counts": counts})
    return CellTables(directory, wanted, counts)


def _measure(
    directory: Path, wanted: HopSelection, progress: Callable[[int], None] | None
) -> tuple[dict[str, pd.DataFrame], dict[str, int]]:
    analysis = analyze(directory, progress=progress, without=foreign_pids(directory))
    own, unreadable = read_own_files(directory, wanted)
    traffic, of_traffic = measured_traffic(analysis, wanted, own)
    chains, of_chains = measured_chains(analysis, wanted)
    calls, call_chains, of_calls = measured_calls(analysis, wanted)
    resources, unread = resource_frame(directory)
    hops = traffic.hops
    executors, work = measured_executors(analysis, hops, calls)
    measured = hops["received"].sum() + calls["served_ns"].notna().sum()
    unmeasured = Findings(Finding("unmeasured_cells", int(not measured)))
    found = unreadable + of_traffic + of_chains + of_calls + unread + unmeasured
    findings = pd.concat([analysis.quality, pd.DataFrame(found.rows(), columns=QUALITY.names)])
    findings = QUALITY.frame(findings.sort_values("code", key=_worst_first, kind="stable"))
    frames = {
        "transfers": traffic.transfers,
        "chains": chains,
        "publications": traffic.publications,
        "hops": hops,
        "sources": _sources(analysis.driver_sources),
        "processes": process_frame(directory),
        "resources": resources,
        "stamps": _stamps(own, traffic.transfers),
        "column_times": own.column_times,
        "round_trips": own.round_trips,
        "calls": calls,
        "call_chains": call_chains,
        "executors": executors,
        "work": work,
        FINDINGS: findings,
    }
    counts = {name: int(hops[name].sum()) for name in ("published", "received", "lost", "left_out")}
    counts["hops"] = len(hops)
    counts["chains"] = int((~chains["warm_up"]).sum()) if chains["hops"].max() != 1 else 0
    counted = calls[~calls["warm_up"]]
    counts["calls"] = len(counted)
    counts["calls_left_out"] = len(calls) - len(counted)
    counts["unanswered"] = int(counted["end_ns"].isna().sum())
    counts["findings"] = int((findings["severity"] != "info").sum())
    return frames, counts


def _worst_first(codes: pd.Series[str]) -> pd.Series[int]:
    order = {code: rank for rank, code in enumerate(sorted(set(codes), key=worst_first))}
    return codes.map(order)


def _stamps(own: OwnFiles, transfers: pd.DataFrame) -> pd.DataFrame:
    """Mark the warm-up of stamps by the messages' publications, where the trace has them all."""
    stamps = own.stamps
    for topic, rows in stamps.groupby("topic"):
        taken = transfers[transfers["topic"] == topic].sort_values("end_ns")
        # A perf node takes of one publisher; it stops early, and the trace goes on.
        if taken["hop"].nunique() == 1 and len(taken) >= len(rows):
            stamps.loc[rows.index, "warm_up"] = taken["warm_up"].to_numpy()[: len(rows)]
    return stamps


def _sources(sources: pd.DataFrame) -> pd.DataFrame:
    named = DRIVER_SOURCES.frame(sources)
    named["name"] = named["name"].where(named["name"].ne("")).fillna(named["place"])
    return MEASURED_SOURCES.frame(named[MEASURED_SOURCES.names])


def _key(directory: Path, wanted: HopSelection) -> dict[str, Any]:
    """Say what the tables depend on: with another key they are computed again."""
    files = [*_files(directory / "trace"), *_files(directory / "scenario")]
    files += _files(directory / HOSTS)
    files.append((directory / "manifest.json", _stat(directory / "manifest.json")))
    known = [(path, stat) for path, stat in files if stat]
    return {
        "format": FORMAT,
        "schema": VERSION,
        "strata": __version__,
        "tables": _declarations(),
        "wanted": asdict(wanted),
        "files": len(known),
        "bytes": sum(stat.st_size for _, stat in known),
        "newest_ns": max((stat.st_mtime_ns for _, stat in known), default=0),
    }


def _declarations() -> str:
    """Return a digest of the declared columns: tables of others are of no use."""
    said = repr([(name, table.columns) for name, table in _TABLES.items()])
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _files(directory: Path) -> list[tuple[Path, os.stat_result | None]]:
    found = []
    for parent, _, names in os.walk(directory):
        # An index beside streams is made anew by viewers, and is not read.
        found += [Path(parent, name) for name in names if Path(parent).name != "index"]
    return [(path, _stat(path)) for path in sorted(found)]


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _known(directory: Path) -> dict[str, Any] | None:
    try:
        content = read_json(directory / CONTENTS)
    except (OSError, ValueError):
        return None
    there = all((directory / f"{name}.parquet").is_file() for name in _TABLES)
    return content if there and isinstance(content, dict) else None


def _refuse_foreign(target: Path) -> None:
    """Raise OutputError when what stands there was not all written here."""
    if not os.path.lexists(target):
        return
    written = {CONTENTS, *(f"{name}.parquet" for name in _TABLES)}
    known = target.is_dir() and not target.is_symlink()
    foreign = foreign_entry(target, written) if known else target.name
    if foreign is not None:
        raise OutputError(
            f"Cannot write {target}: {foreign} was not written by Strata. Move it away."
        )


def _write(target: Path, frames: dict[str, pd.DataFrame], contents: dict[str, Any]) -> None:
    """Write the tables beside each other, then put them in their place in one step."""
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        for name, frame in frames.items():
            frame.to_parquet(fresh / f"{name}.parquet", compression="zstd", index=False)
        (fresh / CONTENTS).write_text(json.dumps(contents, indent=1) + "\n", encoding="utf-8")
        _refuse_foreign(target)
        shutil.rmtree(target, ignore_errors=True)
        fresh.rename(target)
    except OSError as error:
        raise OutputError(
            f"Cannot write {target}: {error.strerror or error}. Make room or name another place."
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
