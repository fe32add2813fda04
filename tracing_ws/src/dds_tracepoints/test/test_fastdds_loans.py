# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A loaned message is the value itself: nothing is looked for behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
from dds_events import Program, read, run
from traced_ros import Lttng, Ros
from wheels import built, hooked, line

pytestmark = pytest.mark.live
DOMAIN = "74"
MESSAGES = 5


@pytest.mark.parametrize("distro", ["jazzy", "kilted"])
def test_the_events_have_the_addresses_of_the_loans(lttng: Lttng, distro: str, tmp_path: Path):
    ros = Ros(distro)
    library = built(ros, "loan.c", tmp_path)
    session, output = lttng.start("ros2:*,dds:*")
    try:
        program = Program(line(ros, library, str(MESSAGES)), hooked(ros, DOMAIN))
        (ended,) = run([program], lttng)
    finally:
        lttng.stop(session)
    assert ended.err == ""
    sent, taken = zip(*(map(int, row.split()) for row in ended.out.splitlines()), strict=True)
    events = list(read(output))
    (writer,) = {e["writer"] for e in events if e.name == "create_writer" and _is_ours(e)}
    (reader,) = {e["reader"] for e in events if e.name == "create_reader" and _is_ours(e)}
    written = [e["data"] for e in events if e.name == "write_begin" and e["writer"] == writer]
    read_ = [e for e in events if e.name == "take_end" and e["reader"] == reader and e["taken"]]
    assert written == list(sent)
    assert [event["buffer"] for event in read_] == list(taken)
    assert [event["sequence_number"] for event in read_] == list(range(1, MESSAGES + 1))
    published = [e["message"] for e in events if e.name == "ros2:rmw_publish"]
    assert [address for address in published if address in sent] == list(sent)


def _is_ours(created) -> bool:
    return created["topic_name"] == "rt/loan"
