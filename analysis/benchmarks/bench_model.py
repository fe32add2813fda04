# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What an analysis costs beyond reading, stage by stage, and how it grows with the trace.

usage: bench_model.py [--events N ...] [--trace DIR ...] [--write PAGE]

Records traces of relay chains (record_load.py), or takes recorded ones, and measures the CPU time
of each stage of `strata analyze` after the event tables are in memory: the best of some rounds, as
other load only ever adds. *model + layers* is what the name says; tables and statistics are what
`strata analyze` does with it.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import click
import numpy as np
from record_load import record
from rich.console import Console
from rich.table import Table

import strata.model.build as build
import strata.pipeline.entities as entities
import strata.pipeline.messages as messages
import strata.pipeline.run as run
from strata.pipeline.messages import Wanted
from strata.pipeline.run import analyze_model
from strata.read import open_trace
from strata.schema.quality import Ledger

Result = TypeVar("Result")

# What build_model and the pipeline call of model and layers, but for making tables.
STAGES: dict[str, dict[ModuleType, tuple[str, ...]]] = {
    "columns": {build: ("EventColumns", "add_call_events", "number_clocks")},
    "entities": {build: ("build_entities",), run: ("describe_processes",)},
    "timeline": {build: ("Timeline",)},
    "executions": {
        build: (
            *("pair_executions", "pair_waits", "find_executors", "find_callback_groups"),
            *("read_clocks", "join_pieces", "count_contradictory_nesting"),
        )
    },
    "traffic": {
        build: ("find_publications", "find_takes", "find_middleware", "find_driver"),
    },
    "matching": {
        build: (
            *("number_topics", "infer", "match"),
            *("find_ring_buffers", "pair_passages", "join_intra_process"),
        )
    },
    "layers": {
        messages: (
            *("cut_layers", "find_blockers", "count_between_hosts", "find_deliveries"),
            "find_readiness",
        )
    },
    "chains": {
        messages: (
            *("endpoint_names", "find_links", "link_messages", "find_ways", "find_chains"),
            *("clocks_of", "find_chains_of", "causes_missing", "propose_links"),
        )
    },
    "scheduling": {
        build: ("find_scheduling", "find_cpu_samples", "no_samples"),
        messages: ("layer_times", "find_cpu_waits"),
    },
    "services, timers, lifecycles": {
        build: ("find_service_traffic",),
        entities: ("cut_calls", "action_frames", "find_timer_fires", "find_states"),
    },
}
MODEL_AND_LAYERS = "model + layers"
REST = "tables, statistics"


@dataclass
class Costs:
    """CPU seconds of one analysis by stage; what no stage took is in `REST`."""

    events: int
    reading: float
    stages: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    rest: float = 0.0

    @property
    def model_and_layers(self) -> float:
        """Sum of the stages."""
        return sum(self.stages.values())


def measure(trace: Path) -> Costs:
    """Analyze a trace once, with a stopwatch at each stage."""
    begin = time.process_time()
    opened = open_trace(trace)
    events = opened.tables()
    costs = Costs(sum(map(len, events.values())), time.process_time() - begin)
    originals = [
        (module, name, getattr(module, name), stage)
        for stage, modules in STAGES.items()
        for module, names in modules.items()
        for name in names
    ]
    try:
        for module, name, function, stage in originals:
            setattr(module, name, timed(function, costs.stages, stage))
        gc.collect()
        begin = time.process_time()
        ledger = Ledger()
        model = build.build_model(events, ledger)
        analyze_model(opened, events, model, Wanted(), ledger)
        costs.rest = time.process_time() - begin - costs.model_and_layers
    finally:
        for module, name, function, _ in originals:
            setattr(module, name, function)
    return costs


def timed(
    function: Callable[..., Result], stages: dict[str, float], stage: str
) -> Callable[..., Result]:
    """Return a function that adds its CPU time to a stage."""

    def stage_run(*arguments: Any, **named: Any) -> Result:
        begin = time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            stages[stage] += time.process_time() - begin

    return stage_run


