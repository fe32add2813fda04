# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Takes and publications: by topic and source timestamp, exactly."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from scene import Scene

from strata.model.build import Model
from strata.model.matching import EXACT, IDENTITY, INFERRED


def scene() -> Scene:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.publisher("/u", node="/source", pid=1)
    made.subscription("/t", node="/sink", pid=2, symbol="on_t")
    made.subscription("/t", node="/other", pid=3, symbol="on_t_too")
    made.subscription("/u", node="/sink", pid=2, symbol="on_u")
    return made


def pairs(model: Model) -> list[tuple[int, int]]:
    return list(zip(model.matches.publication.tolist(), model.matches.take.tolist(), strict=True))


def test_one_publication_may_be_taken_by_several() -> None:
    made = scene()
    made.play(
        """
        100 1.1 rcl_publish /t
        101 1.1 rmw_publish /t 100
        110 2.2 rmw_take on_t 100
        115 3.3 rmw_take on_t_too 100
        """
    )
    model = made.model()
    assert pairs(model) == [(0, 0), (0, 1)]
    assert model.findings.counts == {"takes_without_callback": 2}


def test_one_timestamp_on_two_topics_is_two_messages() -> None:
    made = scene()
    made.play(
        """
        100 1.1 rcl_publish /t
        101 1.1 rmw_publish /t 100
        102 1.4 rcl_publish /u
        103 1.4 rmw_publish /u 100
        110 2.2 rmw_take on_u 100
        111 2.2 rmw_take on_t 100
        """
    )
    model = made.model()
    assert pairs(model) == [(1, 0), (0, 1)]


def test_two_publications_that_cannot_be_told_apart_are_ambiguous() -> None:
    made = scene()
    made.publisher("/t", node="/twin", pid=4)
    made.play(
        """
        100 1.1 rcl_publish /source/t
        101 1.1 rmw_publish /source/t 100
        100 4.4 rcl_publish /twin/t
        102 4.4 rmw_publish /twin/t 100
        110 2.2 rmw_take on_t 100
        120 1.1 rcl_publish /source/t
        121 1.1 rmw_publish /source/t 120
        130 2.2 rmw_take on_t 120
        """
    )
    model = made.model()
    assert pairs(model) == [(2, 1)]
    assert model.matches.ambiguous_count == 1
    assert model.findings.counts["ambiguous_matches"] == 1
    assert model.findings.counts["untaken_publications"] == 2


def test_a_take_without_publication_and_the_reverse_are_counted() -> None:
    made = scene()
    made.play(
        """
        101 1.1 rcl_publish /t
        102 1.1 rmw_publish /t 100
        110 2.2 rmw_take on_t 99
        """
    )
    model = made.model()
    assert pairs(model) == []
    assert model.findings.counts["unmatched_takes"] == 1
    assert model.findings.counts["untaken_publications"] == 1


def test_empty_takes_and_graph_topics_are_no_messages() -> None:
    made = scene()
    made.play(
        """
        101 1.1 rmw_publish unknown 100      ros_discovery_info: no rcl publisher, no rcl_publish
        110 2.2 rmw_take on_t 0 empty
        111 2.2 rmw_take unknown 0           no source timestamp
        """
    )
    model = made.model()
    assert (len(model.publications), len(model.takes)) == (0, 0)
    assert model.findings.counts == {
        "graph_publications": 1,
        "empty_takes": 1,
        "takes_without_source_timestamp": 1,
    }


def test_without_init_events_the_timestamp_alone_decides_and_says_so() -> None:
    made = scene()
    made.play(
        """
        100 1.1 rcl_publish unknown
        101 1.1 rmw_publish unknown 100
        110 2.2 rmw_take on_t 100
        120 1.1 rcl_publish /t
        121 1.1 rmw_publish /t 120
        130 3.3 rmw_take unknown 120
        """
    )
    model = made.model()
    assert pairs(model) == [(0, 0), (1, 1)]
    assert model.matches.method.tolist() == [INFERRED, INFERRED]
    assert model.findings.counts["inferred_matches"] == 2


def test_a_message_taken_before_it_was_published_is_left_out() -> None:
    made = scene()
    made.play(
        """
        100 2.2 rmw_take on_t 100        the clocks of two hosts
        110 1.1 rcl_publish /t
        111 1.1 rmw_publish /t 100
        """
    )
    model = made.model()
    assert pairs(model) == []
    assert model.findings.counts["out_of_order_matches"] == 1
    assert model.matches.unmatched_take_count == 1


def test_a_handle_that_is_used_again_is_another_entity() -> None:
    made = scene()
    first = made.entities["on_t"]
    made.play("100 1.1 rcl_publish /t\n101 1.1 rmw_publish /t 100\n110 2.2 rmw_take on_t 100")
    # The subscription dies, and one of another topic gets its address.
    made.clock = 200
    made.publisher("/v", node="/source", pid=1)
    made.subscription("/v", node="/sink", pid=2, symbol="on_v")
    made.rows["ros2:rcl_subscription_init"][-1]["rmw_subscription_handle"] = first["rmw_handle"]
    made.play("300 1.1 rcl_publish /v\n301 1.1 rmw_publish /v 300\n310 2.2 rmw_take on_t 300")
    model = made.model()
    assert pairs(model) == [(0, 0), (1, 1)]
    topics = model.entities.subscriptions.topic[model.takes.subscription].tolist()
    assert topics == ["/t", "/v"]


