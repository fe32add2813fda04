# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How much memory an analysis takes: what is oldest of its rows goes to a file beyond a bound.

The bound holds for rows of the engine and for large arrays of NumPy that are made `within_bound`,
together. The file has no name and goes with the process; what of it is in memory is for the kernel
to decide, as with every file (native/storage/blocks.hpp).
"""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from strata.engine._model import memory_usage, set_memory, use_blocks, use_handler
from strata.errors import StrataError

MEMORY = "STRATA_MEMORY"
"""The environment variable of the bound: a number with K, M or G, of 1024 each."""
DIRECTORY = "TMPDIR"
DEFAULT_BYTES = 512 << 20
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@contextmanager
def within_bound() -> Iterator[None]:
    """Keep large arrays that are made meanwhile within the bound.

    Raises StrataError when `STRATA_MEMORY` is no size. An array is to be written by the thread that
    made it only.
    """
    _configure(os.environ.get(MEMORY), os.environ.get(DIRECTORY))
    before = use_blocks()
    try:
        yield
    finally:
        use_handler(before)
        _warn_of(memory_usage()[3])


def bytes_of(text: str) -> int:
    """Return a size in bytes: 500M, 2G. Raises StrataError."""
    found = re.fullmatch(r"\s*(\d+)\s*([KMG]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if found is None:
        raise StrataError(
            f"Cannot keep the analysis within {MEMORY}={text!r}: this is not a size. Give a "
            "number with K, M or G, such as 500M."
        )
    return int(found[1]) * _UNITS[found[2].upper()]


@cache
def _configure(bound: str | None, directory: str | None) -> None:
    set_memory(bytes_of(bound) if bound else DEFAULT_BYTES, str(_place(directory)))


def _place(directory: str | None) -> Path:
    """Where large files that go with the process belong: /tmp is often in memory itself."""
    large = Path("/var/tmp")
    if not directory and os.access(large, os.W_OK):
        return large
    return Path(directory or tempfile.gettempdir())


@cache
def _warn_of(error: int) -> None:
    if error:
        warnings.warn(
            f"Cannot keep rows of the trace in a file in {_place(os.environ.get(DIRECTORY))}: "
            f"{os.strerror(error)}. They stay in memory; set {DIRECTORY} to a directory on a disk "
            "with more space.",
            RuntimeWarning,
            stacklevel=3,
        )
