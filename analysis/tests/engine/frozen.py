# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What every declared table holds, as digests: of samples, odd traces and generated worlds.

They were written with the model of event tables that was the engine's oracle. Only the uses of
events differed, and how many were found to be unexplained, in made-up traces in which one id or
handle stands for several things: restarts 13, 119, 121, namespaces 13, 23, 121, hosts 13, 23, 71,
services_jazzy in containers without namespaces. There they are the engine's.

After a change that is meant, and whose effect was looked at, what the engine gives is written anew:

    PYTHONPATH=analysis/tests .venv/bin/python analysis/tests/engine/frozen.py [samples] ...

(samples, traces, worlds; all of them without any.) The files' differences name the tables of
samples that are another, the traces, and the worlds. A digest is of all columns in their declared
order: whole numbers, truth values and texts as they are, fractions to nine digits, as their last
ones are the processor's.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from engine_runs import engine_of, ros2_samples
from frozen_cases import CASES, Case, of_samples
from frozen_worlds import KINDS, Kind, World

import strata
from strata.analysis import Analysis
from strata.engine.left_out import Unwanted, others_left_out
from strata.engine.tables import EngineTables
from strata.errors import TraceError
from strata.model.build import Model
from strata.pipeline.messages import Wanted
from strata.pipeline.results import STAGES
from strata.pipeline.stages import FINDINGS, Made, Stage
from strata.schema.rows import Rows
from strata.schema.tables import TABLES

GOLDEN = Path(__file__).parent.parent / "golden"
SAMPLES, WORLDS = GOLDEN / "frozen_samples.json", GOLDEN / "frozen_worlds.json"
TRACES = GOLDEN / "frozen_traces.json"
FOUND, LEFT_OUT = "(findings)", "(left out)"
_TRACES = Path(__file__).parent.parent / "traces"
_DIGITS = 30
"""Of fractions, in binary: nine in decimal."""
_WITHIN = 0.139
_OF_SUMMARY = ("counts", "bottlenecks", "system")

Digests = dict[str, str]
"""By table: its number of rows and a digest of them; tables without rows are left out."""


def digest(rows: Rows, place: str = "") -> str:
    """Return the number of rows and a digest of all columns; texts are without `place`."""
    found = hashlib.sha256()
    if rows.table.name == "event_uses":
        rows = rows.take(np.lexsort([rows.words(name).ranks() for name in ("use", "event")]))
    for column in rows.table.columns:
        found.update(f"{column.name} {column.dtype}\n".encode())
        if column.dtype == "string":
            words = rows.words(column.name)
            used = np.unique(words.codes[words.codes >= 0])
            texts = [words.words[code].replace(place, "") for code in used.tolist()]
            rank = {text: number for number, text in enumerate(sorted(texts))}
            number = np.full(len(words.words) + 1, -1, np.int64)
            number[used] = [rank[text] for text in texts]
            found.update(repr(sorted(texts)).encode())
            found.update(number[words.codes].astype("<i8").tobytes())
        else:
            for part in _parts(rows[column.name]):
                found.update(part.astype(part.dtype.newbyteorder("<")).tobytes())
    return f"{len(rows)} {found.hexdigest()[:16]}"


def _parts(values: npt.NDArray[np.generic]) -> Iterable[npt.NDArray[np.generic]]:
    """Exact arrays that have the values; of fractions their first digits."""
    if values.dtype.kind != "f":
        return (values,)
    values = np.nan_to_num(values.astype(np.float64), nan=-1e300, posinf=1e301, neginf=-1e301)
    mantissa, exponent = np.frexp(values)
    # Round numbers lie well within what is cut to one number, never at its edge.
    digits = np.floor(np.abs(mantissa) * 2.0**_DIGITS + _WITHIN).astype(np.int64)
    over = digits >> _DIGITS
    return (
        np.sign(mantissa).astype(np.int64) * (digits >> over),
        (exponent + over).astype(np.int64),
    )


def of_text(text: str) -> str:
    """Return a digest of a text, of whose fractions nine digits count."""
    text = re.sub(r"-?\d+\.\d+(e-?\d+)?", lambda one: f"{float(one.group()):.9g}", text)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def of_analysis(analysis: Analysis) -> Digests:
    """Return the digests of an analysis."""
    found = _of_rows((analysis.rows(table.name) for table in TABLES), analysis.trace.path)
    for name in _OF_SUMMARY:
        found[f"({name})"] = of_text(repr(getattr(analysis, name)))
    return found


def _of_rows(tables: Iterable[Rows], place: str = "") -> Digests:
    return {rows.table.name: digest(rows, place) for rows in tables if len(rows)}


