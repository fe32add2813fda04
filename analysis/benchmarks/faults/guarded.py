# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`make guard-faults`: plant one fault in a running system under `strata guard`.

A case is right when exactly one snapshot was kept, and its verdict, made from the snapshot alone,
names the layer (or the fate of messages, or the words) and the place. With `--healthy MINUTES` a
system without a fault is guarded instead, of which no snapshot may be kept.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from cases.guarded import CASES, GuardCase, healthy
from rich.console import Console

_PROGRAM = Path(__file__).parent / "programs/graph.py"
_LIMIT_S = 120
_SETTINGS = """\
config: full
ring: {memory: 64M}
snapshot: {before: 4 s, after: 2 s}
limits: {every: 10 min}
when:
"""


@dataclass(frozen=True)
class Outcome:
    """What a case came to: how many snapshots were kept, and the first one's verdict."""

    kept: int
    verdict: str
    layer: bool
    place: bool

    @property
    def right(self) -> bool:
        """Tell whether there is one snapshot, whose verdict is right."""
        return self.kept == 1 and self.layer and self.place


@click.command()
@click.argument("names", nargs=-1)
@click.option("--list", "listing", is_flag=True, help="List the cases and end.")
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the snapshots in a directory.")
@click.option("--healthy", "minutes", type=float, help="Guard a healthy system for so long.")
def main(names: tuple[str, ...], listing: bool, keep: Path | None, minutes: float | None) -> None:
    """Plant the faults of NAMES (parts of names; all without any) and print the verdicts.

    The exit status is 0 when all are right, 3 when any is not.
    """
    console = Console(width=max(Console().width, 110), highlight=False)
    chosen = [case for case in CASES if not names or any(name in case.name for name in names)]
    if minutes is not None:
        chosen = [healthy(minutes)]
    if listing:
        for case in chosen:
            console.print(f"{case.name:26} {case.about}")
        return
    place = keep or Path(tempfile.mkdtemp(prefix="guard-faults"))
    right = 0
    try:
        for case in chosen:
            outcome = run(case, place / case.name)
            good = outcome.kept == 0 if minutes is not None else outcome.right
            right += good
            word = "[green]right[/green]" if good else "[red]wrong[/red]"
            said = outcome.verdict.replace("[", r"\[")
            console.print(f"{word} {case.name}: {outcome.kept} kept. {said}")
    finally:
        if keep is None:
            shutil.rmtree(place, ignore_errors=True)
    console.print(f"{right} of {len(chosen)} right")
    sys.exit(0 if right == len(chosen) else 3)


def run(case: GuardCase, place: Path) -> Outcome:
    """Guard the system of a case, plant the fault, and judge what was kept."""
    place.mkdir(parents=True)
    conditions = place / "guard.yaml"
    conditions.write_text(_SETTINGS + "".join(f"  - {json.dumps(one)}\n" for one in case.when))
    spec, truth = place / "graph.json", place / "truth"
    spec.write_text(json.dumps(case.graph, indent=1))
    kept = place / "kept"
    line = [sys.executable, "-m", "strata", "guard", "-c", str(conditions), "-o", str(kept)]
    line += [*case.options, "--", "python3", str(_PROGRAM), str(spec), str(truth)]
    _guarded(case, line, truth, place / "guard.log")
    documents = [json.loads(path.read_text()) for path in sorted(kept.glob("*/incident.json"))]
    return judge(case, documents)


def judge(case: GuardCase, incidents: list[Mapping[str, Any]]) -> Outcome:
    """Hold the snapshots that were kept against what was planted."""
    if not incidents:
        return Outcome(0, "", False, False)
    first = incidents[0]
    causes = [fault["cause"] for fault in first["faults"] if fault["cause"]]
    said = f"{first['verdict']}"
    named = [
        (
            not case.layers or cause["layer"] in case.layers,
            all(word in f"{cause['where']} {cause['text']}" for word in case.words),
        )
        for cause in causes[:1]
    ]
    layer, at = named[0] if named else (False, False)
    return Outcome(len(incidents), said, layer, at)


def _guarded(case: GuardCase, line: list[str], truth: Path, log: Path) -> None:
    environment = os.environ | {"ROS_DOMAIN_ID": str(random.randint(1, 100))}
    with log.open("w") as file:
        process = subprocess.Popen(
            line, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file
        )
        if case.meanwhile is not None:
            planting = threading.Thread(target=case.meanwhile, args=(truth,), daemon=True)
            planting.start()
        try:
            process.wait(case.limit_s or _LIMIT_S)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
            raise


if __name__ == "__main__":
    main()
