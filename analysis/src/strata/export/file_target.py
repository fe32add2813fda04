# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The file that an export is written into: replaced whole, or left as it was; bounded in size."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from strata.errors import OutputError
from strata.export.target import failure
from strata.units import format_size

_WRITABLE = 0o666


class BoundedFile:
    """A binary file that refuses to grow beyond a size.

    `size` is what was written, `before` what other files of the same export have already.
    """

    closed = False
    """For pyarrow, which asks: whoever opened the file closes it."""

    def __init__(self, file: BinaryIO, target: Path, max_bytes: int, before: int = 0) -> None:
        self._file = file
        self._target = target
        self._max_bytes = max_bytes
        self._before = before
        self.size = 0

    def write(self, data: bytes) -> int:
        """Append `data` and return its length. Raises OutputError beyond the bound."""
        self.size += len(data)
        if self._before + self.size > self._max_bytes:
            raise too_large(self._target, self._max_bytes)
        self._file.write(data)
        return len(data)

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self.size

    def flush(self) -> None:
        """Do nothing: the file is there when it is whole."""


def too_large(target: Path, max_bytes: int) -> OutputError:
    """Return what to raise when an export grows beyond `max_bytes`."""
    return OutputError(
        f"Cannot write {target}: the export is larger than {format_size(max_bytes)}. Choose less "
        "with --chain, --begin and --end or --slowest, or allow more with --max-size."
    )


def check_file(target: Path, *, force: bool) -> None:
    """Raise OutputError when `target` cannot be written, or holds what must not be lost."""
    try:
        if target.is_dir():
            raise OutputError(f"Cannot write {target}: it is a directory. Name a file with -o.")
        if os.path.lexists(target):
            if not target.is_file() or target.is_symlink():
                raise OutputError(
                    f"Cannot write {target}: it is no regular file. Name another place with -o."
                )
            if not force:
                raise OutputError(
                    f"Cannot write {target}: it exists. Name another place with -o or use --force."
                )
    except OSError as error:
        raise failure(target, error) from error


@contextmanager
def replacing_file(target: Path, max_bytes: int, *, force: bool) -> Iterator[BoundedFile]:
    """Give a new file to write; at the end of the block it becomes `target`, all or nothing.

    Raises OutputError, also for each OSError of the block.
    """
    check_file(target, force=force)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Beside the target, as only a rename within one file system is one step.
        number, name = tempfile.mkstemp(prefix=f".{target.name[:50]}-", dir=target.parent)
    except OSError as error:
        raise failure(target, error) from error
    fresh = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            yield BoundedFile(file, target, max_bytes)
            mask = os.umask(0)
            os.umask(mask)
            os.fchmod(file.fileno(), _WRITABLE & ~mask)
        # The export took its time: somebody may have put a file there meanwhile.
        check_file(target, force=force)
        fresh.replace(target)
    except OSError as error:
        raise failure(target, error) from error
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
