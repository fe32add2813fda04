# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether Zenoh's shared memory is on in a run, and whether processes read from each other's.

A process of Zenoh with shared memory on makes a pool for the messages that it sends there: a file
in /dev/shm, all pages of which are there from its begin, so its size says nothing about messages. A
process that gets a message from the pool of another maps that pool, too. Imports the standard
library only.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_PLACE = Path("/dev/shm")
_SUFFIX = ".zenoh"
_LEAST_BYTES = 2 << 20
"""Zenoh's bookkeeping files have 1.25 MiB or less; its smallest default pool has 16 MiB."""


class ZenohPools:
    """The pools that are made after this was; one that somebody else makes meanwhile counts."""

    def __init__(self, place: Path = _PLACE) -> None:
        self._place = place
        self._before = {path.name for path, _ in self._there()}
        self._made: dict[str, int] = {}
        self._shared: set[str] = set()

    def look(self, pids: Iterable[int]) -> None:
        """Note the pools, and which of them several of these processes have mapped.

        Maps are read only while there is a pool that was not seen to be shared yet.
        """
        own = {str(path): size for path, size in self._there() if path.name not in self._before}
        self._made |= own
        open_ones = own.keys() - self._shared
        if not open_ones:
            return
        seen: set[str] = set()
        for pid in pids:
            mapped = open_ones & _mapped(pid)
            self._shared |= mapped & seen
            seen |= mapped

    def as_json(self) -> dict[str, Any]:
        """Describe them: how many were made, their bytes, and how many were seen to be shared.

        Pools of fewer than `least_bytes` are not seen.
        """
        return {
            "made": len(self._made),
            "bytes": sum(self._made.values()),
            "shared": len(self._shared),
            "least_bytes": _LEAST_BYTES,
        }

    def _there(self) -> Iterator[tuple[Path, int]]:
        with contextlib.suppress(OSError), os.scandir(self._place) as entries:
            for entry in entries:
                if entry.name.endswith(_SUFFIX):
                    with contextlib.suppress(OSError):
                        size = entry.stat().st_size
                        if size >= _LEAST_BYTES:
                            yield Path(entry.path), size


def _mapped(pid: int) -> set[str]:
    """Return the files of Zenoh's shared memory that a process has mapped; none when it is gone."""
    found = set()
    with contextlib.suppress(OSError), Path(f"/proc/{pid}/maps").open() as lines:
        for line in lines:
            path = line.rstrip("\n").split(maxsplit=5)[5:]
            if path and path[0].endswith(_SUFFIX):
                found.add(path[0])
    return found