def best(runs: Sequence[Costs]) -> Costs:
    """Return the least of each stage over some runs."""
    out = Costs(runs[0].events, min(one.reading for one in runs))
    out.stages = {stage: min(one.stages[stage] for one in runs) for stage in STAGES}
    out.rest = min(one.rest for one in runs)
    return out


def rows(found: Sequence[Costs]) -> list[list[str]]:
    """Return a row a stage, with seconds and the share of model + layers for each trace."""
    out = []
    for stage in STAGES:
        cells = [
            f"{cost.stages[stage]:.3f} s ({cost.stages[stage] / cost.model_and_layers:.0%})"
            for cost in found
        ]
        out.append([stage, *cells])
    out.append([MODEL_AND_LAYERS, *(f"{cost.model_and_layers:.3f} s" for cost in found)])
    per_event = (1e9 * cost.model_and_layers / cost.events for cost in found)
    out.append(["per event", *(f"{ns:.0f} ns" for ns in per_event)])
    out.append([REST, *(f"{cost.rest:.3f} s" for cost in found)])
    out.append(["(reading)", *(f"{cost.reading:.3f} s" for cost in found)])
    return out


PAGE = """<!-- Generated by analysis/benchmarks/bench_model.py. Do not edit. -->
# What an analysis costs

CPU time of `strata analyze` on one core, stage by stage, on traces of relay chains that
`analysis/benchmarks/record_load.py` records. *model + layers* is what comes after reading and
before tables: entities, executions, publications and takes, matching, layers, blockers, links and
chains, the kernel's scheduling, service calls, timers and lifecycles; in brackets its shares.
Columns and sorted searches only, so it grows with the number of events. *tables, statistics* makes
of that the declared tables, hops, blame, modes and sentences. Best of {rounds} rounds each, on a
machine with other load.

```sh
.venv/bin/python analysis/benchmarks/bench_model.py{options} \\
  --rounds {rounds} --write docs/analysis-speed.md
```

{table}"""


def page(found: Sequence[Costs], rounds: int) -> str:
    """Return the documentation page."""
    head = ["stage", *(f"{cost.events:,} events" for cost in found)]
    lines = [head, ["---"] * len(head), *rows(found)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
    options = "".join(f" --events {round(cost.events, -5)}" for cost in found)
    return PAGE.format(rounds=rounds, options=options, table=table)


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--events", multiple=True, type=int, default=(1_000_000,), show_default=True)
@click.option("--trace", "traces", multiple=True, type=click.Path(path_type=Path, exists=True))
@click.option("--rounds", default=5, show_default=True)
@click.option("--write", type=click.Path(path_type=Path), help="Write a page there, in Markdown.")
def main(events: Sequence[int], traces: Sequence[Path], rounds: int, write: Path | None) -> None:
    """Measure, print and write."""
    found = []
    with tempfile.TemporaryDirectory(prefix="bench_model_") as place:
        recorded = [] if traces else [record_one(Path(place), count) for count in events]
        found += [best([measure(trace) for _ in range(rounds)]) for trace in (*traces, *recorded)]
    table = Table(box=None)
    for index, name in enumerate(["stage", *(f"{cost.events:,} events" for cost in found)]):
        table.add_column(name, justify="right" if index else "left")
    for line in rows(found):
        table.add_row(*line)
    Console().print(table)
    if write:
        write.write_text(page(found, rounds))
        click.echo(f"Wrote {write}", err=True)


def record_one(place: Path, count: int) -> Path:
    """Record a trace of relay chains that lost nothing; a slower one where a faster one did."""
    for rate in (50_000, 25_000, 10_000):
        recording = record(place / f"load_{count}", [f"--events={count}", f"--rate={rate}"])
        if not recording.discarded:
            break
    return recording.directory


if __name__ == "__main__":
    np.seterr(all="raise")
    main()
