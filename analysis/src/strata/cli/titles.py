# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a trace is called on a page or in a table."""

from __future__ import annotations

from pathlib import Path

from strata.printable import path_text
from strata.read.manifest import session_of


def title_of(trace: Path) -> str:
    """Return the name of the session that `trace` is or lies in, else its own."""
    place = session_of(trace) or trace
    return path_text(place.resolve().name or str(place))
