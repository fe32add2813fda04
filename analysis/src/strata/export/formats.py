# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The formats of `strata export`, declared once: a module that writes it, and a line here.

The module has `write(chosen: Chosen, target: Path, *, force: bool) -> Written`. It writes all of
`target` or nothing (strata.export.target for a directory, strata.export.file_target for a file),
what was chosen and nothing else, and raises OutputError.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from strata.export.chosen import Chosen
    from strata.export.written import Written


class _Module(Protocol):
    def write(self, chosen: Chosen, target: Path, *, force: bool) -> Written: ...


@dataclass(frozen=True)
class Format:
    """A format: its name for `--to`, the module that writes it, and the suffix of what is written.

    `summary` says what it is and which programs open it, in one line. The suffix of a directory is
    empty. This module imports none of them: the list of formats is needed for help and completion.
    """

    name: str
    module: str
    suffix: str
    summary: str

    def write(self, chosen: Chosen, target: Path, *, force: bool) -> Written:
        """Write what was chosen to `target`, all or nothing. Raises OutputError."""
        module = cast("_Module", importlib.import_module(self.module))
        return module.write(chosen, target, force=force)

    def check(self, target: Path, *, force: bool) -> None:
        """Raise OutputError when `target` cannot be written, or holds what must not be lost."""
        if self.suffix:
            from strata.export.file_target import check_file

            check_file(target, force=force)
        else:
            from strata.export.target import check_target

            check_target(target, force=force)


FORMATS = (
    Format(
        "perfetto",
        "strata.export.perfetto",
        ".pftrace",
        "threads, hops, chains and counters over time: ui.perfetto.dev, trace_processor",
    ),
    Format(
        "speedscope",
        "strata.export.speedscope",
        ".speedscope.json",
        "where the latency of each chain was spent, as a flame graph: speedscope",
    ),
    Format(
        "otlp",
        "strata.export.otlp",
        ".otlp.pb",
        "each message of a chain as an OpenTelemetry trace: collector, Jaeger, Tempo",
    ),
    Format(
        "otlp-json",
        "strata.export.otlp_json",
        ".otlp.jsonl",
        "the same as JSON lines, as the collector's otlpjsonfile receiver reads them",
    ),
    Format(
        "mcap",
        "strata.export.mcap_topics",
        ".mcap",
        "latencies as topics beside the robot's bag: Foxglove, PlotJuggler, Rerun",
    ),
    Format(
        "dot",
        "strata.export.entity_graph.dot",
        ".dot",
        "the graph of timers, callbacks, publishers, subscriptions and services: Graphviz",
    ),
    Format(
        "svg",
        "strata.export.entity_graph.svg",
        ".svg",
        "the same graph as a picture: any browser",
    ),
    Format(
        "tracetools-analysis",
        "strata.export.tracetools_analysis",
        "",
        "the frames of Ros2DataModel, for notebooks written for tracetools_analysis",
    ),
    Format(
        "parquet",
        "strata.export.parquet_results",
        "",
        "the tables of the analysis, one file each: pandas, polars, DuckDB",
    ),
    Format(
        "csv",
        "strata.export.csv_results",
        "",
        "the same tables as text: spreadsheets, R, gnuplot",
    ),
)
"""In the order in which help lists them."""

BY_NAME = {one.name: one for one in FORMATS}
