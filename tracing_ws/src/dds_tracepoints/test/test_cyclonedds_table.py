# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""hooks.def says of Cyclone DDS what the hook library exports and what libddsc has."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from cyclone_peers import PYTHON, distribution
from dds_events import HOOKS, LIBRARY

ROW = re.compile(r'^HOOK\((\w+), (\w+), "libddsc", "(\w+)"\)$', re.MULTILINE)


def exported(library: Path) -> set[str]:
    line = ["nm", "-D", "--defined-only", "--format=just-symbols", str(library)]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def hooks(build: str) -> set[str]:
    return {symbol for _, builds, symbol in ROW.findall(HOOKS.read_text()) if build in builds}


def test_every_hook_has_its_row() -> None:
    own = {symbol for symbol in exported(LIBRARY) if symbol.startswith("dds")}

    assert own == hooks("0_10") | hooks("11")


def test_the_distribution_has_what_the_rows_of_0_10_say() -> None:
    assert hooks("0_10") <= exported(distribution())


def test_the_python_package_has_what_the_rows_of_11_say() -> None:
    libraries = PYTHON.parents[1] / "lib"
    (library,) = libraries.glob("python3*/site-packages/cyclonedds.libs/libddsc-*.so.11.*")

    assert hooks("11") <= exported(library)
