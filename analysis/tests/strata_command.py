# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The `strata` command as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

STRATA = (sys.executable, "-m", "strata")


def strata(
    *arguments: str | Path, columns: int = 80, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*STRATA, *map(os.fsencode, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=cwd,
        env={**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1"},
    )
