# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Commands that are suggested to the user, as they can be pasted into the same shell."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

_NAME = "strata"


def suggested(verb: str, path: Path) -> str:
    """Return the command of a verb on a path, relative to the working directory if shorter."""
    relative = os.path.relpath(path)
    place = min((relative, str(path.absolute())), key=len)
    return f"{_program()} {verb} {shlex.quote(place)}"


def _program() -> str:
    """Return what the user typed for Strata where the shell would not find it by its name."""
    typed = sys.argv[0]
    if Path(typed).name != _NAME:
        return _NAME
    found = shutil.which(_NAME)
    if found is not None and Path(found).resolve() == Path(typed).resolve():
        return _NAME
    return shlex.quote(typed)
