# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The recorder and its daemons run under limits of the shell (ulimit)."""

from __future__ import annotations

import resource

from trial import Trial

from kinds.kind import Kind

_MIB = 1 << 20


def _limited(trial: Trial, which: int, option: str, most: int) -> None:
    """Set a soft limit for what the recorder starts; the program has the usual one again."""
    usual, hard = resource.getrlimit(which)
    again = "unlimited" if usual == resource.RLIM_INFINITY else usual
    trial.around_program = ["prlimit", f"--{option}={again}:"]
    trial.before_exec = lambda: resource.setrlimit(which, (most, hard))
    trial.refusal_is_fine = True
    trial.lossy_from_ns = 0


def _file_size(trial: Trial) -> None:
    most = trial.chance.choice([4, 16, 64, 64, 256, 1024])
    _limited(trial, resource.RLIMIT_FSIZE, "fsize", most * 1024)
    trial.numbers.filling = 200
    trial.note(f"ulimit -f {most} KiB")


def _descriptors(trial: Trial) -> None:
    most = trial.chance.randint(12, 64)
    _limited(trial, resource.RLIMIT_NOFILE, "nofile", most)
    trial.note(f"ulimit -n {most}")


def _memory(trial: Trial) -> None:
    most = trial.chance.randint(30, 1000)
    _limited(trial, resource.RLIMIT_AS, "as", most * _MIB)
    trial.note(f"ulimit -v {most} MiB")


KINDS = (
    Kind("file-size", "files may not grow beyond 4 KiB to 1 MiB", prepare=_file_size),
    Kind("descriptors", "12 to 64 descriptors a process", prepare=_descriptors),
    Kind("memory", "30 to 1000 MiB of memory a process", prepare=_memory),
)
