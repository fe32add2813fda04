# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs programs and writes how each ended: each.py PROGRAMS.json RESULTS.json.

PROGRAMS is a list of kinds, each a list of `[name, command, directory]`, which run one after the
other; some kinds wait for seconds, so several run beside each other. RESULTS is an object of
`{"status", "out"}` by name; `status` is negative for the signal that ended a program, null when it
had not ended in time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_LIMIT_S = 60.0
_BESIDE = 4


def _run(command: list[str], directory: str) -> dict[str, object]:
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return {"status": None, "out": (error.stdout or b"").decode(errors="replace")}
    return {"status": done.returncode, "out": done.stdout.decode(errors="replace")}


def _run_kind(kind: list[tuple[str, list[str], str]]) -> dict[str, dict[str, object]]:
    return {name: _run(command, directory) for name, command, directory in kind}


def main() -> None:
    """Run them."""
    programs, results = (Path(path) for path in sys.argv[1:])
    with ThreadPoolExecutor(_BESIDE) as beside:
        kinds = list(beside.map(_run_kind, json.loads(programs.read_text())))
    results.write_text(json.dumps({name: ended for kind in kinds for name, ended in kind.items()}))


if __name__ == "__main__":
    main()
