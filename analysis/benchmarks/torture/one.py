# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One trial, as process 1 of its namespaces: `one.py KIND SEED PLACE PROGRAM SET_UP_S STOP_S`."""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import time
from dataclasses import asdict
from pathlib import Path

from kinds import BY_NAME
from namespace import reap_until_end_of
from promises import Findings, judge
from trial import Timing, Trial, TrialError

RESULT = "result.json"


def run(name: str, seed: str, place: Path, numbers: Path, timing: Timing) -> None:
    """Run a trial of a kind and write what came of it into `RESULT` of its place."""
    kind = BY_NAME[name]
    begin = time.monotonic()
    trial = Trial(place, numbers, random.Random(f"{name}:{seed}"), timing)
    failure, found = None, Findings()
    try:
        kind.prepare(trial)
        trial.start()
        kind.fault(trial)
        trial.finish()
        kind.tamper(trial)
        found = judge(trial)
    except TrialError as error:
        failure = str(error)
    content = {
        "kind": name,
        "seed": seed,
        "faults": trial.faults,
        "status": trial.status,
        "seconds": time.monotonic() - begin,
        "failure": failure,
        "set_up_s": trial.set_up_s,
        "stop_s": trial.stop_s,
        **asdict(found),
    }
    (place / RESULT).write_text(json.dumps(content, indent=1) + "\n")
    if found.broken and place / "disk" in trial.output.parents:
        # Else it goes with the namespaces.
        shutil.copytree(trial.output, place / "recording", dirs_exist_ok=True)


def main() -> None:
    """Run the trial in a child, and collect what it leaves to us."""
    name, seed, place, numbers, set_up, stop = sys.argv[1:]
    child = os.fork()
    if child == 0:
        run(name, seed, Path(place), Path(numbers), Timing(float(set_up), float(stop)))
        return
    sys.exit(reap_until_end_of(child, Path(place)))


if __name__ == "__main__":
    main()
