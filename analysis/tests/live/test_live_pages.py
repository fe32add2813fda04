# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of the tutorial and of the how-to pages work as the pages say, in their order."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from lttng_world import ROOT, World, any_domain
from page_commands import commands

pytestmark = pytest.mark.live

DOCS = ROOT / "docs"
TUTORIAL = DOCS / "tutorial.md"
HOW_TO = sorted(path for path in (DOCS / "how-to").glob("*.md") if path.stem != "index")
# What the answer on each page has to name, whatever the figures: in the outputs of its commands.
NAMED = {
    "tutorial": [
        r"BOTTLENECK messages wait .* for the executor of /(brake|detector) and /",
        r"executor wait /brake .*behind __main__\.",
        r"B is [\d.]+ ms faster at the median from /sensors to /brake, .*executor wait of /brake",
    ],
    "executor-wait": [
        r"BOTTLENECK .*messages wait .* for the executor of /relay_1",
        r"behind relay_chain\. .*node\.ChainNode\.on_slow",
    ],
    "resends": [
        r"dds receive: resends of /chain_[01]",
        r"/chain_0 +100 +[1-9]",
        r"B is [\d.]+ ms faster at the median, .*dds receive",
        r"/chain_0 +0 /chain_1 +0",
    ],
    # On a fast machine the queue grows so slowly that nothing is dropped.
    "driver-queue": [r"driver queue of UDP port 7502", r"falling behind: the latency grows by"],
    "wake-up": [r"wake-up of /", r"/chatter: wake-up .* -[\d.]+ ms"],
}

# Where no sentence says that the cure worked: a number before and after it, in any unit.
MEASURED = {
    "driver-queue": r"queue_p50_ms +queue_max_ms\n +([\d.]+)()",
    "executor-wait": r"^[AB] +\d+ +\d+ .* ([\d.]+) (us|ms) *$",
}
IN_MS = {"": 1.0, "us": 1e-3, "ms": 1.0}


def _follow(page: Path, world: World, sessions: Path) -> list[str]:
    """Run the commands of a page in an LTTng world, its sessions elsewhere; return the outputs.

    `make setup` is left out: it is what made this test run.
    """
    printed = []
    for block in commands.blocks(page):
        if block.command == "make setup" or not commands.can_run(block):
            continue
        command = re.sub(r"\bsessions/", f"{sessions}/", block.command)
        command = command.replace(".venv/bin/strata", f"{sys.executable} -m strata")
        environment = {**world.environment, "COLUMNS": "80", "ROS_DOMAIN_ID": any_domain()}
        # A reader has not set it, and profiles that set it themselves refuse it.
        environment.pop("ROS_AUTOMATIC_DISCOVERY_RANGE")
        # Whatever enters the world's namespace also leaves the working directory.
        line = f"cd {ROOT}\n{command}"
        done = world.run("bash", "-euo", "pipefail", "-c", line, env=environment)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        if block.output is not None:
            printed.append(done.stdout)
    return printed


def _joined(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("page", [TUTORIAL, *HOW_TO], ids=lambda page: page.stem)
def test_a_page_shows_what_its_commands_print(page: Path, world: World, tmp_path: Path) -> None:
    printed = "\n".join(_follow(page, world, tmp_path))
    shown = "\n".join(block.output or "" for block in commands.blocks(page))
    for named in NAMED[page.stem]:
        assert re.search(named, _joined(shown)), f"the page does not show {named}"
        assert re.search(named, _joined(printed)), f"the commands do not print {named}:\n{printed}"
    for text in (shown, printed):
        if page.stem in MEASURED:
            found = re.findall(MEASURED[page.stem], text, re.MULTILINE)[:2]
            before, after = (float(number) * IN_MS[unit] for number, unit in found)
            assert after < before / 2, text


def test_commands_for_contributors_run() -> None:
    found = commands.blocks(DOCS / "CONTRIBUTING.md")
    assert found
    for block in filter(commands.can_run, found):
        commands.run(block.command)


def test_the_page_is_changed_only_where_it_shows_an_output(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = (
        "# A\n\n```sh\necho 1; echo '2  '\n```\n\n```output\nold\n```\n\n```sh\ntrue\n```\n\nend\n"
    )
    page.write_text(text)
    subprocess.run(
        [sys.executable, DOCS / "site/commands.py", "--update", page], check=True, stdout=-3
    )
    assert page.read_text() == text.replace("old", "1\n2")


def test_a_block_that_needs_ros_is_marked(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{commands.NEEDS_ROS}\n\n```sh\nros2 topic list\n```\n\n```sh\ntrue\n```\n")
    assert [block.needs_ros for block in commands.blocks(page)] == [True, False]


def test_a_block_that_nobody_runs_says_why(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- not run: takes hours -->\n\n```sh\nfalse\n```\n\n```sh\ntrue\n```\n")
    marked, other = commands.blocks(page)
    assert (marked.not_run, marked.needs_ros, commands.can_run(marked)) == (
        "takes hours",
        False,
        False,
    )
    assert other.not_run is None and commands.can_run(other)


def test_a_command_that_fails_ends_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\nfalse\n```\n")
    failed = subprocess.run([sys.executable, DOCS / "site/commands.py", page], capture_output=True)
    assert failed.returncode != 0
