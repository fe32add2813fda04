# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The recorder is told when to end: after a time, or when the disk has little space left."""

from __future__ import annotations

import os
import signal

from trial import Trial

from kinds.disks import MIB, own_disk, watch_for_space
from kinds.kind import Kind


def _duration(trial: Trial) -> None:
    """End the recording before the program's end, or long after it."""
    ms = trial.chance.randint(300, 2 * trial.workload.ms)
    trial.options += ["--duration", f"{ms}ms"]
    trial.ended_by = signal.SIGINT
    trial.note(f"--duration {ms}ms")


def _least_space(trial: Trial) -> None:
    """Stop recording when the trace has filled the disk up to a limit."""
    size = trial.chance.randint(8, 24)
    free = trial.chance.randint(2, size - 2)
    place = own_disk(trial, f"size={size}m")
    trial.numbers.filling = 2000
    trial.numbers.rate = 1000
    trial.options += ["--min-free", f"{free}M"]
    trial.note(f"--min-free {free}M of {size} MiB")
    watch_for_space(trial, place, free * MIB)
    disk = os.statvfs(place)
    if disk.f_bavail * disk.f_frsize < free * MIB:
        trial.refusal_is_fine = True


KINDS = (
    Kind("duration", "--duration ends the recording", prepare=_duration),
    Kind("min-free", "--min-free ends the recording", prepare=_least_space),
)
