# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Blocks of the guides that record are run as a reader runs them, in a directory of the reader's.

What the pages on moving over, the tutorial and the how-to pages record is run by other tests, and
blocks that only read by cli/test_commands_of_pages.py.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from lttng_world import ROOT, World, any_domain
from page_commands import commands

pytestmark = pytest.mark.live

RECORDING = re.compile(
    r"^ *((\.venv/bin/)?strata (record|run|campaign run) |python3 -m relay_chain )", re.MULTILINE
)
FOLLOWED = ("docs/tutorial.md", "docs/how-to/", "docs/from-")
NOT_RUN = {
    "docs/campaigns-coverage.md": "NAME and STUDY are names that the reader chooses",
    "docs/importing.md": "its files are other tools' results (campaign/test_import*.py)",
    "trace_configs/campaigns/README.md": "a campaign, as on docs/campaigns.md",
}
# Of a campaign one cell is run, of a lidar five seconds, and nothing of other tools is imported.
# What goes into sessions/ of the checkout goes elsewhere.
CHANGED = [
    (r"(strata run (?!.* -o )[^#\n]*?)( *#.*)?$", r"\1 --force -o sessions/run"),
    (r"(strata run lidar_\w+)", r"\1 --duration 5s"),
    (r"(campaign run relay --quick -o \S+)( .*)?$", r"\1 --only hops/10"),
    (r"^make setup .*", ""),
    (r"^.* campaign import .*$", ""),
    (r"\bDIR\b", "made"),
    (r"(\.venv/bin/|^ *)strata ", f"{sys.executable} -m strata "),
]
NODE = """
import rclpy
from rclpy.node import Node
from std_msgs.msg import String

rclpy.init()
node = Node("mine")
node.create_subscription(String, "topic", lambda message: None, 10)
publisher = node.create_publisher(String, "topic", 10)
node.create_timer(0.01, lambda: publisher.publish(String(data="hello")))
for _ in range(100):
    rclpy.spin_once(node)
"""

PAGES = [
    ROOT / "README.md",
    *(
        page
        for place in ("docs", "launch", "trace_configs", "tracing_ws")
        for page in sorted((ROOT / place).rglob("*.md"))
        if not {"install", "build"} & set(page.relative_to(ROOT).parts)
    ),
]
BLOCKS = [
    pytest.param(block.command, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    if not page.relative_to(ROOT).as_posix().startswith((*FOLLOWED, *NOT_RUN))
    for number, block in enumerate(commands.blocks(page))
    if RECORDING.search(block.command) and commands.can_run(block)
]


def _needs_root(command: str) -> bool:
    return any(word in command for word in ("two_hosts", "network.link", "priority:"))


@pytest.mark.parametrize("command", BLOCKS)
def test_a_block_records(command: str, world: World, tmp_path: Path) -> None:
    if _needs_root(command) and os.geteuid() != 0:
        pytest.skip("only root may do it")
    (tmp_path / "my_node.py").write_text(NODE)
    chain = (ROOT / "trace_configs/scenarios/relay_chain.yaml").read_text()
    (tmp_path / "my.yaml").write_text(chain)
    for written, run in CHANGED:
        command = re.sub(written, run, command, flags=re.MULTILINE)
    environment = {**world.environment, "COLUMNS": "80", "ROS_DOMAIN_ID": any_domain()}
    # A reader has not set it, and profiles that set it themselves refuse it.
    environment.pop("ROS_AUTOMATIC_DISCOVERY_RANGE")
    if "sessions/other" in command:  # an earlier recording of the same program
        earlier = f"{sys.executable} -m strata record -o sessions/other -- python3 my_node.py"
        command = f"{earlier}\n{command}"
    line = f"cd {tmp_path}\nset -x\n{command}"
    done = world.run("bash", "-euo", "pipefail", "-c", line, env=environment, timeout_s=500)
    assert done.returncode == 0, done.stderr[-4000:]


def test_the_guides_have_blocks_that_record() -> None:
    assert len(BLOCKS) >= 6
    assert all((ROOT / page).exists() for page in NOT_RUN)