def test_one_address_in_two_processes_is_two_entities() -> None:
    made = scene()
    made.publisher("/v", node="/source", pid=1)
    made.subscription("/v", node="/stranger", pid=9, symbol="on_v")
    made.entities["on_v"]["rmw_handle"] = made.entities["on_t"]["rmw_handle"]
    made.rows["ros2:rcl_subscription_init"][-1]["rmw_subscription_handle"] = made.entities["on_t"][
        "rmw_handle"
    ]
    made.play("100 1.1 rcl_publish /v\n101 1.1 rmw_publish /v 100\n110 9.9 rmw_take on_v 100")
    model = made.model()
    assert model.entities.subscriptions.topic[model.takes.subscription].tolist() == ["/v"]


@given(
    st.lists(
        st.tuples(st.integers(1, 30), st.sampled_from(["/t", "/u"])), max_size=25, unique=True
    ),
    st.lists(st.tuples(st.integers(1, 30), st.sampled_from(["on_t", "on_u", "on_t_too"]))),
)
def test_a_match_is_right_or_there_is_none(
    published: list[tuple[int, str]], taken: list[tuple[int, str]]
) -> None:
    made = scene()
    for at, (stamp, topic) in enumerate(published):
        made.play(f"{2 * at + 100} 1.1 rcl_publish {topic}")
        made.play(f"{2 * at + 101} 1.1 rmw_publish {topic} {stamp}")
    for at, (stamp, symbol) in enumerate(taken):
        made.play(f"{at + 1000} 2.{2 + at} rmw_take {symbol} {stamp}")
    model = made.model()
    topic_of = {"on_t": "/t", "on_u": "/u", "on_t_too": "/t"}
    expected = [
        (published.index((stamp, topic_of[symbol])), at)
        for at, (stamp, symbol) in enumerate(taken)
        if (stamp, topic_of[symbol]) in published
    ]
    # Symbols of two processes: the takes here are all of process 2, where on_t_too is unknown.
    known = [(p, t) for p, t in expected if taken[t][1] != "on_t_too"]
    found = pairs(model)
    assert set(known) <= set(found)
    for publication, take in found:
        assert published[publication][0] == taken[take][0]
    assert len(found) + model.findings.counts.get("unmatched_takes", 0) + model.findings.counts.get(
        "ambiguous_matches", 0
    ) == len(taken)


WRITTEN = """
    {at}1 1.1 write_begin
    {at}2 1.1 writer_history_add sample={sample} stamp={stamp}
    {at}3 1.1 write_end
"""


def written(at: int, sample: str, stamp: int) -> str:
    return WRITTEN.format(at=at, sample=sample, stamp=stamp)


def read(at: int, thread: str, sample: str) -> str:
    return f"{at}0 {thread} take_begin\n{at}1 {thread} take_end sample={sample} taken=1"


def test_guid_and_sequence_number_decide_between_equal_timestamps() -> None:
    made = scene()
    made.publisher("/t", node="/twin", pid=1)
    made.play("100 1.1 rmw_publish /source/t 100" + written(10, "A1", 100))
    made.play("120 1.1 rmw_publish /twin/t 100" + written(12, "B1", 100))
    made.play(read(20, "2.2", "B1") + "\n202 2.2 rmw_take on_t 100")
    made.play(read(21, "3.3", "A1") + "\n212 3.3 rmw_take on_t_too 100")
    model = made.model()
    assert pairs(model) == [(1, 0), (0, 1)]
    assert model.matches.method.tolist() == [IDENTITY, IDENTITY]
    assert "ambiguous_matches" not in model.findings.counts


def test_a_publication_without_a_stamp_is_matched_by_its_sample() -> None:
    made = scene()
    made.play("100 1.1 rmw_publish /t" + written(10, "A1", 105))
    made.play(read(20, "2.2", "A1") + "\n202 2.2 rmw_take on_t 105")
    model = made.model()
    assert pairs(model) == [(0, 0)]
    assert model.matches.method.tolist() == [IDENTITY]


def test_rules_that_contradict_each_other_match_nothing() -> None:
    made = scene()
    made.play("100 1.1 rmw_publish /t 100" + written(10, "A1", 100))
    made.play("120 1.1 rmw_publish /t 120" + written(12, "A2", 120))
    made.play(read(20, "2.2", "A2") + "\n202 2.2 rmw_take on_t 100")
    model = made.model()
    assert pairs(model) == []
    assert model.findings.counts["contradictory_matches"] == 1
    assert model.findings.counts["ambiguous_matches"] == 1


def test_where_both_rules_agree_the_timestamp_is_said_to_have_decided() -> None:
    made = scene()
    made.play("100 1.1 rmw_publish /t 100" + written(10, "A1", 100))
    made.play(read(20, "2.2", "A1") + "\n202 2.2 rmw_take on_t 100")
    model = made.model()
    assert pairs(model) == [(0, 0)]
    assert model.matches.method.tolist() == [EXACT]
    assert "contradictory_matches" not in model.findings.counts
