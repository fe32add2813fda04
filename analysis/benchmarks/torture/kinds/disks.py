# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The disk of a recording is full, out of inodes, or read-only; so is shared memory."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from pathlib import Path

from trial import RECORDING, SET_UP, STOPPING, Trial

from kinds.kind import Kind

MIB = 1 << 20
_PAGE = 4096
_SHM = Path("/dev/shm")
_NEARLY_FULL = 64 * 1024
_POLL_S = 0.01


def own_disk(trial: Trial, *options: str) -> Path:
    """Mount a file system of its own for the recording."""
    place = trial.place / "disk"
    place.mkdir()
    _mount("-t", "tmpfs", "-o", ",".join(options), "none", str(place))
    trial.output = place / "recording"
    return place


def _mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0


def _small_disk(trial: Trial) -> None:
    size = trial.chance.randint(1, 12) * MIB
    place = own_disk(trial, f"size={size}")
    trial.numbers.filling = 2000
    trial.numbers.rate = 1000
    trial.refusal_is_fine = True
    trial.note(f"a disk of {size // MIB} MiB")
    if trial.chance.random() < 0.5:
        trial.options += ["--min-free", "0"]
    watch_for_space(trial, place, _NEARLY_FULL)


def watch_for_space(trial: Trial, place: Path, least: int) -> None:
    """From when on a disk has less than so many bytes free, events may be lost."""

    def watch() -> None:
        with contextlib.suppress(OSError):
            while trial.lossy_from_ns is None:
                found = os.statvfs(place)
                if found.f_bavail * found.f_frsize < least:
                    trial.lossy_now()
                    trial.note(f"less than {least // 1024} KiB free")
                time.sleep(_POLL_S)

    threading.Thread(target=watch, daemon=True).start()


def _shared_disk(trial: Trial) -> None:
    own_disk(trial, f"size={64 * MIB}")
    trial.numbers.filling = 200
    trial.refusal_is_fine = True
    if trial.chance.random() < 0.5:
        trial.options += ["--min-free", "0"]
    if trial.chance.random() < 0.25:
        _fill(trial, trial.place / "disk")


def _filled(trial: Trial) -> None:
    trial.await_moment()
    _fill(trial, trial.place / "disk")


def _fill(trial: Trial, place: Path) -> None:
    left = trial.chance.choice([0, 0, 1, 5, 40]) * _PAGE
    found = os.statvfs(place)
    size = found.f_bavail * found.f_frsize - left
    with (place / "filler").open("ab") as filler, contextlib.suppress(OSError):
        while size > 0:
            size -= filler.write(bytes(min(MIB, size)))
            filler.flush()
    trial.lossy_now()
    trial.note(f"{place.name} filled but for {left} bytes")


def _few_inodes(trial: Trial) -> None:
    inodes = trial.chance.randint(3, 40)
    own_disk(trial, f"size={64 * MIB}", f"nr_inodes={inodes}")
    trial.refusal_is_fine = True
    trial.lossy_from_ns = 0
    trial.note(f"{inodes} inodes")


def _written(trial: Trial) -> None:
    own_disk(trial, f"size={64 * MIB}")
    trial.refusal_is_fine = True


def _read_only(trial: Trial) -> None:
    """Make the disk read-only; the kernel refuses while a file is open for writing."""
    trial.await_moment(SET_UP, STOPPING)
    while trial.status is None:
        if _mount("-o", "remount,ro", str(trial.place / "disk")):
            trial.lossy_now()
            trial.output_fixed = True
            trial.note("the disk is read-only")
            return
        time.sleep(_POLL_S)


def _small_shm(trial: Trial) -> None:
    size = trial.chance.choice([1, 3, 6, 10, 15])
    _mount("-o", f"remount,size={size}m", str(_SHM))
    trial.refusal_is_fine = True
    trial.lossy_from_ns = 0
    trial.note(f"/dev/shm of {size} MiB")


def _usual_shm(trial: Trial) -> None:
    _mount("-o", "remount,size=64m", str(_SHM))
    trial.refusal_is_fine = True


def _filled_shm(trial: Trial) -> None:
    trial.await_moment(SET_UP, RECORDING)
    _fill(trial, _SHM)


KINDS = (
    Kind("disk-trace", "the trace fills a small disk", prepare=_small_disk, weight=2),
    Kind("disk-other", "another program fills the disk", _filled, _shared_disk, weight=2),
    Kind("disk-inodes", "a disk with few inodes", prepare=_few_inodes),
    Kind("disk-read-only", "the disk becomes read-only", _read_only, _written),
    Kind("shm-small", "a small /dev/shm", prepare=_small_shm),
    Kind("shm-filled", "another program fills /dev/shm", _filled_shm, _usual_shm),
)
