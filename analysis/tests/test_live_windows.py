# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of a recording follow each other without a gap, however far each looks back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.errors import LiveError
from strata.live.followed import FollowedSession, Packet, Received
from strata.live.viewer import Stream, Viewer
from strata.live.windows import EVERY_NS, MOST_BACK_NS, Cuts

START_NS = 1_800_000_000_000_000_000
LEAST_SEEN_NS = 400_000_000
"""Of a publication a window sees at least so much before, where its readers were heard."""


@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=30), st.integers(0, 5_000_000_000))
def test_all_time_is_judged_once_within_what_a_window_has(
    rates: list[float], least_back_ns: int
) -> None:
    cuts = Cuts(least_back_ns)
    cuts.begin(START_NS)
    windows = []
    for number, rate in enumerate(rates, 1):
        last = number == len(rates)
        windows.append(cuts.cut(Path(), START_NS + number * EVERY_NS, last=last))
        cuts.follow(rate)
    counted, lost_ns = START_NS - 1, START_NS - 1
    for window in windows:
        assert (window.since_ns, window.lost_ns[0]) == (counted, lost_ns)
        counted, lost_ns = window.until_ns, window.lost_ns[1]
        assert window.begin_ns is not None
        assert window.begin_ns <= window.since_ns
        if window.lost_ns[0] < window.lost_ns[1]:
            assert window.begin_ns <= window.lost_ns[0] - LEAST_SEEN_NS
        assert window.since_ns - window.begin_ns <= max(least_back_ns, MOST_BACK_NS) + EVERY_NS
    assert counted == lost_ns == windows[-1].until_ns


@pytest.mark.parametrize("name", ["../../mine", "metadata", "", ".", "a/b"])
def test_a_name_of_the_network_is_no_path(tmp_path: Path, name: str) -> None:
    """What a relay daemon calls a channel does not say where a file is written."""
    mine = tmp_path / "mine"
    mine.write_text("mine")
    session = FollowedSession.__new__(FollowedSession)
    for absolute in (name, str(mine)):
        stream = Stream(7, 1, False, "", absolute)
        received = Received(stream)
        received.packets.append(Packet(1, 2, b"content"))
        session.metadata, session.streams = {1: b"metadata"}, {7: received}
        place = tmp_path / "window"
        assert session.write(place / "deep", 0, 9)
        files = {path.name: path.read_bytes() for path in place.rglob("*") if path.is_file()}
        assert files == {"metadata": b"metadata", "stream-7": b"content"}
    assert mine.read_text() == "mine"


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(LiveError, match="Cannot reach lttng-relayd"):
        Viewer.connect("a..b", 1)
