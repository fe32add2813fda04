# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Publications of rclpy begin where publish() was entered, whatever is published from where."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from chain_truth import check_sums, clock_offset_ns, ns, of_topic
from recorder import Recorder

PROGRAM = Path(__file__).parent / "programs/publishes.py"
MESSAGES = 20

pytestmark = pytest.mark.live


@pytest.mark.parametrize("distro", ["jazzy", "kilted"])
def test_client_publish_holds_the_conversion(
    recorded: Recorder, tmp_path: Path, distro: str
) -> None:
    said = tmp_path / "said.json"
    line = ["sh", "-c", f'python3 "$0" {MESSAGES} > "{said}"', str(PROGRAM)]
    session, analysis = recorded.run(line, distro=distro)
    check_sums(analysis)
    assert not analysis.quality["severity"].isin(["loss"]).any()
    entered = {topic: np.asarray(at) for topic, at in json.loads(said.read_text()).items()}
    # Of /raised every third publish() sent something.
    entered["/raised"] = entered["/raised"][2::3]
    for topic, at in entered.items():
        hop = of_topic(analysis, topic)
        assert len(hop) >= MESSAGES
        late = ns(hop["publish_ns"]) - clock_offset_ns(session) - at
        assert (late > 0).all(), topic
        assert np.median(late) < 100_000, topic
    # A thousand parameters are converted: some 900 us on a fast machine.
    converted = {
        topic: of_topic(analysis, topic)["client_publish_ns"].median() for topic in entered
    }
    for topic in ("/nested", "/thread"):
        assert converted[topic] > 10 * converted["/raw"] > 0, converted
    uses = analysis.event_uses
    uses = uses[uses["event"] == "ros2:rclcpp_publish"].set_index("use")["count"]
    assert uses["rclpy's publish() raised, nothing was sent"] == 2 * len(entered["/raised"])
    assert "unexplained" not in uses.index
