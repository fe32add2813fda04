# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A recorder in a private LTTng world; a live test on a busy machine gets another try."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from chain_truth import InexactError
from lttng_world import World
from recorder import Recorder

TRIES = 3


@pytest.fixture
def recorded(world: World, tmp_path: Path) -> Recorder:
    """Record runs of the relay chain, or of another command, and analyze them."""
    return Recorder(world, tmp_path)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Repeat a test that failed while what it recorded had to wait for CPUs.

    It fails when it does so each time, when its threads had the CPUs that they wanted, or when what
    no load excuses is wrong. A repetition is warned of.
    """
    recorder = pyfuncitem.funcargs.get("recorded")
    if not isinstance(recorder, Recorder):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    for remaining in reversed(range(TRIES)):
        try:
            pyfuncitem.obj(**arguments)
        except AssertionError as error:
            if isinstance(error, InexactError) or not remaining or not recorder.was_starved():
                raise
            warnings.warn(f"{pyfuncitem.nodeid}: repeated, it had no CPUs: {error}", stacklevel=1)
            recorder.clear()
        else:
            break
    return True
