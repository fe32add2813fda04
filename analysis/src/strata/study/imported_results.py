# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Results of others beside a campaign's own: `imported/NAME/` of its directory.

`import.json` says what came from which file, with its facts, its findings, and where it belongs;
`samples.parquet` has the values; the files themselves lie beside them, byte for byte.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from strata.campaign.directory import as_output, utc_now
from strata.campaign.model import Campaign
from strata.documents import read_json
from strata.errors import CampaignError, OutputError
from strata.marks import foreign_entry
from strata.originals.imported import COLUMNS, STATISTICS, UNITS, Fact, Imported, Run
from strata.originals.linuxptp import PHC2SYS, PTP4L
from strata.stats.summary import Statistics, describe
from strata.study.import_placement import Place, Placement

SCHEMA = 1
DIRECTORY = "imported"
IMPORT = "import.json"
SAMPLES = "samples.parquet"
HERE = "here"
"""The origin of what the campaign measured itself."""

VALUES = ("each", "interval", "run")
"""Statistics whose values were measured themselves: of a message, a stretch of time, a run."""

SUMMARIES = tuple(one for one in STATISTICS if one not in VALUES)
"""Those that summarize such values. They are drawn as ranges."""

CLOCK_LOGS = (PTP4L, PHC2SYS)
"""Formats whose files are logs of clocks: they are taken to cells by time, or by their place."""

_NS_PER_MS = 1e6
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
KEYS = {"file": "str", "run": "int64", "cell": "str", **COLUMNS}
"""Columns of samples.parquet: which file and run of it, its cell, and those of a run's samples."""

_ABSENT: dict[str, Any] = {"series": "", "t_ns": pd.NA, "state": pd.NA}


@dataclass(frozen=True)
class Import:
    """An import that was read: its name, which is the origin of its values, and its parts."""

    path: Path
    document: dict[str, Any]

    @property
    def name(self) -> str:
        """Name the import."""
        return str(self.document["name"])

    @property
    def runs(self) -> list[dict[str, Any]]:
        """List its runs with `file`, `form`, `facts`, `study`, `levels`, `repetition`, `cell`."""
        return [
            {"file": file["file"], "form": file["form"], **run}
            for file in self.document["files"]
            for run in file["runs"]
        ]

    @property
    def findings(self) -> list[dict[str, Any]]:
        """List what is to be known of its values: `file`, `code`, `count`, `text`."""
        return [
            {"file": file["file"], **finding}
            for file in self.document["files"]
            for finding in file["findings"]
        ]

    def samples(self) -> pd.DataFrame:
        """Read all values, columns as in KEYS. Raises CampaignError when they cannot be."""
        try:
            rows = pd.read_parquet(self.path / SAMPLES)
            # Earlier versions had no logs of clocks.
            missing = {name: _ABSENT[name] for name in _ABSENT if name not in rows.columns}
            return rows.assign(**missing).astype(KEYS)
        except (OSError, ValueError, KeyError) as error:
            raise _unreadable(self.path / SAMPLES, error) from error


@dataclass(frozen=True)
class Planned:
    """An import that can be written: its files as they were read, and its import.json."""

    name: str
    originals: Sequence[Imported]
    document: dict[str, Any]


def plan_import(
    campaign: Campaign,
    name: str,
    originals: Sequence[Imported],
    placements: Sequence[Placement | None],
) -> Planned:
    """Plan an import of one or more files, each with its placement.

    Raises CampaignError for a name or a file that cannot be kept, and a run that has no place.
    """
    if not _NAME.fullmatch(name) or name == HERE:
        raise CampaignError(
            f"Cannot name an import {name!r}: a name has letters, digits and _ . -, and "
            f"'{HERE}' means results of this campaign. Choose another --name."
        )
    _check_files(originals)
    return Planned(name, originals, _document(campaign, name, originals, placements))


