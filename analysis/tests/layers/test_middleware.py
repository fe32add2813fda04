# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers within the middleware, from the events of the provider `dds`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from intra_scene import IntraScene
from scene import BASE, Scene, guid

from strata.layers.blockers import find_blockers
from strata.layers.transfers import Transfers, cut_layers
from strata.model.build import Model
from strata.schema.layers import HOP_LAYERS
from strata.schema.quality import Findings

WRITE = """
     99 1.1 rcl_publish /t
    100 1.1 rmw_publish /t 100
    102 1.1 write_begin
    110 1.1 serialize_begin
    115 1.1 serialize_end size=40
    118 1.1 writer_history_add sample=A5 stamp=100
    130 1.1 send_begin sample=A5 stamp=100 transport=1
    150 1.1 send_end transport=1 port=7411
    155 1.1 write_end
"""
ARRIVAL = """
    170 2.9 receive sample=A5 stamp=100 transport=1
    180 2.9 reader_history_add sample=A5 stamp=100
    190 2.9 reader_notify sample=A5 reader=R
"""
TAKE = """
     50 2.2 wait
    210 2.2 ready
    240 2.2 execute on_t
    245 2.2 take_begin reader=R
    250 2.2 deserialize_begin
    258 2.2 deserialize_end
    260 2.2 take_end reader=R sample=A5 stamp=100 taken=1
    265 2.2 rmw_take on_t 100
    270 2.2 callback_start on_t
    300 2.2 callback_end on_t
"""
FULL = {
    "client publish": 1,
    "dds write": 10 + 15,
    "serialize": 5,
    "transport": 40,
    "dds receive": 20,
    "wake-up": 20,
    "executor wait": 30,
    "take": 25,
    "client take": 5,
    "callback": 30,
}


def scene(*lines: str) -> Scene:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.subscription("/t", node="/sink", pid=2, symbol="on_t")
    made.reader("R", pid=2)
    for text in lines:
        made.play(text)
    return made


def cut(made: Scene) -> tuple[Model, Transfers, Findings]:
    """The model, its transfers, and what was found wrong with either."""
    model = made.model()
    transfers, findings = cut_layers(model)
    for index, row in enumerate(rows(transfers)):
        assert sum(row.values()) == transfers.latency_ns[index]
        assert min(row.values()) >= 0
        assert -1 <= transfers.passage.resend_ns[index] <= row.get("dds receive", -1)
    return model, transfers, model.findings + findings


def rows(transfers: Transfers) -> list[dict[str, int]]:
    return [
        {
            layer.name: int(transfers.durations[layer.column][index])
            for layer in HOP_LAYERS
            if transfers.durations[layer.column][index] != -1
        }
        for index in range(len(transfers))
    ]


def only(*lines: str) -> tuple[dict[str, int], Transfers, Findings]:
    _, transfers, findings = cut(scene(*lines))
    (row,) = rows(transfers)
    return row, transfers, findings


def without(text: str, *events: str) -> str:
    kept = [line for line in text.splitlines() if not any(event in line for event in events)]
    return "\n".join(kept)


def test_a_message_that_was_seen_everywhere_has_every_layer() -> None:
    row, transfers, findings = only(WRITE, ARRIVAL, TAKE)
    assert row == FULL
    passage = transfers.passage
    assert passage.deserialize_ns.tolist() == [8]
    assert passage.fragments.tolist() == [1]
    assert passage.recovered_fragments.tolist() == [0]
    assert passage.resend_ns.tolist() == [-1]
    assert passage.transport.texts().tolist() == ["UDPv4"]
    assert (passage.notified_ns - BASE).tolist() == [190]
    assert findings.counts == {}


BESIDE = """
     10 2.2 callback_start on_u
     12 2.2 callback_end on_u
     14 2.3 callback_start on_u
     16 2.3 callback_end on_u
     20 2.3 wait
     30 2.3 ready
"""
"""A second thread of the executor: both ran one callback."""


