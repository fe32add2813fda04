# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The recorder and its daemons run under limits of the shell (ulimit)."""

from __future__ import annotations

import ctypes
import resource

from trial import Trial

from kinds.kind import Kind

_MIB = 1 << 20
_PR_CAPBSET_DROP, _CAP_SYS_RESOURCE = 24, 24
_HARD = 0.4


def _limited(trial: Trial, which: int, option: str, most: int) -> None:
    """Set a soft limit for what the recorder starts; the program has the usual one again."""
    usual, hard = resource.getrlimit(which)
    again = "unlimited" if usual == resource.RLIM_INFINITY else usual
    trial.around_program = ["prlimit", f"--{option}={again}:"]
    trial.before_exec = lambda: resource.setrlimit(which, (most, hard))
    trial.refusal_is_fine = True
    trial.lossy_from_ns = 0


def _limited_for_good(trial: Trial, which: int, most: int) -> None:
    """Set a limit that nobody may raise, not even root; for the program, too."""
    library = ctypes.CDLL(None)

    def limit() -> None:
        library.prctl(_PR_CAPBSET_DROP, _CAP_SYS_RESOURCE, 0, 0, 0)
        resource.setrlimit(which, (most, most))

    trial.before_exec = trial.before_program = limit
    trial.refusal_is_fine = True
    trial.lossy_from_ns = 0


def _file_size(trial: Trial) -> None:
    most = trial.chance.choice([4, 16, 64, 64, 256, 1024])
    trial.numbers.filling = 200
    if trial.chance.random() < _HARD:
        _limited_for_good(trial, resource.RLIMIT_FSIZE, most * 1024)
        trial.note(f"ulimit -f {most} KiB, for good")
    else:
        _limited(trial, resource.RLIMIT_FSIZE, "fsize", most * 1024)
        trial.note(f"ulimit -f {most} KiB")


def _descriptors(trial: Trial) -> None:
    most = trial.chance.randint(12, 64)
    if trial.chance.random() < _HARD:
        _limited_for_good(trial, resource.RLIMIT_NOFILE, most)
        trial.note(f"ulimit -n {most}, for good")
    else:
        _limited(trial, resource.RLIMIT_NOFILE, "nofile", most)
        trial.note(f"ulimit -n {most}")


def _memory(trial: Trial) -> None:
    most = trial.chance.randint(30, 1000)
    _limited(trial, resource.RLIMIT_AS, "as", most * _MIB)
    trial.interpreter_fails = True
    trial.note(f"ulimit -v {most} MiB")


KINDS = (
    Kind("file-size", "files may not grow beyond 4 KiB to 1 MiB", prepare=_file_size),
    Kind("descriptors", "12 to 64 descriptors per process", prepare=_descriptors),
    Kind("memory", "30 to 1000 MiB of memory per process", prepare=_memory),
)
