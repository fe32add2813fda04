# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The trace of a session that has ended: where it is, what it lacks, whether it has events."""

from __future__ import annotations

from pathlib import Path

from strata.record.directory import holds_events
from strata.record.session import Session
from strata.record.streams import mend


def bring(stray: Path, trace: Path, session: Session) -> None:
    """Move a trace that LTTng began by the old name, as the directory was renamed before that."""
    if not stray.is_dir():
        return
    try:
        stray.rename(trace)
        stray.parent.rmdir()
    except OSError as error:
        session.problem(f"the trace, or part of it, is in {stray}: {error.strerror}")


def judge(session: Session, trace: Path) -> bool:
    """Mend what can be mended of a trace, note what it lacks; tell whether it has no event."""
    try:
        for problem in mend(trace):
            session.problem(problem)
        return not holds_events(trace)
    except OSError as error:
        session.problem(f"Cannot check {error.filename or trace}: {error.strerror}.")
        return False