@pytest.mark.parametrize(
    ("beside", "wake_up"),
    [
        pytest.param("", 20, id="busy"),
        pytest.param("    215 2.3 wait\n    400 2.3 ready", 20, id="waits once it was found"),
        pytest.param("    200 2.3 wait\n    400 2.3 ready", 20, id="waits before, too"),
    ],
)
def test_a_thread_that_waits_once_another_found_the_message_does_not_wait_for_it(
    beside: str, wake_up: int
) -> None:
    made = scene()
    made.subscription("/u", node="/sink", pid=2, symbol="on_u")
    for lines in (BESIDE, WRITE, ARRIVAL, TAKE, beside):
        made.play(lines)
    model, transfers, _ = cut(made)
    assert model.executors.threads.tolist() == [2]
    (row,) = rows(transfers)
    assert row == {**FULL, "wake-up": wake_up, "executor wait": 50 - wake_up}
    assert (transfers.found_ns - BASE).tolist() == [210 if beside else 240]


def test_what_a_thread_found_after_other_work_is_not_known() -> None:
    """It came back from its wait for on_u, which it ran first: then the other one's wait counts.

    Not while on_u ran, which keeps on_t from being picked.
    """
    made = scene()
    made.subscription("/u", node="/sink", pid=2, symbol="on_u")
    ran = "    220 2.2 callback_start on_u\n    225 2.2 callback_end on_u\n    235 2.2 ready"
    for lines in (BESIDE, WRITE, ARRIVAL, TAKE, ran, "    215 2.3 wait\n    400 2.3 ready"):
        made.play(lines)
    _, transfers, _ = cut(made)
    (row,) = rows(transfers)
    assert (row["wake-up"], row["executor wait"]) == (20 + 20, 10)


def test_without_events_of_the_middleware_it_is_one_layer_by_what_the_thread_did() -> None:
    row, _, findings = only(
        without(WRITE, "write", "serialize", "send"), without(TAKE, "take_", "deserialize")
    )
    assert row == {
        "client publish": 1,
        "middleware": 110,
        "executor wait": 30,
        "take": 25,
        "client take": 5,
        "callback": 30,
    }
    assert findings.counts == {}


@pytest.mark.parametrize(
    ("missing", "merged"),
    [
        (["serialize_"], {"serialize + dds write": 30}),
        (["send_"], {"serialize": 5, "dds write + transport": 65}),
        (["serialize_", "send_"], {"serialize + dds write + transport": 70}),
        (["receive", "reader_history"], {"serialize": 5, "transport + dds receive": 60}),
        (
            ["send_", "receive", "reader_history"],
            {"serialize": 5, "dds write + transport + dds receive": 85},
        ),
        (["serialize_", "send_", "receive", "reader_history"], {"middleware": 90}),
    ],
)
def test_a_missing_checkpoint_merges_its_neighbours(
    missing: list[str], merged: dict[str, int]
) -> None:
    row, _, findings = only(without(WRITE, *missing), without(ARRIVAL, *missing), TAKE)
    assert {name: ns for name, ns in row.items() if name in merged} == merged
    assert {name for name in row if " + " in name} == {name for name in merged if " + " in name}
    assert row["wake-up"] == 20
    assert findings.counts == {"messages_with_merged_dds_layers": 1}


def test_the_history_stands_in_for_a_receive_that_was_not_recorded() -> None:
    row, _, _ = only(WRITE, without(ARRIVAL, "receive"), TAKE)
    assert (row["transport"], row["dds receive"]) == (50, 10)


def test_without_notification_nothing_is_cut_and_it_is_counted() -> None:
    row, _, findings = only(WRITE, without(ARRIVAL, "reader_notify"), TAKE)
    assert row["middleware"] == 110
    assert findings.counts == {"messages_without_notification": 1}


def test_a_serialization_without_end_is_none() -> None:
    row, _, _ = only(without(WRITE, "serialize_end"), ARRIVAL, TAKE)
    assert row["serialize + dds write"] == 30


