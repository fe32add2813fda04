# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles the native programs of these tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
_STANDARD = {"gcc": ["-std=c11", "-D_GNU_SOURCE"], "g++": ["-std=c++17"]}


def compiled(output: Path, *arguments: str | Path, compiler: str = "g++") -> Path:
    """Compile C or C++ with warnings as errors."""
    warnings = ["-Wall", "-Wextra", "-Werror"]
    line = [compiler, *_STANDARD[compiler], "-O2", "-g", *warnings, "-o", output, *arguments]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return output
