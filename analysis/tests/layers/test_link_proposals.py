# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Links that nobody declared: of nodes that publish from what they stored, and of fan-in."""

from __future__ import annotations

import pytest
from scene import Scene

from strata.layers.link_proposals import Proposal, propose_links
from strata.model.links import find_links
from strata.schema.links import MessageLink

COUNT = 20


def scene(*inputs: str) -> Scene:
    """/node (process 2) takes the inputs and publishes /out."""
    made = Scene()
    made.publisher("/out", node="/node", pid=2)
    made.publisher("/log", node="/node", pid=2)
    made.timer(node="/node", pid=2, symbol="on_timer", period=1000)
    for topic in inputs:
        made.subscription(topic, node="/node", pid=2, symbol=f"on{topic}")
    return made


def took(made: Scene, topic: str, at: int, *, publishing: str = "") -> None:
    """A callback from `at` to at + 10, which may publish a topic."""
    publish = f"{at + 5} 2.2 rmw_publish {publishing} {at + 5}" if publishing else ""
    made.play(f"{at} 2.2 callback_start on{topic}\n{publish}\n{at + 10} 2.2 callback_end on{topic}")


def proposals(made: Scene, *declared: MessageLink) -> list[Proposal]:
    model = made.model()
    known, _ = find_links(model.events, model.entities, declared)
    return propose_links(model, known)


def brief(found: list[Proposal]) -> list[tuple[str, str, str, bool]]:
    return [(item.input, item.cut, item.kind, item.probable) for item in found]


def test_a_thread_that_publishes_from_each_message() -> None:
    made = scene("/in")
    for at in range(1000, 1000 * COUNT, 1000):
        took(made, "/in", at)
        made.play(f"{at + 500} 2.3 rmw_publish /out {at + 500}")
    (found,) = proposals(made)
    assert brief([found]) == [("/in", "stored", "partial_sync", True)]
    assert (found.publications, found.new, found.stored) == (COUNT - 2, COUNT - 2, COUNT - 2)
    assert found.published == "in thread 3 (p), outside of callbacks"
    # What is declared is not proposed again.
    assert proposals(made, MessageLink("/node", ("/in",), ("/out",), "partial_sync")) == []


def test_a_thread_that_also_publishes_when_nothing_came() -> None:
    made = scene("/in")
    for at in range(1000, 1000 * COUNT, 1000):
        took(made, "/in", at)
        made.play(f"{at + 300} 2.3 rmw_publish /out {at + 300}")
        made.play(f"{at + 600} 2.3 rmw_publish /out {at + 600}")
    (found,) = proposals(made)
    assert brief([found]) == [("/in", "stored", "periodic_async", True)]
    assert (found.publications, found.new, found.stored) == (37, 18, 37)


def test_what_a_timer_publishes_is_periodic() -> None:
    made = scene("/a", "/b")
    for at in range(1000, 1000 * COUNT, 1000):
        took(made, "/a", at)
        if at == 5000:
            took(made, "/b", at + 100)
        made.play(
            f"""
            {at + 500} 2.2 callback_start on_timer
            {at + 510} 2.2 rmw_publish /out {at + 510}
            {at + 520} 2.2 callback_end on_timer
            """
        )
    found = proposals(made)
    assert brief(found) == [
        ("/a", "stored", "periodic_async", True),
        ("/b", "stored", "periodic_async", True),
    ]
    assert [(item.new, item.stored) for item in found] == [(18, 18), (1, 15)]
    assert found[0].published == "in a timer of 1.00 us"


def test_a_node_whose_callbacks_publish_has_nothing_stored() -> None:
    # Every callback publishes; the timer's output is a heartbeat.
    made = scene("/in")
    made.publisher("/heartbeat", node="/node", pid=2)
    for at in range(1000, 1000 * COUNT, 1000):
        took(made, "/in", at, publishing="/out")
        made.play(f"{at + 500} 2.3 rmw_publish /heartbeat {at + 500}")
    assert proposals(made) == []


def test_a_source_and_a_sink_have_no_links() -> None:
    made = scene("/in")
    made.publisher("/rosout", node="/node", pid=2)
    for at in range(1000, 1000 * COUNT, 1000):
        took(made, "/in", at, publishing="/rosout")
    assert proposals(made) == []
    alone = scene()
    for at in range(1000, 1000 * COUNT, 1000):
        alone.play(f"{at} 2.3 rmw_publish /out {at}")
    assert proposals(alone) == []


@pytest.mark.parametrize("waits", [True, False])
def test_fan_in_waits_for_both_or_passes_each_on(waits: bool) -> None:
    made = scene("/a", "/b")
    for index in range(COUNT):
        first, second = ("/a", "/b") if index % 3 else ("/b", "/a")
        took(made, first, 1000 * index, publishing="" if waits else "/out")
        took(made, second, 1000 * index + 500, publishing="/out")
    found = proposals(made)
    if not waits:
        assert found == []
        return
    assert brief(found) == [
        ("/a", "fan-in", "partial_sync", True),
        ("/b", "fan-in", "partial_sync", True),
    ]
    assert [(item.publications, item.new, item.decided, item.foretold) for item in found] == [
        (COUNT - 1, COUNT - 1, 2 * COUNT - 2, 2 * COUNT - 2)
    ] * 2
    assert found[0].published == "in the callback of /b or /a"


def test_an_input_that_is_only_kept_is_possible_when_it_is_not_always_new() -> None:
    made = scene("/image", "/info", "/map")
    took(made, "/map", 0)
    for at in range(1000, 1000 * COUNT, 1000):
        took(made, "/info", at)
        took(made, "/image", at + 500, publishing="/out")
    found = proposals(made)
    assert brief(found) == [
        ("/info", "fan-in", "partial_sync", True),
        ("/map", "fan-in", "periodic_async", False),
    ]
    assert [(item.new, item.stored, item.decided) for item in found] == [(18, 18, 0), (0, 18, 0)]


def test_a_few_publications_tell_nothing() -> None:
    made = scene("/in")
    for at in range(1000, 6000, 1000):
        took(made, "/in", at)
        made.play(f"{at + 500} 2.3 rmw_publish /out {at + 500}")
    assert proposals(made) == []


def test_a_declared_link_of_another_output_hides_nothing() -> None:
    made = scene("/in")
    for at in range(1000, 1000 * COUNT, 1000):
        took(made, "/in", at)
        made.play(f"{at + 500} 2.3 rmw_publish /out {at + 500}")
    assert len(proposals(made, MessageLink("/node", ("/in",), ("/log",), "partial_sync"))) == 1
