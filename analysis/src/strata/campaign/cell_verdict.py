# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Did a cell run as it should? By its exit status, its manifest, and what it said."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

from strata.campaign.directory import LOG
from strata.documents import read_json
from strata.record.directory import MANIFEST, TRACE, holds_events, host_sessions

_UNMET = 3
_PREFIX = "strata: "


def verdict(directory: Path, status: int | None, limit_s: float) -> str | None:
    """Say why a cell failed; null when it did not.

    `status` is the exit status of its `strata run`, negative for a signal, null when it was ended
    after `limit_s`. An expectation that is not met fails none by itself (`unmet`): of a cell that
    loses messages, the loss is what is measured.
    """
    if status is None:
        return f"it did not end within {limit_s:.0f} s"
    if status < 0:
        return f"its recorder was ended by {signal.Signals(-status).name}"
    manifest = _manifest(directory)
    command = manifest.get("command", {})
    if status == 0 and command.get("interrupted_by"):
        return f"it was interrupted by {command['interrupted_by']}"
    scenario = manifest.get("scenario", {})
    reasons = []
    if status not in (0, _UNMET):
        problems = scenario.get("outcome", {}).get("problems") or manifest.get("problems") or []
        reasons = [str(one) for one in problems] or [_said(directory) or f"exit status {status}"]
    if not reasons and not recorded_something(directory):
        reasons = ["no event was recorded"]
    if reasons:
        reasons += [f"expected, but not met: {text}" for text in unmet(directory)]
    return "; ".join(reasons) or None


def unmet(directory: Path) -> list[str]:
    """List what the scenario expected and did not come."""
    found = []
    for name, session in {"": directory, **host_sessions(directory)}.items():
        checks = _manifest(session).get("scenario", {}).get("checks", [])
        where = f"host {name}: " if name else ""
        found += [f"{where}{one['text']}" for one in checks if not one["met"]]
    return found


def recorded_something(directory: Path) -> bool:
    """Tell whether there is a whole session with events."""
    traces = [one / TRACE for one in (directory, *host_sessions(directory).values())]
    return (directory / MANIFEST).is_file() and any(map(holds_events, traces))


def _manifest(directory: Path) -> dict[str, Any]:
    try:
        content = read_json(directory / MANIFEST)
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _said(directory: Path) -> str | None:
    """Give the last thing that Strata itself said."""
    try:
        lines = (directory / LOG).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    own = [line.removeprefix(_PREFIX) for line in lines if line.startswith(_PREFIX)]
    return own[-1] if own else None
