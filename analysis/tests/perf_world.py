# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What perf can do here: tests that need it are skipped where it may not record."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from strata.errors import SessionError
from strata.record.kernel.events import DEFAULT_EVENTS
from strata.record.kernel.perf import PerfPlan, plan_perf, probe, script
from strata.record.kernel.text import read_script


def require_perf() -> PerfPlan:
    """Return what perf can record, or skip the test with perf's words."""
    try:
        plan = plan_perf(DEFAULT_EVENTS, os.environ)
    except SessionError as error:
        pytest.skip(str(error))
    why_not = probe(plan, os.environ)
    if why_not:
        pytest.skip(f"perf does not record here: {why_not}")
    if plan.switches:
        pytest.skip("no tracefs here: perf records context switches alone")
    return plan


def whole_cpu(plan: PerfPlan, place: Path) -> int:
    """Find a CPU of which no switch is missing, or skip the test.

    Some virtual machines' kernels leave those out that the idle thread of a CPU makes.
    """
    data = place / "probe.data"
    line = [plan.program, "record", "-a", "-o", data, "-e", "sched:sched_switch"]
    subprocess.run([*line, "--", "sleep", "1"], check=True, capture_output=True)
    with script(plan, data, os.environ) as printing:
        assert printing.stdout is not None
        blocks = list(read_script(printing.stdout, list(plan.events), switches=False))
    (batch,) = blocks[0].batches
    missing = {}
    for cpu in os.sched_getaffinity(0):
        own = batch.cpu == cpu
        came, left = batch.fields["next_tid"][own], batch.fields["prev_tid"][own]
        if own.sum() > 1:
            missing[cpu] = float(np.mean(came[:-1] != left[1:]))
    best = min(missing, key=lambda cpu: missing[cpu], default=-1)
    if best < 0 or missing[best] > 0.05:
        pytest.skip(f"this kernel leaves out switches of every CPU: {missing}")
    return best