def test_a_busy_thread_makes_executor_wait_only_from_the_notification_on() -> None:
    busy = """
        160 2.2 callback_start on_other
        230 2.2 callback_end on_other
    """
    made = scene(WRITE, ARRIVAL, busy, without(TAKE, "wait", "ready"))
    made.subscription("/u", node="/sink", pid=2, symbol="on_other")
    made.play("10 2.2 wait\n20 2.2 ready")
    for line in made.rows["ros2:callback_start"]:
        line["callback"] = made.entities["on_other" if line["timestamp"] < BASE + 200 else "on_t"][
            "callback"
        ]
    for line in made.rows["ros2:callback_end"]:
        line["callback"] = made.entities["on_other" if line["timestamp"] < BASE + 250 else "on_t"][
            "callback"
        ]
    model, transfers, _ = cut(made)
    (row,) = rows(transfers)
    assert (row["transport"], row["wake-up"], row["executor wait"]) == (40, 0, 50)
    assert find_blockers(model, transfers).duration_ns.tolist() == [40]


def test_a_thread_without_events_of_an_executor_is_known_by_its_waits_in_the_middleware() -> None:
    waits = "50 2.2 wait_begin waitset=1\n208 2.2 wait_end waitset=1"
    row, _, _ = only(WRITE, ARRIVAL, without(TAKE, "wait", "ready"), waits)
    assert (row["wake-up"], row["executor wait"]) == (18, 32)


def test_a_take_that_did_not_wait_for_the_notification_ends_dds_receive() -> None:
    late = ARRIVAL.replace("190 2.9", "255 2.9")
    row, transfers, findings = only(WRITE, late, TAKE)
    assert (transfers.passage.notified_ns - BASE).tolist() == [245]
    assert row["dds receive"] == 75
    # It was picked before it was ready: for an older message.
    assert row["executor wait + take"] == 20
    assert "disordered_dds_checkpoints" not in findings.counts


def test_within_the_writers_process_the_handover_is_all_there_is() -> None:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.subscription("/t", node="/sink", pid=1, symbol="on_t")
    made.reader("R", pid=1)
    made.play(without(WRITE, "send_"))
    made.play("120 1.1 reader_history_add sample=A5 stamp=100")
    made.play("125 1.1 reader_notify sample=A5 reader=R")
    made.play(TAKE.replace("2.2", "1.3"))
    _, transfers, findings = cut(made)
    (row,) = rows(transfers)
    assert (row["dds write"], row["transport"], row["dds receive"]) == (15, 0, 5)
    assert transfers.passage.transport.texts().tolist() == ["intra-process"]
    assert findings.counts == {}


LENT = """
     50 1.1 serialize_begin
     55 1.1 serialize_end size=9
     99 1.1 rcl_publish /t
    100 1.1 rmw_publish /t 100
    102 1.1 write_begin
    118 1.1 writer_history_add sample=A5 stamp=100 size=64
    130 1.1 send_begin sample=A5 stamp=100 transport=1
    150 1.1 send_end transport=1 port=7411
    155 1.1 write_end
"""


def test_a_loaned_message_is_written_without_a_serialization() -> None:
    row, transfers, findings = only(LENT, ARRIVAL, TAKE)
    assert row == {**without_layers("serialize"), "dds write": 30}
    assert transfers.passage.size.tolist() == [64]
    assert transfers.passage.serialize_begin_ns.tolist() == [-1]
    assert findings.counts == {}


def test_a_loan_whose_send_was_not_recorded_has_no_serialization_in_the_merged_layer() -> None:
    row, _, findings = only(without(LENT, "send_"), ARRIVAL, TAKE)
    assert row["dds write + transport"] == 70
    assert findings.counts == {"messages_with_merged_dds_layers": 1}


def test_where_a_serialization_may_have_been_lost_nothing_is_taken_for_a_loan() -> None:
    made = scene(LENT, ARRIVAL, TAKE)
    window = np.asarray([BASE + 110], np.int64)
    model = made.model((window, window))
    transfers, _ = cut_layers(model)
    (row,) = rows(transfers)
    assert row["serialize + dds write"] == 30
    # Nor where no serialization of the process was ever seen: its hook may not bind.
    row, transfers, _ = only(without(LENT, " 50 ", " 55 "), ARRIVAL, TAKE)
    assert row["serialize + dds write"] == 30
    assert transfers.passage.size.tolist() == [64]


