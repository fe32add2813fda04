# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How the user called Strata, so that commands which it suggests can be pasted."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

NAME = "strata"


def suggested(verb: str, path: Path) -> str:
    """Return the command of a verb on a path, relative to the working directory if shorter."""
    relative = os.path.relpath(path)
    place = min((relative, str(path.absolute())), key=len)
    return f"{shlex.quote(called_as())} {verb} {shlex.quote(place)}"


def called_as() -> str:
    """Return the program as the user wrote it: "strata", or ".venv/bin/strata" off the PATH."""
    called = sys.argv[0]
    if Path(called).name != NAME:
        return NAME
    found = shutil.which(NAME)
    on_path = found is not None and os.path.realpath(found) == os.path.realpath(called)
    return NAME if on_path else os.path.relpath(called) if _below_here(called) else called


def _below_here(path: str) -> bool:
    return not os.path.relpath(path).startswith("..")
