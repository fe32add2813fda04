# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A trial that breaks every promise itself: the judge has to see it."""

from __future__ import annotations

import subprocess

from trial import Trial

from kinds.kind import Kind


def _tamper(trial: Trial) -> None:
    """Shorten the streams, leave a process and a file, and change what the program printed."""
    for stream in (trial.output / "trace").rglob("ust_*"):
        if stream.suffix != ".idx":
            with stream.open("r+b") as file:
                file.truncate(stream.stat().st_size // 2 + 1)
    subprocess.Popen(["sleep", "60"])
    (trial.place / "tmp/forgotten").touch()
    with (trial.place / "out").open("a") as printed:
        printed.write("more\n")


TAMPERED = Kind("tampered", "every promise is broken", tamper=_tamper)