def without_layers(*names: str) -> dict[str, int]:
    return {name: ns for name, ns in FULL.items() if name not in names}


def test_a_message_within_its_process_has_nothing_of_the_copy_that_went_out() -> None:
    made = IntraScene()
    made.publisher("/t", node="/source", pid=1)
    made.ring("/t", node="/within", pid=1, symbol="on_own")
    made.subscription("/t", node="/sink", pid=2, symbol="on_t")
    made.reader("R", pid=2)
    made.play("""
        95 1.1 rclcpp_intra_publish /t
        96 1.1 enqueue on_own 0 1
        104 1.7 dequeue on_own 0 0
        105 1.7 callback_start on_own intra
        106 1.7 callback_end on_own
    """)
    made.play(WRITE + ARRIVAL + TAKE)
    _, transfers, findings = cut(made)
    assert findings.counts == {"messages_without_executor_events": 1} or findings.counts == {}
    within, outside = rows(transfers)
    assert "middleware" not in within
    assert sum(within.values()) == 106 - 95
    assert (outside["serialize"], outside["transport"], outside["dds receive"]) == (5, 40, 20)
    passage = transfers.passage
    for column in (passage.serialize_begin_ns, passage.sent_ns, passage.fragments, passage.size):
        assert column[0] == -1 != column[1]
    assert passage.transport.texts().tolist() == [None, "UDPv4"]


# Cyclone DDS over iceoryx: no sockets, so no numbers; only readers are told of.
SHARED_WRITE = """
     99 1.1 rcl_publish /t
    100 1.1 rmw_publish /t 100
    102 1.1 write_begin
    155 1.1 write_end
"""
SHARED_ARRIVAL = """
    180 2.9 reader_history_add sample=A0 stamp=100
    190 2.9 reader_notify sample=A0 reader=R
"""
SHARED_TAKE = TAKE.replace("A5", "A0")
UNCUT = {"middleware": 110, "executor wait": 30}


def test_a_sample_without_a_number_is_known_by_its_writer_and_stamp() -> None:
    row, transfers, findings = only(SHARED_WRITE, SHARED_ARRIVAL, SHARED_TAKE)
    assert row == {
        **without_layers("serialize", "dds write", "transport"),
        "serialize + dds write + transport": 80,
        "dds receive": 10,
    }
    assert findings.counts == {"messages_with_merged_dds_layers": 1}
    assert transfers.passage.transport.texts().tolist() == ["iceoryx"]


def test_within_a_process_a_sample_without_a_number_is_handed_over() -> None:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.subscription("/t", node="/sink", pid=1, symbol="on_t")
    made.reader("R", pid=1)
    made.play(without(WRITE, "send_", "writer_history"))
    made.play("120 1.1 reader_history_add sample=A0 stamp=100")
    made.play("125 1.1 reader_notify sample=A0 reader=R")
    made.play(SHARED_TAKE.replace("2.2", "1.3"))
    _, transfers, findings = cut(made)
    (row,) = rows(transfers)
    assert (row["dds write"], row["transport"], row["dds receive"]) == (15, 0, 5)
    assert transfers.passage.transport.texts().tolist() == ["intra-process"]
    assert findings.counts == {}


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("195 2.9 reader_notify sample=A0 reader=R", id="told twice"),
        pytest.param(
            """
            130 1.1 send_begin sample=A5 stamp=100 transport=1
            131 1.1 send_begin sample=A6 stamp=100 transport=1
            """,
            id="two numbers of one stamp",
        ),
    ],
)
def test_a_stamp_that_names_two_samples_names_none(lines: str) -> None:
    row, _, findings = only(SHARED_WRITE, SHARED_ARRIVAL, SHARED_TAKE, lines)
    assert row.items() >= UNCUT.items()
    assert findings.counts == {"messages_without_notification": 1}


