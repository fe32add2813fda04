# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Run the commands of a page in their order, as a reader would; show or keep what they print.

usage: python3 docs/site/commands.py [--update] PAGE

Commands are the blocks fenced as `sh`; what one prints is in the block fenced as `output` that
follows it. With --update these blocks are replaced by what is printed now. A block after the line
`<!-- needs ROS 2 installed -->` runs only where /opt/ros has an installation, one after
`<!-- not run: REASON -->` nowhere.

Only the standard library is used: it runs before anything is set up.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEEDS_ROS = "<!-- needs ROS 2 installed -->"
NOT_RUN = r"<!-- not run: (?P<reason>[^>]*) -->"
_BLOCK = re.compile(
    rf"(?P<mark>(?:(?P<ros>{re.escape(NEEDS_ROS)})|{NOT_RUN})\n+)?"
    r"^```sh\n(?P<command>.*?)^```$(?:\n\n^```output\n(?P<output>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """Commands of a page and what the page shows of their output; null when it shows none.

    `not_run` is the page's reason for which nobody runs them but a reader.
    """

    command: str
    output: str | None
    needs_ros: bool
    not_run: str | None


def blocks(page: Path) -> list[Block]:
    """Return the commands of a page in their order."""
    return [
        Block(hit["command"].strip(), hit["output"], hit["ros"] is not None, hit["reason"])
        for hit in _BLOCK.finditer(page.read_text())
    ]


def can_run(block: Block) -> bool:
    """Return whether a block is run, and this machine has what it needs."""
    has_ros = any(Path("/opt/ros").glob("*/setup.bash"))
    return block.not_run is None and (not block.needs_ros or has_ros)


def run(command: str, timeout_s: float = 1200) -> str:
    """Run a block in the root of the repository and return what it prints to stdout.

    Raises CalledProcessError when a command of it fails.
    """
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=timeout_s,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.rstrip().splitlines())


def _follow(page: Path) -> dict[str, str]:
    """Run and show every block that can run; return what each printed."""
    printed = {}
    for block in filter(can_run, blocks(page)):
        print(f"$ {block.command}", flush=True)
        begin = time.monotonic()
        printed[block.command] = run(block.command)
        print(f"{printed[block.command]}# {time.monotonic() - begin:.0f} s\n", flush=True)
    return printed


def _updated(text: str, printed: dict[str, str]) -> str:
    def replace(hit: re.Match[str]) -> str:
        command = hit["command"].strip()
        if hit["output"] is None or command not in printed:
            return hit.group(0)
        head = (hit["mark"] or "") + f"```sh\n{hit['command']}```"
        return f"{head}\n\n```output\n{printed[command]}```"

    return _BLOCK.sub(replace, text)


def main() -> None:
    """Follow a page."""
    update = "--update" in sys.argv[1:]
    (page,) = (Path(argument) for argument in sys.argv[1:] if argument != "--update")
    printed = _follow(page)
    if update:
        page.write_text(_updated(page.read_text(), printed))


if __name__ == "__main__":
    main()