def write_import(directory: Path, planned: Planned, *, force: bool) -> Import:
    """Write an import into a campaign's directory; all of it or nothing.

    Raises OutputError when it is there already and `force` is not set, or cannot be written.
    """
    target = directory / DIRECTORY / planned.name
    check_free(target, force=force)
    name, originals, document = planned.name, planned.originals, planned.document
    with as_output(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=target.parent))
        try:
            new = work / "new"
            new.mkdir()
            for original, entry in zip(originals, document["files"], strict=True):
                copy = new / entry["file"]
                shutil.copyfile(original.path, copy)
                entry["sha256"] = hashlib.sha256(copy.read_bytes()).hexdigest()
            _samples(originals, document).to_parquet(new / SAMPLES, index=False)
            (new / IMPORT).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
            if target.exists():
                target.rename(work / "old")
            new.rename(target)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return Import(target, document)


def check_free(target: Path, *, force: bool) -> None:
    """Raise OutputError when `target` is an import and must not be replaced, or is none.

    One that holds anything that no import wrote is not replaced even with `force`.
    """
    if not os.path.lexists(target):
        return
    if target.is_symlink() or not (target / IMPORT).is_file():
        raise OutputError(f"Cannot write {target}: it is not an import. Choose another --name.")
    if not force:
        raise OutputError(
            f"Cannot write {target}: it exists already. Choose another --name or use --force."
        )
    foreign = foreign_entry(target, _written(target))
    if foreign is not None:
        raise OutputError(
            f"Cannot replace {target}: it holds {foreign}, which no import wrote. Move that "
            "away, or choose another --name."
        )


