# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a session records around announcements, whatever its configuration lists."""

from __future__ import annotations

import pytest

from strata.record.session import with_statedumps

DUMPS = "ros2_statedump:*"


@pytest.mark.parametrize(
    ("events", "added"),
    [
        (["ros2:*"], [DUMPS]),
        (["dds:create_writer"], [DUMPS]),
        (["driver:*"], [DUMPS]),
        (["ros2:*", DUMPS], []),
        (["ros2:*", "ros2_statedump:dump_begin"], []),
        (["*"], []),
        (["rclpy:*"], []),
        (["mine:*"], []),
    ],
)
def test_dumps_are_recorded_where_announcements_are(events: list[str], added: list[str]) -> None:
    assert with_statedumps(events) == [*events, *added]
