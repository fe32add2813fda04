# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The recorder is told when to end: after a time, or when the disk has little space left."""

from __future__ import annotations

import os
import signal

from processes import CONSUMER, SESSION_DAEMON
from trial import RECORDING, STOPPING, Trial

from kinds.disks import MIB, own_disk, watch_for_space
from kinds.kills import kill_lossy
from kinds.kind import Kind

# --max-size has to be four times what the buffers hold.
_SMALL_BUFFERS = """events: {ust: ["ros2:*"]}
channel: {subbuf_size: 128k, num_subbuf: 8}
"""


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


def _size(trial: Trial) -> None:
    """Keep the trace within a size, which it outgrows."""
    trial.config = trial.place / "small.yaml"
    trial.config.write_text(_SMALL_BUFFERS)
    trial.most_bytes = 16 * MIB
    # It fills in seconds: the names in a chunk that has to go may not be taken out in time.
    trial.doubt_is_fine = True
    trial.options += ["--max-size", "16M"]
    trial.numbers.filling = 4000
    trial.numbers.rate = 300
    trial.numbers.ms = trial.chance.randint(6000, 9000)
    trial.note("--max-size 16M")


def _disturbed(trial: Trial) -> None:
    """Kill, sometimes, one of those who keep the trace within its size."""
    role = trial.chance.choice([None, None, CONSUMER, SESSION_DAEMON])
    if role is not None:
        trial.await_moment(RECORDING, STOPPING)
        kill_lossy(trial, role)
    elif trial.chance.random() < 0.3:
        trial.await_moment(RECORDING, STOPPING)
        trial.kill_recorder()
        trial.most_bytes = None


KINDS = (
    Kind("duration", "--duration ends the recording", prepare=_duration),
    Kind("min-free", "--min-free ends the recording", prepare=_least_space),
    Kind("max-size", "--max-size drops the oldest, together with a kill -9", _disturbed, _size),
)