def _written(target: Path) -> set[str]:
    """Name the files that an import wrote, as far as its import.json can tell."""
    try:
        files = {str(one["file"]) for one in read_json(target / IMPORT)["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        files = set()
    return {IMPORT, SAMPLES, *files}


def read_imports(campaign: Path) -> list[Import]:
    """Read the imports of a campaign's directory, by name; none where there is none.

    Raises CampaignError for one that is damaged.
    """
    out = []
    for file in sorted((campaign / DIRECTORY).glob(f"[!.]*/{IMPORT}")):
        try:
            document = read_json(file)
            if document["schema"] != SCHEMA:
                raise CampaignError(
                    f"Cannot use {file}: it has schema {document['schema']}, and this version of "
                    f"Strata reads {SCHEMA}. Import the files again."
                )
            made = Import(file.parent, document)
            # What is missing is missed here, not in the middle of a report.
            _ = made.name, made.runs, made.findings
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise _unreadable(file, error) from error
        out.append(made)
    return out


def imported_frame(
    imports: Sequence[Import],
    campaign: Campaign,
    study: str,
    measure: str,
    statistics: Collection[str] = VALUES,
) -> pd.DataFrame:
    """Give a measure's imported values of a study as a long frame, as `long_frame` has its own.

    Columns: one per factor (ordered categories, the file's order), `repetition`, `cell`, `number`,
    `value` (the measure's unit; durations, which files have in ms, as whole ns), `origin` (the
    import's name), and `statistic` and `count` (of originals.imported).

    Without `statistics`, what was measured itself; the minima, means and maxima of intervals and
    runs are asked for by SUMMARIES, and belong in no distribution. `jitter` is made of periods, by
    the study's nominal rate where that is a number.
    """
    factors = campaign.studies[study].factors
    nominal_hz = campaign.studies[study].nominal_hz
    if measure == "jitter" and nominal_hz and not isinstance(nominal_hz, str):
        periods = imported_frame(imports, campaign, study, "period", ("each",))
        return periods.assign(value=(periods["value"] - round(1e9 / nominal_hz)).abs())
    order = [*factors, "repetition", "cell", "number", "value", "origin", "statistic", "count"]
    parts = [part for one in imports for part in _placed(one, study, measure, statistics)]
    made = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=order)
    for name, factor in factors.items():
        made[name] = pd.Categorical(made[name], factor.names, ordered=True)
    is_duration = UNITS.get(measure) == "ms"
    if is_duration:
        made["value"] = (made["value"].astype("float64") * _NS_PER_MS).round()
    value = "int64" if is_duration else "float64"
    types = {"repetition": "int64", "number": "int64", "value": value, "count": "Int64"}
    return made[order].astype(types)


def _placed(
    one: Import, study: str, measure: str, statistics: Collection[str]
) -> Iterator[pd.DataFrame]:
    """Give the values of a measure with their levels, one frame per run that belongs to the "
    "study."""
    runs = [run for run in one.runs if run["study"] == study]
    if not runs:
        return
    samples = one.samples()
    samples = samples[(samples["measure"] == measure) & samples["statistic"].isin(list(statistics))]
    for run in runs:
        own = samples[samples["cell"] == run["cell"]]
        if len(own):
            kept = own[["cell", "number", "value", "statistic", "count"]]
            fixed = {**run["levels"], "repetition": run["repetition"], "origin": one.name}
            yield kept.assign(**fixed)


def _check_files(originals: Sequence[Imported]) -> None:
    names = Counter(original.path.name for original in originals)
    for name, count in names.items():
        if count > 1 or name in (IMPORT, SAMPLES):
            fact = "is what Strata writes" if count == 1 else f"is the name of {count} of them"
            raise CampaignError(
                f"Cannot copy the imported files: {name} {fact}. Import them one by one, or "
                "rename them."
            )


def _document(
    campaign: Campaign,
    name: str,
    originals: Sequence[Imported],
    placements: Sequence[Placement | None],
) -> dict[str, Any]:
    repeated: Counter[str] = Counter()
    files = []
    for original, placement in zip(originals, placements, strict=True):
        runs = []
        for at, run in enumerate(original.runs):
            facts = _facts(original, run)
            place = placement.place(campaign, facts) if placement else None
            group = _group(place, original.path.name, at)
            if original.form in CLOCK_LOGS:
                # It is beside the runs at its place, and none of them.
                group += "/clock"
            repeated[group] += 1
            runs.append(
                {
                    "run": at,
                    "facts": facts,
                    "study": place.study if place else None,
                    "levels": dict(place.levels) if place else {},
                    "repetition": repeated[group],
                    "cell": f"{DIRECTORY}/{name}/{group}/r{repeated[group]}",
                    "values": len(run.samples),
                }
            )
        files.append(
            {
                "file": original.path.name,
                "form": original.form,
                "says": dict(original.says),
                "conversions": list(original.conversions),
                "findings": [asdict(finding) for finding in original.findings],
                "runs": runs,
            }
        )
    return {"schema": SCHEMA, "name": name, "imported_utc": utc_now(), "files": files}


def _facts(original: Imported, run: Run) -> dict[str, Fact]:
    path = original.path.resolve()
    return {"stem": path.stem, "directory": path.parent.name, **run.facts}


def _group(place: Place | None, file: str, at: int) -> str:
    if place is None:
        return f"{file}/{at}"
    return "/".join([place.study, "+".join(place.levels.values()) or "all"])


def _samples(originals: Sequence[Imported], document: dict[str, Any]) -> pd.DataFrame:
    parts = [
        run.samples.assign(file=entry["file"], run=known["run"], cell=known["cell"])
        for original, entry in zip(originals, document["files"], strict=True)
        for run, known in zip(original.runs, entry["runs"], strict=True)
    ]
    return pd.concat(parts, ignore_index=True)[list(KEYS)].astype(KEYS)


def _unreadable(file: Path, error: Exception) -> CampaignError:
    fact = error.strerror if isinstance(error, OSError) else f"it is damaged ({error})"
    return CampaignError(f"Cannot use {file}: {fact}. Import the files again with --force.")


DISTRIBUTION = "each"
"""The statistic whose values are a distribution; that of the others is one of statistics."""


@dataclass(frozen=True)
class MeasureSummary:
    """A measure of a run; `statistics` are of its values of this `statistic`, in `unit`."""

    measure: str
    statistic: str
    unit: str
    statistics: Statistics


def run_summaries(
    imported: Import,
) -> Iterator[tuple[dict[str, Any], list[MeasureSummary]]]:
    """Give each run, as of `Import.runs`, with its measures in the order of the file."""
    samples = imported.samples()
    by_cell = dict(list(samples.groupby("cell", sort=False)))
    for run in imported.runs:
        yield run, measure_summaries(by_cell.get(run["cell"], samples.iloc[:0]))


def measure_summaries(samples: pd.DataFrame) -> list[MeasureSummary]:
    """Summarize the samples of one run, by measure and statistic."""
    out = []
    for (measure, statistic), group in samples.groupby(["measure", "statistic"], sort=False):
        unit = str(group["unit"].iloc[0])
        statistics = describe(group["value"].to_numpy())
        out.append(MeasureSummary(str(measure), str(statistic), unit, statistics))
    return out
