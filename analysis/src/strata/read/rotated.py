# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What `strata record --max-size` or `--keep` dropped of a trace, as the names kept tell."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from strata.errors import TraceError

DROPPED = "dropped.json"
"""In a directory of kept names, beside the directories that hold a `metadata`; written last."""
METADATA_NEW = ".metadata"
"""Name of a `metadata` file that does not count yet: its events stand elsewhere too."""


@dataclass(frozen=True)
class Dropped:
    """What was dropped until now, from the begin of the recording on.

    Times are ns since the epoch by the trace's clock, null before anything was dropped. `forgotten`
    counts naming events that were not kept for lack of space. `processes` tells of each process
    (`vpid@pid_ns`) the time of its last event seen in what was dropped.
    """

    chunks: int = 0
    events: int = 0
    bytes: int = 0
    begin_ns: int | None = None
    end_ns: int | None = None
    forgotten: int = 0
    processes: dict[str, int] = field(default_factory=dict)


def read_dropped(names: Path) -> Dropped:
    """Read what a directory of kept names says.

    Raises TraceError when it is not there or not what Strata wrote.
    """
    path = names / DROPPED
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Dropped(**{item.name: _checked(item.name, content) for item in fields(Dropped)})
    except OSError as error:
        raise TraceError(
            f"Cannot read {path}: {error.strerror}. Check its permissions and the disk."
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TraceError(
            f"Cannot read {path}: not in the form that Strata writes ({error!r}). Restore it "
            "from a copy of the recording, or delete it; the dropped events then count as lost."
        ) from error


def _checked(name: str, content: dict[str, Any]) -> Any:
    value = content[name]
    if name == "processes":
        return {str(process): int(ns) for process, ns in value.items()}
    return None if value is None and name.endswith("_ns") else int(value)


def find_dropped(directories: Iterable[Path]) -> tuple[Dropped | None, frozenset[Path]]:
    """Find what was dropped among the CTF directories of a trace, and which of them hold names.

    Null when nothing was dropped. A recorder that was killed may leave two of these directories;
    the newer one knows more. Raises TraceError.
    """
    found: Dropped | None = None
    holders = set()
    for directory in directories:
        root = next((place for place in directory.parents if (place / DROPPED).is_file()), None)
        if root is None or not root.name.startswith("names-"):
            continue
        holders.add(directory)
        dropped = read_dropped(root)
        if found is None or dropped.chunks > found.chunks:
            found = dropped
    return found, frozenset(holders)