def test_a_notification_is_of_what_its_thread_stored_of_that_writer_just_before() -> None:
    for other in ("185 2.9 reader_history_add sample=B0 stamp=101", ""):
        arrival = SHARED_ARRIVAL + other
        if not other:
            arrival = arrival.replace("190 2.9", "190 2.8")
        row, _, _ = only(SHARED_WRITE, arrival, SHARED_TAKE)
        assert row.items() >= UNCUT.items()


def test_a_sample_that_also_went_out_by_a_socket_is_one_sample() -> None:
    sent = """
        130 1.1 send_begin sample=A5 stamp=100 transport=1
        150 1.1 send_end transport=1 port=7411
    """
    model, transfers, findings = cut(scene(SHARED_WRITE + sent, SHARED_ARRIVAL, SHARED_TAKE))
    assert model.middleware.writes.sample.tolist() == model.middleware.reads.sample.tolist()
    assert model.middleware.samples.sequences(model.middleware.reads.sample).tolist() == [5]
    (row,) = rows(transfers)
    # It came to this reader by no socket: that send is not on its way.
    assert (row["serialize + dds write + transport"], row["dds receive"]) == (80, 10)
    assert transfers.passage.transport.texts().tolist() == ["iceoryx"]
    assert findings.counts == {"messages_with_merged_dds_layers": 1}


def test_samples_without_numbers_have_no_number_but_a_writer() -> None:
    model = scene(SHARED_WRITE, SHARED_ARRIVAL, SHARED_TAKE).model()
    samples, sample = model.middleware.samples, model.middleware.reads.sample
    assert samples.sequences(sample).tolist() == [-1]
    assert samples.writer_gids(sample).texts().tolist() == [guid("A").hex()]


def test_an_arrival_that_was_told_of_after_the_take_is_none() -> None:
    told = SHARED_ARRIVAL.replace("180 2.9", "280 2.9").replace("190 2.9", "290 2.9")
    row, transfers, findings = only(SHARED_WRITE, told, SHARED_TAKE)
    assert row["middleware"] == 145
    assert (transfers.passage.notified_ns - BASE).tolist() == [245]
    assert findings.counts == {"messages_with_merged_dds_layers": 1}


def test_shared_data_may_be_seen_before_the_reader_is_told() -> None:
    shared = WRITE.replace("transport=1", "transport=65536").replace("130 1.1", "175 1.1")
    shared = shared.replace("150 1.1", "178 1.1").replace("155 1.1", "179 1.1")
    arrival = without(ARRIVAL, "receive").replace("180 2.9", "170 2.9")
    row, transfers, _ = only(shared, arrival, TAKE)
    assert (row["dds write"], row["transport"], row["dds receive"]) == (65, 0, 20)
    assert transfers.passage.transport.texts().tolist() == ["data sharing"]


FRAGMENTS = """
    130 1.1 send_begin sample=A5 stamp=100 transport=1 fragment=1 fragment_count=1
    132 1.1 send_end transport=1 port=7411
    134 1.1 send_begin sample=A5 stamp=100 transport=1 fragment=2 fragment_count=1
    136 1.1 send_end transport=1 port=7411
    138 1.1 send_begin sample=A5 stamp=100 transport=1 fragment=3 fragment_count=1
    140 1.1 send_end transport=1 port=7411
"""


def fragments(arrivals: str, more: str = "") -> tuple[dict[str, int], Transfers, Findings]:
    notify = "190 2.9 reader_notify sample=A5 reader=R"
    return only(without(WRITE, "send_"), FRAGMENTS, more, arrivals, notify, TAKE)


def test_transport_goes_to_the_last_fragment() -> None:
    row, transfers, _ = fragments("""
        142 2.9 receive sample=A5 transport=1 fragment=2 fragment_count=2
        160 2.9 receive sample=A5 transport=1 fragment=1 fragment_count=1
    """)
    assert (row["transport"], row["dds receive"]) == (30, 30)
    assert transfers.passage.fragments.tolist() == [3]


