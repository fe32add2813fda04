# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The directory of a recording is moved or removed while it is recorded."""

from __future__ import annotations

import contextlib
import shutil

from trial import Trial

from kinds.kind import Kind


def _ended(trial: Trial) -> bool:
    """Tell whether the recording is finished: its manifest says when it ended."""
    if trial.status is None and "end" not in (trial.manifest() or {}):
        return False
    trial.note("the recording had ended")
    return True


def _renamed(trial: Trial) -> None:
    trial.await_moment()
    if _ended(trial):
        return
    moved = trial.place / "moved"
    with contextlib.suppress(FileNotFoundError):
        trial.output.rename(moved)
        trial.output = moved
        trial.lossy_now()
    trial.note("the directory is renamed")


def _removed(trial: Trial) -> None:
    trial.await_moment()
    if _ended(trial):
        return
    if trial.output.exists():
        shutil.rmtree(trial.output, ignore_errors=True)
        trial.lossy_now()
        trial.output_lost = True
    trial.note("the directory is removed")


KINDS = (
    Kind("renamed", "the output directory gets another name", _renamed),
    Kind("removed", "the output directory is removed", _removed),
)
