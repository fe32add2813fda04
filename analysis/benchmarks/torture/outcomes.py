# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What came of trials, as lines while they run and as a table at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from promises import PROMISES, Broken
from rich.table import Table
from rich.text import Text


@dataclass
class Outcome:
    """What one trial gave; numbers are events, times in s.

    `failure` says why the trial did not work, null when it did. `set_up_s` is how long the recorder
    took until the program ran, `stop_s` from the program's end to its own; null where a fault
    came between.
    """

    kind: str
    seed: str
    faults: list[str] = field(default_factory=list)
    status: int | None = None
    seconds: float = 0.0
    failure: str | None = None
    set_up_s: float | None = None
    stop_s: float | None = None
    emitted: int = 0
    recorded: int = 0
    lost: int = 0
    counted: int = 0
    oldest_s: float | None = None
    slack_s: float = 0.0
    broken: list[Broken] = field(default_factory=list)


def line_of(outcome: Outcome) -> Text:
    """Say what came of a trial."""
    line = Text()
    if outcome.failure is not None:
        line.append("failed", "yellow")
    else:
        line.append("BROKEN" if outcome.broken else "kept  ", "red" if outcome.broken else "green")
    line.append(f" {outcome.kind}:{outcome.seed} ({outcome.seconds:.0f} s)  ")
    line.append("; ".join(outcome.faults) or "-")
    line.append(f"  -> {outcome.status}, {outcome.lost} of {outcome.emitted} lost")
    if outcome.oldest_s is not None:
        line.append(f" from {outcome.oldest_s:.2f} s before")
    if outcome.failure:
        line.append(f"\n       {outcome.failure}")
    for broken in outcome.broken:
        line.append(f"\n       {broken.promise}: ", "bold")
        line.append(broken.text)
    return line


def table_of(outcomes: Sequence[Outcome]) -> Table:
    """Count trials, losses and broken promises by kind."""
    table = Table(box=None, pad_edge=False)
    table.add_column("kind")
    for name in ("trials", "emitted", "lost", "lost s", *PROMISES, "failed"):
        table.add_column(name, justify="right")
    for kind in sorted({outcome.kind for outcome in outcomes}):
        table.add_row(kind, *_row([outcome for outcome in outcomes if outcome.kind == kind]))
    table.add_section()
    table.add_row("all", *_row(outcomes), style="bold")
    return table


def _row(outcomes: Sequence[Outcome]) -> list[str]:
    oldest = [outcome.oldest_s for outcome in outcomes if outcome.oldest_s is not None]
    counts = [
        sum(any(broken.promise == promise for broken in outcome.broken) for outcome in outcomes)
        for promise in PROMISES
    ]
    return [
        str(len(outcomes)),
        f"{sum(outcome.emitted for outcome in outcomes):,}",
        f"{sum(outcome.lost for outcome in outcomes):,}",
        f"{max(oldest):.2f}" if oldest else "-",
        *(str(count) if count else "-" for count in counts),
        str(sum(outcome.failure is not None for outcome in outcomes) or "-"),
    ]