def test_a_count_of_fragments_that_no_dds_sends_is_bounded() -> None:
    wrong = FRAGMENTS.replace("fragment=3 fragment_count=1", "fragment=3 fragment_count=65535")
    arrival = "160 2.9 receive sample=A5 transport=1 fragment=1 fragment_count=65535"
    notify = "190 2.9 reader_notify sample=A5 reader=R"
    row, transfers, findings = only(without(WRITE, "send_"), wrong, arrival, notify, TAKE)
    assert transfers.passage.fragments.tolist() == [2 + 256]
    assert row["transport"] >= 0
    assert findings.counts["impossible_fragments"] == 2


def test_so_is_the_number_of_a_fragment() -> None:
    arrival = f"160 2.9 receive sample=A5 transport=1 fragment={1 << 31} fragment_count=1"
    _, _, findings = fragments(arrival)
    assert findings.counts["impossible_fragments"] == 1


def test_a_buffer_may_have_as_many_fragments_as_are_looked_at() -> None:
    whole = "130 1.1 send_begin sample=A5 stamp=100 transport=1 fragment=1 fragment_count=256"
    arrival = "160 2.9 receive sample=A5 transport=1 fragment=1 fragment_count=256"
    notify = "190 2.9 reader_notify sample=A5 reader=R"
    _, transfers, findings = only(without(WRITE, "send_"), whole, arrival, notify, TAKE)
    assert transfers.passage.fragments.tolist() == [256]
    assert findings.counts == {}


def test_a_fragment_that_was_sent_again_belongs_to_dds_receive() -> None:
    resend = """
        170 1.7 send_begin sample=A5 transport=1 fragment=2 fragment_count=1
        172 1.7 send_end transport=1 port=7411
    """
    row, transfers, findings = fragments(
        """
        142 2.9 receive sample=A5 transport=1 fragment=1 fragment_count=1
        150 2.9 receive sample=A5 transport=1 fragment=3 fragment_count=1
        180 2.9 receive sample=A5 transport=1 fragment=2 fragment_count=1
        """,
        resend,
    )
    assert (row["transport"], row["dds receive"]) == (20, 40)
    assert transfers.passage.resend_ns.tolist() == [30]
    assert transfers.passage.recovered_fragments.tolist() == [1]
    assert findings.counts == {"resent_messages": 1}


def test_a_resend_that_was_not_needed_changes_nothing() -> None:
    resend = """
        170 1.7 send_begin sample=A5 transport=1 fragment=2 fragment_count=1
        172 1.7 send_end transport=1 port=7411
    """
    row, transfers, _ = fragments(
        """
        142 2.9 receive sample=A5 transport=1 fragment=1 fragment_count=3
        180 2.9 receive sample=A5 transport=1 fragment=2 fragment_count=1
        """,
        resend,
    )
    assert (row["transport"], row["dds receive"]) == (12, 48)
    assert transfers.passage.recovered_fragments.tolist() == [0]


def test_when_nothing_came_the_first_time_transport_ends_with_the_first_transmission() -> None:
    lost = """
        170 1.7 send_begin sample=A5 stamp=100 transport=1
        171 1.7 send_end transport=1 port=7411
    """
    arrival = ARRIVAL.replace("170 2.9", "175 2.9")
    row, transfers, _ = only(WRITE, lost, arrival, TAKE)
    assert (row["transport"], row["dds receive"]) == (20, 40)
    assert transfers.passage.resend_ns.tolist() == [25]


def test_the_same_fragment_to_another_destination_is_no_resend() -> None:
    other = """
        152 1.1 send_begin sample=A5 stamp=100 transport=1
        154 1.1 send_end transport=1 port=7413
    """
    row, transfers, findings = only(WRITE, other, ARRIVAL, TAKE)
    assert row == FULL
    assert transfers.passage.recovered_fragments.tolist() == [0]
    assert findings.counts == {}


def test_a_further_sample_in_a_buffer_has_its_time_and_place() -> None:
    write = WRITE.replace("sample=A5 stamp=100 transport=1", "sample=A4 transport=1")
    write += "\n 131 1.1 send_sample sample=A5 stamp=100"
    arrival = ARRIVAL.replace(
        "receive sample=A5 stamp=100 transport=1", "receive sample=A4 transport=1"
    )
    arrival += "\n 171 2.9 receive_sample sample=A5 stamp=100"
    row, transfers, _ = only(write, arrival, TAKE)
    assert row == FULL
    assert transfers.passage.transport.texts().tolist() == ["UDPv4"]


