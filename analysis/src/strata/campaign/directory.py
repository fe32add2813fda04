# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The directory of a campaign: campaign.json, its cells' sessions, and what was interrupted."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Literal

from strata.campaign.cells import Cell, Variant
from strata.campaign.load import LoadedCampaign, load_campaign
from strata.documents import read_json
from strata.errors import CampaignError, OutputError
from strata.masking import mask_command
from strata.record.daemon import alive, process_start_ticks
from strata.record.places import sessions_root

SCHEMA = 1
CAMPAIGN = "campaign.json"
COPY = "campaign.yaml"
CELL = "cell.json"
NOT_MEASURED = "not measured"
"""Begins the line of counts of a cell that could not be measured."""
MEASURED_LATER = "recorded; the report measures it"
"""Begins that line where measuring took too long, or was interrupted."""

LOG = "run.log"
"""What `strata run` said of a cell, beside its session."""

_CELLS = "cells"
_INTERRUPTED = "interrupted"
_LOCK = "campaign.lock"
_POLL_S = 0.2


@dataclass(frozen=True)
class CellState:
    """The result of a cell: cell.json, which is written last.

    `reason` is null when it finished; `unmet` says what its scenario expected and did not come,
    such as every message. `duration_s` is of the run without the measuring.
    `load_average`, `busy_percent` (of all CPUs, in the second before) and `frequency_khz` (by CPU)
    are of its beginning, null for what the machine does not tell; `busy` says that others had more
    of it than they should. `measured` is one line of counts.
    """

    id: str
    status: Literal["finished", "failed"]
    reason: str | None
    begun_utc: str
    duration_s: float
    order: int
    load_average: list[float] | None
    busy_percent: float | None
    frequency_khz: list[int] | None
    busy: bool
    command: list[str]
    measured: str
    unmet: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        """Return one line about its result."""
        if self.reason:
            return self.reason
        return "; ".join([self.measured, *(f"expected, but not met: {one}" for one in self.unmet)])


@dataclass(frozen=True)
class CampaignDirectory:
    """A campaign's directory that was read: the file's copy and the plan, all cells in order.

    `document` is campaign.json, whose `environments` are those of each start.
    """

    path: Path
    loaded: LoadedCampaign
    document: dict[str, Any]
    cells: list[Cell]

    @property
    def variant(self) -> Variant:
        """Tell which cells of the campaign these are."""
        stored = self.document
        durations = stored.get("durations") or {}
        return Variant(stored["seed"], stored["quick"], stored["repetitions"], durations)

    @property
    def name(self) -> str:
        """Name the campaign."""
        return str(self.document["name"])

    def cell_directory(self, cell: Cell) -> Path:
        """Give the directory of a cell's session, which need not be there."""
        return self.path / _CELLS / cell.id

    def state(self, cell: Cell) -> CellState | None:
        """Read the result of a cell; null for one that has not run to its end."""
        try:
            return CellState(**read_json(self.cell_directory(cell) / CELL))
        except (OSError, ValueError, TypeError):
            return None

    def finished(self, cell: Cell) -> bool:
        """Tell whether a cell ran to its end, and well."""
        state = self.state(cell)
        return state is not None and state.status == "finished"

    def write_state(self, cell: Cell, state: CellState) -> None:
        """Write cell.json, in one step and on to the disk: from then on the cell is done."""
        masked = {"command": mask_command(state.command)}
        write_durably(self.cell_directory(cell) / CELL, _as_text(asdict(state) | masked))

    def with_environment(self, environment: dict[str, Any]) -> CampaignDirectory:
        """Give the same with one more start."""
        kept = [*self.document["environments"], environment]
        return replace(self, document={**self.document, "environments": kept})

    def write(self) -> None:
        """Write campaign.json, and the file's copy; a former copy that differs is kept."""
        copy, text = self.path / COPY, self.loaded.text()
        if copy.is_file() and copy.read_text(encoding="utf-8") != text:
            copy.replace(_free(copy.with_name(f"campaign.until_{utc_stamp()}.yaml")))
        write_durably(copy, text)
        cells = {"cells": [cell.as_json() for cell in self.cells]}
        write_durably(self.path / CAMPAIGN, _as_text({**self.document, **cells}))

    def move_aside(self, cell: Cell) -> Path | None:
        """Move what is left of a cell's run out of the way; null when nothing is."""
        directory = self.cell_directory(cell)
        if not directory.exists():
            return None
        target = self.path / _INTERRUPTED / f"{utc_stamp()}_{cell.id.replace('/', '_')}"
        try:
            target.parent.mkdir(exist_ok=True)
            target = _free(target)
            directory.rename(target)
        except OSError as error:
            raise _unwritable(target, error) from error
        return target


