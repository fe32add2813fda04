# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A fragment that was slow, not lost: it is sent again, and both copies arrive."""

from __future__ import annotations

import pytest
from scene import Scene

from strata.layers.transfers import cut_layers
from strata.schema.layers import DDS_RECEIVE, TRANSPORT

# The writer is told too early that fragment 2 is missing.
SENT = """
    100 1.1 rmw_publish /t 100
    102 1.1 write_begin
    118 1.1 writer_history_add sample=A5 stamp=100
    130 1.1 send_begin sample=A5 stamp=100 transport=1 fragment=1 fragment_count=1
    132 1.1 send_end transport=1 port=7411
    134 1.1 send_begin sample=A5 stamp=100 transport=1 fragment=2 fragment_count=1
    136 1.1 send_end transport=1 port=7411
    140 1.1 write_end
    160 1.7 send_begin sample=A5 transport=1 fragment=2 fragment_count=1
    162 1.7 send_end transport=1 port=7411
"""
TAKEN = """
     50 2.2 wait
    150 2.9 receive sample=A5 stamp=100 transport=1 fragment=1 fragment_count=1
    180 2.9 receive sample=A5 stamp=100 transport=1 fragment=2 fragment_count=1
    190 2.9 reader_notify sample=A5 reader=R
    210 2.2 ready
    240 2.2 execute on_t
    245 2.2 take_begin reader=R
    260 2.2 take_end reader=R sample=A5 stamp=100 taken=1
    265 2.2 rmw_take on_t 100
"""


@pytest.mark.parametrize(
    ("second_copy", "transport", "dds_receive", "recovered"),
    [
        ("205 2.9 receive sample=A5 transport=1 fragment=2 fragment_count=1", 50, 10, 0),
        # One copy of two: the first was lost.
        ("", 20, 40, 1),
    ],
)
def test_what_came_late_is_transport_when_every_copy_came(
    second_copy: str, transport: int, dds_receive: int, recovered: int
) -> None:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.subscription("/t", node="/sink", pid=2, symbol="on_t")
    made.reader("R", pid=2)
    for lines in (SENT, TAKEN, second_copy):
        made.play(lines)
    transfers, _ = cut_layers(made.model())
    assert transfers.durations[TRANSPORT.column].tolist() == [transport]
    assert transfers.durations[DDS_RECEIVE.column].tolist() == [dds_receive]
    assert transfers.passage.recovered_fragments.tolist() == [recovered]
    assert transfers.passage.resend_ns.tolist() == [30 if recovered else -1]
