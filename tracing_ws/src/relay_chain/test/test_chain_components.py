# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes in C++ as components of an ordinary container."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from chain_process import JAZZY, check_line, finish, free_domain, needs_rclcpp, read_until, truth

_CONTAINER = 'exec "$(python3 -c "$1")/lib/rclcpp_components/component_container"'
_PREFIX = "from ament_index_python import *; print(get_package_prefix('rclcpp_components'))"
LOADER = Path(__file__).parent / "programs/load_components.py"


@needs_rclcpp
def test_a_container_runs_the_chain_intra_process(tmp_path: Path) -> None:
    domain = free_domain()
    container = JAZZY.start("bash", "-c", _CONTAINER, "bash", _PREFIX, domain=domain)
    try:
        loader = JAZZY.start("python3", LOADER, "20", tmp_path, domain=domain)
        status, errors = finish(loader)
        assert status == 0, errors
        read_until(container, "sink: done")
    finally:
        os.kill(container.pid, signal.SIGINT)
        status, errors = finish(container)
    assert status == 0, errors
    nodes = truth(tmp_path)
    assert set(nodes) == {"source", "relay_0", "sink"}
    check_line(nodes, ["source", "relay_0", "sink"], 20)
    assert {row.pid for rows in nodes.values() for row in rows} == {container.pid}
