# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`make torture`: disturb recordings at random, and count the promises that are broken.

Each trial records a real program by `strata record`, in namespaces of its own, while processes are
killed, disks fill or limits bite; then it holds what is left against what the program says itself.
"""

from __future__ import annotations

import concurrent.futures
import itertools
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import click
from kinds import BY_NAME, KINDS
from kinds.kind import Kind
from namespace import why_not
from outcomes import Outcome, line_of, table_of
from rich.console import Console
from runner import Machine, build, run

_JOBS = 2


@click.command()
@click.argument("names", nargs=-1)
@click.option("--list", "listing", is_flag=True, help="List the kinds and end.")
@click.option("--minutes", default=30.0, show_default=True, help="Begin no trial after that.")
@click.option("--trials", type=int, help="Run so many, however long that takes.")
@click.option("--seed", help="Draw the same trials again.  [default: another each time]")
@click.option("--only", metavar="KIND:SEED", help="Run one trial again, by what it was called.")
@click.option("--jobs", default=_JOBS, show_default=True, help="Trials at once.")
@click.option("--keep", type=click.Path(path_type=Path), help="Where broken trials are kept.")
def main(
    names: tuple[str, ...],
    listing: bool,
    minutes: float,
    trials: int | None,
    seed: str | None,
    only: str | None,
    jobs: int,
    keep: Path | None,
) -> None:
    """Run trials of the kinds NAMES (parts of names; all without any) and print what was broken.

    The exit status is 0 when every promise was kept, 1 when one was broken, 2 when a trial did
    not work, so that nothing is known of it.
    """
    chosen = [kind for kind in KINDS if not names or any(name in kind.name for name in names)]
    console = Console(width=max(Console().width, 110), highlight=False)
    if listing:
        for kind in chosen:
            console.print(f"{kind.name:16} {kind.about}")
        return
    if not chosen:
        raise click.UsageError("no kind has such a name; --list names them")
    if reason := why_not():
        raise click.ClickException(f"Cannot make namespaces for trials: {reason}. Run it as root.")
    place = keep or Path(tempfile.mkdtemp(prefix="torture", dir="/var/tmp"))
    place.mkdir(parents=True, exist_ok=True)
    seed = seed or str(time.time_ns())
    console.print(f"seed {seed}; broken trials are kept in {place}")
    drawn = _one(only) if only else itertools.islice(_draw(chosen, seed), trials)
    end = float("inf") if trials or only else time.monotonic() + 60 * minutes
    outcomes = _run_all(drawn, place.absolute(), end, jobs, console)
    console.print(table_of(outcomes))
    broken = sum(bool(outcome.broken) for outcome in outcomes)
    failed = sum(outcome.failure is not None for outcome in outcomes)
    console.print(
        f"{len(outcomes)} trials, {broken} with a broken promise, {failed} that did not work"
    )
    sys.exit(1 if broken else 2 if failed else 0)


def _one(only: str) -> Iterator[tuple[Kind, str]]:
    name, _, seed = only.partition(":")
    if name not in BY_NAME or not seed:
        raise click.UsageError("--only takes KIND:SEED, as a trial's line shows it")
    yield BY_NAME[name], seed


def _draw(kinds: list[Kind], seed: str) -> Iterator[tuple[Kind, str]]:
    """Draw trials for ever: rounds in which each kind comes by its weight, in a random order."""
    chance = random.Random(seed)
    while True:
        turn = [kind for kind in kinds for _ in range(kind.weight)]
        chance.shuffle(turn)
        for kind in turn:
            yield kind, f"{chance.getrandbits(32):08x}"


def _run_all(
    drawn: Iterator[tuple[Kind, str]], place: Path, end: float, jobs: int, console: Console
) -> list[Outcome]:
    """Run trials, some at once, until there are no more or the time is over."""
    outcomes: list[Outcome] = []
    machine = Machine(build(place))
    lock = threading.Lock()

    def work() -> None:
        while time.monotonic() < end:
            with lock:
                kind, seed = next(drawn, (None, ""))
            if kind is None:
                return
            outcome = run(kind, seed, place, machine)
            with lock:
                outcomes.append(outcome)
                console.print(line_of(outcome))

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            concurrent.futures.wait([pool.submit(work) for _ in range(jobs)])
        except KeyboardInterrupt:
            end = 0.0
            machine.end()
    shutil.rmtree(machine.programs)
    if not os.listdir(place):  # noqa: PTH208
        place.rmdir()
    return outcomes


if __name__ == "__main__":
    main()