def test_every_reader_of_a_process_has_its_own_notification() -> None:
    second = TAKE.replace("2.2", "2.3").replace("reader=R", "reader=S").replace("on_t", "on_t_too")
    made = scene(WRITE, ARRIVAL, "200 2.9 reader_notify sample=A5 reader=S", TAKE)
    made.subscription("/t", node="/other", pid=2, symbol="on_t_too")
    made.reader("S", pid=2)
    made.play(second)
    _, transfers, _ = cut(made)
    assert (transfers.passage.notified_ns - BASE).tolist() == [190, 200]


def test_without_names_of_samples_in_takes_the_stamp_finds_them() -> None:
    nameless = TAKE.replace("sample=A5 ", "").replace("take_end reader=R", "take_end reader=9")
    row, _, _ = only(without(WRITE, "writer_history_add"), ARRIVAL, nameless)
    assert row == FULL


def test_checkpoints_against_the_order_of_time_are_dropped_and_counted() -> None:
    odd = ARRIVAL.replace("170 2.9", "120 2.9")
    row, _, findings = only(WRITE, odd, TAKE)
    assert row["transport + dds receive"] == 60
    assert findings.counts["disordered_dds_checkpoints"] == 1


def test_a_late_joiners_message_waited_in_history() -> None:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.play(WRITE)
    made.clock = 154
    made.reader("R", pid=2)
    made.subscription("/t", node="/sink", pid=2, symbol="on_t")
    made.play("165 1.7 send_begin sample=A5 stamp=100 transport=1\n166 1.7 send_end port=7413")
    made.play(ARRIVAL + TAKE)
    (row,) = rows(cut(made)[1])
    assert row["history"] == 65
    assert (row["transport"], row["dds receive"]) == (5, 20)
    assert "serialize" not in row
    assert "dds write" not in row
    _, transfers, findings = cut(made)
    assert transfers.passage.recovered_fragments.tolist() == [0]
    assert findings.counts == {"messages_from_history": 1}


def test_a_refused_send_over_tcp_is_no_resend() -> None:
    write = without(WRITE, "send_")
    write += """
        130 1.1 send_begin sample=A5 stamp=100 transport=4
        131 1.1 send_end transport=4 port=7411 destinations=1 result=-11
        140 1.1 send_begin sample=A5 stamp=100 transport=4
        150 1.1 send_end transport=4 port=7411 destinations=1 result=60
    """
    row, transfers, findings = only(write, ARRIVAL.replace("transport=1", "transport=4"), TAKE)
    assert (row["dds write"], row["transport"]) == (10 + 25, 30)
    assert transfers.passage.recovered_fragments.tolist() == [0]
    assert findings.counts == {"refused_sends": 1}


def test_a_resend_to_another_reader_recovers_nothing_here() -> None:
    write = without(WRITE, "send_")
    write += """
        130 1.1 send_begin sample=A5 stamp=100 transport=1
        131 1.1 send_end transport=1 port=7411
        132 1.1 send_begin sample=A5 stamp=100 transport=1
        133 1.1 send_end transport=1 port=7413
        160 1.7 send_begin sample=A5 stamp=100 transport=1
        161 1.7 send_end transport=1 port=7413
    """
    arrival = ARRIVAL.replace("transport=1", "transport=1 port=7411")
    row, transfers, _ = only(write, arrival, TAKE)
    assert (row["transport"], row["dds receive"]) == (40, 20)
    assert transfers.passage.resend_ns.tolist() == [-1]
    to_it = ARRIVAL.replace("transport=1", "transport=1 port=7413")
    _, transfers, _ = only(write, to_it, TAKE)
    assert transfers.passage.resend_ns.tolist() == [170 - 133]


def test_fragments_that_never_came_are_counted() -> None:
    lost = """
        142 2.9 receive sample=A5 transport=1 fragment=2 fragment_count=2
    """
    made = scene(without(WRITE, "send_"), FRAGMENTS, lost)
    assert cut(made)[2].counts["incomplete_samples"] == 1


