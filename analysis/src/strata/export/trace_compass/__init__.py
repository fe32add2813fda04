# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""An analysis for Trace Compass: a CTF trace of its rows, and the XML analyses that show it.

The directory that is written holds

* `strata/`, a CTF trace: the messages, chains and layers of the analysis as events (`rows`). It
  has the clock of the recording, so that both can be opened as one experiment.
* `*.xml`, analyses to import into Trace Compass. `strata_rows.xml` shows that trace; the others
  show a recording by itself. They are always the same (`xml_files`).
* `tables.json`, by which `strata` knows that it wrote the directory.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from strata import __version__
from strata.export.chosen import Chosen
from strata.export.file_target import too_large
from strata.export.target import CONTENTS, FORMAT, replacing
from strata.export.trace_compass.clock import Clock, clock_of
from strata.export.trace_compass.ctf import CtfWriter
from strata.export.trace_compass.rows import CLASSES, Rows
from strata.export.written import Written
from strata.printable import path_text
from strata.schema.version import VERSION

TRACE = "strata"
"""Name of the CTF trace's directory."""


def xml_files() -> tuple[Path, ...]:
    """Return the XML analyses that ship with Strata, sorted by name."""
    return tuple(sorted(Path(__file__).parent.glob("*.xml")))


def write(chosen: Chosen, target: Path, *, force: bool = False) -> Written:
    """Write what was chosen, and the XML analyses, into the directory `target`, all or nothing.

    Raises OutputError.
    """
    clock = clock_of(chosen.analysis)
    with replacing(target, force=force) as fresh:
        (fresh / TRACE).mkdir()
        writer = CtfWriter(fresh / TRACE, clock, CLASSES, _identity(chosen))
        most = chosen.choice.max_bytes
        size = 0
        for name, events in Rows(chosen).streams():
            size += writer.write_stream(name, events, most - size)
            if size > most:
                raise too_large(target, most)
        writer.write_metadata()
        for path in xml_files():
            shutil.copyfile(path, fresh / path.name)
        names = [f"{TRACE}/metadata", *(path.name for path in xml_files())]
        text = f"{json.dumps(_contents(chosen, clock, writer.counts, names), indent=1)}\n"
        (fresh / CONTENTS).write_text(text, encoding="utf-8")
        size += sum((fresh / name).stat().st_size for name in (*names, CONTENTS))
        if size > most:
            raise too_large(target, most)
    counts = {"events": sum(writer.counts.values()), "XML analyses": len(xml_files())}
    return Written(target, size, counts, clock.notes)


def _identity(chosen: Chosen) -> str:
    trace = chosen.analysis.trace
    return f"{trace.begin_ns} {trace.end_ns} {trace.events}"


def _contents(
    chosen: Chosen, clock: Clock, counts: dict[str, int], files: list[str]
) -> dict[str, object]:
    return {
        "format": FORMAT,
        "schema": VERSION,
        "strata": __version__,
        "source": path_text(Path(chosen.analysis.trace.path).resolve()),
        "clock": clock.uuid or None,
        "tables": {
            name: {"file": f"{TRACE}/{name}", "rows": rows} for name, rows in counts.items()
        },
        "files": files,
    }
