# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The directory that an export is written into: made or replaced whole, or left as it was.

Only a directory of `strata convert` or `strata export` is ever replaced: its `tables.json` says
so, and it holds nothing but the files that are listed there.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from strata.errors import OutputError
from strata.marks import TABLES, TABLES_FORMAT, foreign_entry, own_tables

CONTENTS = TABLES
FORMAT = TABLES_FORMAT

_FULL = (errno.ENOSPC, errno.EDQUOT)
_ELSEWHERE = "Name another place with -o."


def check_target(target: Path, *, force: bool) -> None:
    """Raise OutputError when `target` cannot be written, or holds what must not be lost."""
    try:
        _check_place(target)
        entries = sorted(target.iterdir()) if target.exists() else []
    except OSError as error:
        raise failure(target, error) from error
    if not entries:
        return
    foreign = _foreign_entry(target, entries)
    if foreign is not None:
        raise OutputError(
            f"Cannot write {target}: the directory contains files that strata did not write "
            f"({foreign}). {_ELSEWHERE}"
        )
    if not force:
        raise OutputError(
            f"Cannot write {target}: it already contains an export. Name another place with "
            "-o or use --force."
        )


def failure(target: Path, error: Exception) -> OutputError:
    """Return what to raise when `target` could not be written because of `error`."""
    number = error.errno if isinstance(error, OSError) else None
    fact = os.strerror(number) if number else str(error).rstrip(".")
    step = "Free space there, or name another place with -o." if number in _FULL else _ELSEWHERE
    return OutputError(f"Cannot write {target}: {fact}. {step}")


@contextmanager
def replacing(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a new directory to fill; at the end of the block it becomes `target`.

    All or nothing: when the block fails, or the exchange does, what stood at `target` stands there
    again. Raises OutputError, also for each OSError of the block.
    """
    check_target(target, force=force)
    # A name such as `.` or that of a symbolic link cannot be exchanged, what it stands for can.
    whole = Path(os.path.realpath(target))
    try:
        whole.parent.mkdir(parents=True, exist_ok=True)
        # Beside the target, as only a rename within one file system is one step.
        work = Path(tempfile.mkdtemp(prefix=f".{whole.name[:50]}-", dir=whole.parent))
    except OSError as error:
        raise failure(target, error) from error
    restored = True
    try:
        new = work / "new"
        new.mkdir()
        yield new
        # The conversion took its time: somebody may have put a file there meanwhile.
        check_target(target, force=force)
        _exchange(new, whole, work / "old")
    except _UnrestoredError as error:
        restored = False
        raise OutputError(
            f"Cannot write {target}: {error}, and the former contents could not all be restored. "
            f"It is in {work / 'old'}: move it back."
        ) from error
    except OSError as error:
        raise failure(target, error) from error
    finally:
        if restored:
            shutil.rmtree(work, ignore_errors=True)


def _check_place(target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise OutputError(f"Cannot write {target}: it is a file. Name a directory with -o.")
    for parent in target.parents:
        if parent.exists():
            if not parent.is_dir():
                raise OutputError(f"Cannot write {target}: {parent} is a file. {_ELSEWHERE}")
            return


def _foreign_entry(target: Path, entries: list[Path]) -> str | None:
    """Name an entry that strata did not write; null when it wrote all."""
    written = own_tables(target)
    if written is None:
        other = next((entry.name for entry in entries if entry.name != CONTENTS), None)
        return other or f"{CONTENTS} without the format {FORMAT!r}"
    return foreign_entry(target, written)


class _UnrestoredError(Exception):
    """An exchange failed, and so did its undoing; the text says why it failed."""


def _exchange(new: Path, target: Path, aside: Path) -> None:
    """Put `new` in the place of `target`, which goes to `aside`; or leave all as it was."""
    steps = _steps(new, target, aside)
    try:
        for source, destination in steps:
            source.rename(destination)
    except BaseException as error:
        try:
            for source, destination in reversed(steps):
                if destination.exists() and not source.exists():
                    destination.rename(source)
        except OSError:
            fact = error.strerror if isinstance(error, OSError) else "it was stopped"
            raise _UnrestoredError(fact) from error
        raise


def _steps(new: Path, target: Path, aside: Path) -> list[tuple[Path, Path]]:
    """Return what is renamed to what, in order."""
    if not target.exists():
        return [(new, target)]
    if not target.samefile("."):
        return [(target, aside), (new, target)]
    # Who stands in a directory goes along with it, and would look into one that is deleted.
    aside.mkdir()
    old = [(path, aside / path.name) for path in target.iterdir()]
    return old + [(path, target / path.name) for path in new.iterdir()]
