# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Why `strata guard` kept a snapshot, as the file beside its trace says."""

from __future__ import annotations

from pathlib import Path

from strata.documents import DocumentError, decode, parse_json, read_bytes
from strata.read.manifest import session_of

INCIDENT = "incident.json"
"""In the directory of a snapshot."""
_MOST_BYTES = 16 << 20
_MOST = 3


def read_faults(path: Path) -> tuple[str, ...]:
    """Return the first faults for which a snapshot was kept, a sentence each with its cause.

    Empty for what is no snapshot of a guard, and where the file is not as Strata writes it.
    """
    session = session_of(path)
    file = session / INCIDENT if session else None
    if file is None or not file.is_file():
        return ()
    try:
        faults = dict(parse_json(decode(read_bytes(file, _MOST_BYTES))))["faults"]
        return tuple(_sentence(fault) for fault in faults[:_MOST])
    except (OSError, DocumentError, ValueError, KeyError, TypeError, AttributeError):
        return ()


def _sentence(fault: dict[str, object]) -> str:
    cause = fault.get("cause")
    why = f": {cause['text']}" if isinstance(cause, dict) else "."
    return f"{fault['text']}{why}"