def test_a_send_whose_end_is_not_known_is_never_a_resend() -> None:
    more = "135 1.1 send_begin sample=A5 stamp=100 transport=1"
    row, transfers, _ = only(without(WRITE, "send_end"), more, ARRIVAL, TAKE)
    assert row == FULL
    assert transfers.passage.recovered_fragments.tolist() == [0]


def test_the_transport_is_that_of_the_arrival() -> None:
    other = """
        120 1.1 send_begin sample=A5 stamp=100 transport=16
        121 1.1 send_end transport=16 destinations=1
    """
    _, transfers, _ = only(WRITE, other, ARRIVAL, TAKE)
    assert transfers.passage.transport.texts().tolist() == ["UDPv4"]


def test_two_participants_of_a_process_have_their_own_arrivals() -> None:
    other = """
        380 1.1 send_begin sample=A5 stamp=100 transport=1
        385 1.1 send_end transport=1 port=7413
        400 2.8 receive sample=A5 stamp=100 transport=1 port=7413
        410 2.8 reader_history_add sample=A5 stamp=100
        420 2.8 reader_notify sample=A5 reader=S
    """
    made = scene(WRITE, ARRIVAL.replace("transport=1", "transport=1 port=7411"), other, TAKE)
    made.subscription("/t", node="/other", pid=2, symbol="on_t_too")
    made.reader("S", pid=2)
    made.play("""
        450 2.3 take_begin reader=S
        455 2.3 take_end reader=S sample=A5 stamp=100 taken=1
        460 2.3 rmw_take on_t_too 100
    """)
    _, transfers, _ = cut(made)
    assert (transfers.passage.received_ns - BASE).tolist() == [170, 400]
    assert transfers.passage.recovered_fragments.tolist() == [0, 0]


def test_readers_of_a_process_that_were_not_made_known_share_a_notification_and_it_is_said() -> (
    None
):
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.subscription("/t", node="/sink", pid=2, symbol="on_t")
    made.play(WRITE + ARRIVAL + "200 2.9 reader_notify sample=A5 reader=S" + TAKE)
    assert cut(made)[2].counts == {"inferred_notifications": 1}


def test_a_take_that_began_before_the_arrival_is_ready_with_it() -> None:
    polling = TAKE.replace("245 2.2 take_begin", "150 2.2 take_begin").replace("wait", "wake_up")
    row, transfers, findings = only(WRITE, ARRIVAL, without(polling, "ready", "execute", "wake_up"))
    assert (transfers.passage.notified_ns - BASE).tolist() == [170]
    assert (row["transport"], row["dds receive"]) == (40, 0)
    assert "disordered_dds_checkpoints" not in findings.counts


def test_a_write_of_another_message_is_not_the_publications() -> None:
    # The publication's own write was lost; what follows is a service's answer.
    other = WRITE.replace("sample=A5 stamp=100", "sample=B9 stamp=107")
    own = "120 1.7 send_begin sample=A5 stamp=100 transport=1\n121 1.7 send_end port=7411"
    row, _, findings = only(other, own, ARRIVAL, TAKE)
    assert "serialize" not in row
    assert row["serialize + dds write"] == 20
    assert findings.counts == {"messages_with_merged_dds_layers": 1}


LINES = [line for text in (WRITE, ARRIVAL, TAKE) for line in text.splitlines() if line.strip()]


@given(
    st.lists(st.booleans(), min_size=len(LINES), max_size=len(LINES)),
    st.lists(st.integers(-40, 40), min_size=len(LINES), max_size=len(LINES)),
)
def test_whatever_is_missing_or_late_every_instant_has_one_layer(
    kept: list[bool], late: list[int]
) -> None:
    lines = []
    for line, keep, shift in zip(LINES, kept, late, strict=True):
        ns, rest = line.split(maxsplit=1)
        needed = "rmw_" in line
        if keep or needed:
            lines.append(f"{int(ns) + (0 if needed else shift)} {rest}")
    cut(scene("\n".join(lines)))
