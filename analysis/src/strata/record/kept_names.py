# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What names things in chunks of a trace, kept when the chunks are dropped.

A process of low priority (strata.read.names) makes it for several chunks at once, and before they
have to go: a directory `archives/names-N` for what is left once chunk N is dropped.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

_NAMES = "names-"
_METADATA, _METADATA_NEW = "metadata", ".metadata"
_DROPPED = "dropped.json"
# So many chunks' names are made ahead: the process' start costs more than its work.
AHEAD = 4


def number_of(chunk: Path) -> int:
    """Give the number of an archived chunk, counted by LTTng from 0."""
    return int(chunk.name.rpartition("-")[2])


@dataclass
class _Keeper:
    """The process that is at work, and the chunks that it makes names for."""

    process: subprocess.Popen[bytes]
    chunks: list[Path]


class KeptNames:
    """The kept names of one trace; a directory of them may take `budget` bytes.

    Methods raise OSError where the disk refuses.
    """

    def __init__(self, archives: Path, budget: int, environment: Mapping[str, str]) -> None:
        self.current: Path | None = None
        self._archives = archives
        self._budget = budget
        self._environment = environment
        self._made: dict[Path, Path] = {}
        self._why_not: dict[Path, str] = {}
        self._keeper: _Keeper | None = None

    def places(self) -> list[Path]:
        """Give all directories of names: what counts, and what was or is being made."""
        try:
            return [place for place in self._archives.iterdir() if place.name.startswith(_NAMES)]
        except FileNotFoundError:
            return []

    def prepare(self, chunks: Sequence[Path]) -> None:
        """Begin to make the names of these chunks, the oldest first, unless a process is at it."""
        if self._keeper is not None:
            return
        room = max(0, AHEAD - len(self._made))
        todo = list(islice(filter(self.may_come, chunks), room))
        if not todo:
            return
        before = self._made[max(self._made, key=number_of)] if self._made else self.current
        module = [sys.executable, "-P", "-m", "strata.read.names"]
        arguments = [str(self._budget), str(before or "")]
        for chunk in todo:
            arguments += [str(chunk), str(self._place(chunk))]
        try:
            process = subprocess.Popen(
                [*module, *arguments],
                env=dict(self._environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                # Out of reach of the terminal's signals and of a kill of our process group.
                start_new_session=True,
            )
        except OSError as error:
            self._why_not[todo[0]] = str(error)
        else:
            self._keeper = _Keeper(process, todo)

    def poll(self, *, patience_s: float = 0) -> None:
        """Take what the process has made until now; waits for its end so long."""
        keeper = self._keeper
        if keeper is None:
            return
        ended = True
        try:
            keeper.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            ended = False
        for chunk in keeper.chunks:
            if (self._place(chunk) / _DROPPED).exists():
                self._made[chunk] = self._place(chunk)
        if not ended:
            return
        words = keeper.process.communicate()[1].decode(errors="replace").strip().splitlines()
        self._keeper = None
        left = [chunk for chunk in keeper.chunks if chunk not in self._made]
        if left:
            why_not = words[-1] if words else f"exit status {keeper.process.returncode}"
            self._why_not[left[0]] = why_not
            shutil.rmtree(self._place(left[0]), ignore_errors=True)

    def may_come(self, chunk: Path) -> bool:
        """Return whether the names of a chunk are not there yet, and are worth waiting for."""
        known = chunk in self._made or chunk in self._why_not
        return not known and not _is_empty(chunk)

    def take_over(self, chunk: Path) -> str | None:
        """Make the names that were made with a chunk count, as it is about to be dropped.

        Returns why there are none; then the names until now stay. They also do where the chunk
        has nothing that could name anything.
        """
        if self._keeper is not None and chunk in self._keeper.chunks:
            if chunk in self._made:
                # It goes on with those after it.
                self._keeper.chunks.remove(chunk)
            else:
                self._stop()
        names = self._made.pop(chunk, None)
        if names is None and _is_empty(chunk):
            return None
        if names is None:
            return self._why_not.pop(chunk, "there was no space left to wait for them")
        # For a moment both count, and are read twice: better than not at all.
        for metadata in names.rglob(_METADATA_NEW):
            metadata.rename(metadata.with_name(_METADATA))
        before, self.current = self.current, names
        if before is not None:
            remove_trace(before)
        return None

    def end(self) -> None:
        """End the process, and remove what was made of chunks that were not dropped."""
        self._stop()
        for names in self._made.values():
            shutil.rmtree(names, ignore_errors=True)
        self._made = {}

    def _stop(self) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        keeper.process.kill()
        keeper.process.communicate()
        for chunk in keeper.chunks:
            if chunk not in self._made:
                shutil.rmtree(self._place(chunk), ignore_errors=True)

    def _place(self, chunk: Path) -> Path:
        return self._archives / f"{_NAMES}{number_of(chunk)}"


def _is_empty(chunk: Path) -> bool:
    """Return whether a chunk has no file: no program that can be traced had run until its end."""
    return not any(files for _, _, files in os.walk(chunk))


def remove_trace(trace: Path) -> None:
    """Remove a chunk or names; without its metadata nothing of what is left is read as a trace."""
    for metadata in trace.rglob(_METADATA):
        metadata.unlink(missing_ok=True)
    shutil.rmtree(trace, ignore_errors=True)


def bytes_below(place: Path) -> int:
    """Sum up what a directory takes on the disk, in bytes; what goes meanwhile is nothing."""
    total = 0
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        status = place.stat()
        total += max(status.st_size, status.st_blocks * 512)
        with os.scandir(place) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    total += bytes_below(Path(entry.path))
                else:
                    with contextlib.suppress(FileNotFoundError):
                        status = entry.stat(follow_symlinks=False)
                        total += max(status.st_size, status.st_blocks * 512)
    return total
