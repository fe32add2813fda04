# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A few trials of `make torture`: what disturbs a recording breaks none of its promises.

Which moments are drawn is the same in each run; TORTURE_SEED draws others.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

TORTURE = Path(__file__).resolve().parents[2] / "benchmarks/torture"
sys.path.insert(0, str(TORTURE))

from kinds import BY_NAME  # noqa: E402
from namespace import why_not  # noqa: E402
from outcomes import Outcome, line_of  # noqa: E402
from promises import PROMISES  # noqa: E402
from runner import Machine, build, run  # noqa: E402

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(
        why_not() is not None, reason="no mount and pid namespaces can be made here"
    ),
]
KINDS = [
    "kill-strata",
    "kill-sessiond",
    "kill-consumerd",
    "kill-several",
    "signal",
    "disk-trace",
    "shm-small",
    "descriptors",
]
SEED = os.environ.get("TORTURE_SEED", "")


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(build(tmp_path_factory.mktemp("torture")))


def _outcome(name: str, seed: str, place: Path, machine: Machine) -> Outcome:
    outcome = run(BY_NAME[name], seed, place, machine)
    assert outcome.failure is None, outcome.failure
    return outcome


@pytest.mark.parametrize("name", KINDS)
def test_promises_are_kept(name: str, tmp_path: Path, machine: Machine) -> None:
    outcome = _outcome(name, f"{SEED}{name}", tmp_path, machine)
    assert not outcome.broken, line_of(outcome)


def test_the_judge_sees_what_is_broken(tmp_path: Path, machine: Machine) -> None:
    outcome = _outcome("tampered", SEED or "1", tmp_path, machine)
    assert {broken.promise for broken in outcome.broken} == set(PROMISES), line_of(outcome)