def make_directory(
    path: Path, loaded: LoadedCampaign, variant: Variant, cells: list[Cell]
) -> CampaignDirectory:
    """Plan a campaign into a directory; nothing is written yet."""
    document = {
        "schema": SCHEMA,
        "name": loaded.name,
        "file": str(loaded.file),
        "sha256": loaded.sha256,
        "quick": variant.quick,
        "repetitions": variant.repetitions,
        "seed": variant.seed,
        "durations": dict(variant.durations),
        "made_utc": utc_now(),
        "environments": [],
    }
    return CampaignDirectory(path, loaded, document, cells)


def open_directory(path: Path) -> CampaignDirectory:
    """Read the directory of a campaign.

    Raises CampaignError when it is none, or one of another version of Strata.
    """
    file = path / CAMPAIGN
    try:
        document = read_json(file)
        if document["schema"] != SCHEMA:
            raise CampaignError(
                f"Cannot use campaign {path}: its {CAMPAIGN} has schema {document['schema']}, and "
                f"this version of Strata reads {SCHEMA}. Use the version that made it."
            )
        cells = [Cell.from_json(one) for one in document.pop("cells")]
    except OSError as error:
        raise CampaignError(
            f"Cannot use campaign {path}: {file}: {error.strerror}. Give the directory of a "
            "campaign (`strata campaign run FILE -o DIR` makes one)."
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise CampaignError(
            f"Cannot use campaign {path}: {file} is no plan of a campaign ({error}). Restore it, "
            "or choose another directory."
        ) from error
    return CampaignDirectory(path, load_campaign(str(path / COPY)), document, cells)


def check_campaign_directory(path: Path) -> bool:
    """Tell whether a directory holds a campaign; false for one that may be made or is empty.

    Raises OutputError for one that holds anything else.
    """
    if (path / CAMPAIGN).exists():
        return True
    if path.exists() and not path.is_dir():
        raise OutputError(f"Cannot use {path}: it is a file. Choose another -o.")
    others = (
        sorted(one.name for one in path.iterdir() if one.name != _LOCK) if path.exists() else []
    )
    if others:
        raise OutputError(
            f"Cannot use {path}: it holds no campaign, and is not empty ({others[0]}; "
            f"{len(others)} in all). Choose another -o."
        )
    return False


def default_campaign_directory(name: str) -> Path:
    """Give `sessions/<utc>_campaign_<name>` of the project."""
    return sessions_root() / f"{utc_stamp()}_campaign_{name}"


class Lock:
    """Holds a campaign's directory, also by the cell's processes that inherit `descriptor`.

    The kernel keeps it until all of them have ended, however they do.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._existed = path, path.exists()
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._file: IO[str] = (path / _LOCK).open("a+")
        except OSError as error:
            raise _unwritable(path, error) from error

    @property
    def descriptor(self) -> int:
        """Give the descriptor to hand on."""
        return self._file.fileno()

    def owner(self) -> int | None:
        """Give the id of the process that runs the campaign; null when that has ended."""
        self._file.seek(0)
        try:
            pid, ticks = map(int, self._file.read().split())
        except ValueError:
            return None
        return pid if alive(pid, ticks) else None

    def take(self, patience_s: float) -> bool:
        """Take it; false when it is held for longer than that, or by a campaign that runs."""
        until = time.monotonic() + patience_s
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if self.owner() is not None or time.monotonic() > until:
                return False
            time.sleep(_POLL_S)
        self._file.seek(0)
        self._file.truncate()
        self._file.write(f"{os.getpid()} {process_start_ticks(os.getpid())}")
        self._file.flush()
        return True

    def close(self) -> None:
        """Let go of it."""
        self._file.close()

    def discard(self) -> None:
        """Remove what it made, when nothing else came of the directory."""
        with contextlib.suppress(OSError):
            (self._path / _LOCK).unlink()
            if not self._existed:
                self._path.rmdir()


@contextlib.contextmanager
def as_output(path: Path) -> Iterator[None]:
    """Make an OutputError of what goes wrong in writing below `path`."""
    try:
        yield
    except OSError as error:
        raise _unwritable(path, error) from error


def write_durably(path: Path, text: str) -> None:
    """Write a file so that no reader ever sees a part of it, whatever happens to the machine.

    Raises OutputError.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with as_output(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # It may tell of command lines and environments.
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(partial, flags, 0o640), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def utc_now() -> str:
    """Give the time, for people and files: ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def utc_stamp() -> str:
    """Give the time as it goes into names."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())


def _free(path: Path) -> Path:
    """Give a path that does not exist: the same, or the same with a number."""
    names = (
        path if not number else path.with_name(f"{path.name}.{number}") for number in range(10**6)
    )
    return next(one for one in names if not one.exists())


def _as_text(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1) + "\n"


def _unwritable(path: Path, error: OSError) -> OutputError:
    return OutputError(
        f"Cannot write {path}: {error.strerror}. Check the disk and the directory's rights."
    )