def _of_model() -> tuple[Stage, ...]:
    """The stages that ask nothing of a trace, directly or by what they need."""
    unknown = {"read", "events", FINDINGS}
    stages = list(STAGES)
    while lacking := [one for one in stages if unknown.intersection(one.needs)]:
        unknown.update(name for one in lacking for name in one.gives)
        stages = [one for one in stages if one not in lacking]
    return tuple(stages)


OF_MODEL = _of_model()
NAMES = tuple(table.name for table in TABLES if any(table.name in one.gives for one in OF_MODEL))
"""Tables that a model has without a trace around it."""


def of_model(model: Model) -> Digests:
    """Return the digests of a model, and of what was found wrong."""
    made = Made(OF_MODEL, model=model, wanted=Wanted())
    findings = model.findings + made.findings()
    found = _of_rows(made[name] for name in NAMES)
    return found | {FOUND: of_text(repr(findings.rows()))}


def of_world(world: World, chunk_rows: int = 1 << 20) -> Digests:
    """Return the digests of a world."""
    engine = engine_of(
        world.tables,
        world.losses,
        chunk_rows=chunk_rows,
        clocks=world.clocks,
        left_out=world.left_out,
    )
    rows = EngineTables(engine)
    model = Model(rows, losses=world.losses, clocks_of_hosts=world.clocks)
    found = of_model(model)
    others = others_left_out(rows, Unwanted(frozenset(), frozenset(world.left_out)))
    return found | ({LEFT_OUT: of_text(repr(others))} if others else {})


def of_case(case: Case, place: Path, sample: Callable[[str], Path]) -> dict[str, Any]:
    """Return what is found of a trace, or why it is refused; `place` is an empty directory."""
    path = case.make(place, sample)
    try:
        found = strata.analyze(path, without=case.without, all_processes=case.every)
    except TraceError as error:
        return {"refused": str(error).replace(str(place), "")}
    codes = set(found.rows("quality").texts("code")) | set(found.rows("losses").texts("code"))
    digests = of_analysis(found) | {"(trace)": of_text(repr(replace(found.trace, path="")))}
    return {"codes": sorted(map(str, codes)), "digest": of_text(repr(sorted(digests.items())))}


def of_input(kind: Kind) -> str:
    """Return a digest of the events of all worlds of a kind."""
    found = hashlib.sha256()
    for number in range(kind.count):
        world = kind.world(number)
        found.update(repr([bound.tolist() for bound in world.losses]).encode())
        if world.clocks or world.left_out:
            found.update(repr((world.clocks, world.left_out)).encode())
        for name, table in world.tables.items():
            found.update(f"{name} {table.column_names}".encode())
            found.update(repr([column.to_pylist() for column in table.columns]).encode())
    return found.hexdigest()[:16]


def summary(worlds: list[Digests]) -> Mapping[str, Any]:
    """Return a digest of each world, and of each table over all worlds."""
    tables = sorted({table for world in worlds for table in world})
    return {
        "tables": {table: of_text(repr([one.get(table) for one in worlds])) for table in tables},
        "worlds": [of_text(repr(sorted(world.items())))[:10] for world in worlds],
    }


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=0, sort_keys=True) + "\n")


@contextmanager
def _samples() -> Iterator[Callable[[str], Path]]:
    """Unpacks samples by their names."""
    with tempfile.TemporaryDirectory() as place:

        def unpack(name: str) -> Path:
            if not (Path(place) / name).exists():
                with tarfile.open(_TRACES / f"{name}.tar.xz") as archive:
                    archive.extractall(place)
            return Path(place) / name

        yield unpack


def _write_samples() -> None:
    with _samples() as sample:
        found = {name: of_analysis(strata.analyze(sample(name))) for name in ros2_samples()}
    _write(SAMPLES, found)


def _write_traces() -> None:
    found: dict[str, Any] = {}
    with _samples() as sample:
        for name, case in CASES.items():
            with tempfile.TemporaryDirectory() as place:
                found[name] = of_case(case, Path(place), sample)
        for name, world in of_samples(sample):
            found[name] = of_text(repr(sorted(of_world(world()).items())))
    _write(TRACES, found)


def _write_worlds() -> None:
    found = {}
    for name, kind in KINDS.items():
        worlds = [of_world(kind.world(number)) for number in range(kind.count)]
        found[name] = {"events": of_input(kind), **summary(worlds)}
    _write(WORLDS, found)


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["samples", "traces", "worlds"]
    if "samples" in wanted:
        _write_samples()
    if "traces" in wanted:
        _write_traces()
    if "worlds" in wanted:
        _write_worlds()
