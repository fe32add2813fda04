# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Record a case as a user would, analyze the recording, and judge what was said."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

from case import Answer, Case, Judgement, Truth

PROGRAMS = Path(__file__).parent / "programs"
_LIMIT_S = 150
_PLANTED_S = 10
_STRATA = [sys.executable, "-m", "strata"]


class RunError(Exception):
    """A case did not run."""


def run(case: Case, place: Path) -> Judgement:
    """Record a case into the new directory `place`, and judge the answer."""
    place.mkdir(parents=True)
    truth = Truth(place / "truth")
    truth.place.mkdir()
    session = place / "session"
    with ExitStack() as stack:
        graph = case.graph
        if case.around is not None and graph is not None:
            graph = stack.enter_context(case.around(graph))
        command = ["python3", str(PROGRAMS / case.program)]
        if graph is not None:
            spec = place / "graph.json"
            spec.write_text(json.dumps(graph, indent=1))
            command.append(str(spec))
        command += [str(truth.place), *case.arguments]
        _record(case, truth, ["-o", str(session), "--", *command])
    try:
        return case.expected.judge(_analyzed(case, place, session), truth)
    except (KeyError, ValueError, IndexError, OSError) as error:
        raise RunError(f"the truth or the answer is incomplete: {error!r}") from error


def _record(case: Case, truth: Truth, arguments: list[str]) -> None:
    environment = os.environ | {"ROS_DOMAIN_ID": str(random.randint(1, 100))} | case.environment
    process = subprocess.Popen(
        [*_STRATA, "record", "-c", "full", *case.options, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    failures: list[BaseException] = []

    def meanwhile() -> None:
        try:
            if case.meanwhile is not None:
                case.meanwhile(process.pid, truth)
        except BaseException as error:
            failures.append(error)

    planting = threading.Thread(target=meanwhile, daemon=True)
    planting.start()
    try:
        out, _ = process.communicate(timeout=_LIMIT_S)
        planting.join(_PLANTED_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise RunError(f"not done within {_LIMIT_S} s") from None
    if process.returncode != 0:
        raise RunError(f"strata record ended with {process.returncode}: {out[-2000:]}")
    if failures:
        raise RunError(f"the fault was not planted: {failures[0]!r}") from failures[0]


def _analyzed(case: Case, place: Path, session: Path) -> Answer:
    arguments = ["analyze", str(session)]
    if case.links:
        links = place / "links.yaml"
        links.write_text(case.links)
        arguments += ["--links", str(links)]
    document = json.loads(_output([*arguments, "--format", "json"]))
    return Answer(document, lambda: _output(arguments), session)


def _output(arguments: list[str]) -> str:
    environment = os.environ | {"COLUMNS": "80"}
    done = subprocess.run(
        [*_STRATA, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 3):
        raise RunError(f"strata {arguments[0]} ended with {done.returncode}: {done.stderr}")
    return done.stdout
