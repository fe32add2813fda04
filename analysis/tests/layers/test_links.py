# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What caused a message: through callbacks, and through what nodes store."""

from __future__ import annotations

from intra_scene import IntraScene
from scene import BASE

from strata.layers.links import KINDS, Links, link_messages
from strata.layers.transfers import Transfers, cut_layers
from strata.model.build import Model
from strata.model.links import find_links
from strata.schema.links import MessageLink
from strata.schema.quality import Findings

PERIODIC = MessageLink("/fusion", ("/a", "/b"), ("/out",), "periodic_async")
SYNC = MessageLink("/fusion", ("/a", "/b"), ("/out",), "partial_sync")


def scene() -> IntraScene:
    """/a and /b go to /fusion (process 2), which publishes /out to /sink (process 3)."""
    made = IntraScene()
    for topic in ("/a", "/b"):
        made.publisher(topic, node="/source", pid=1)
    made.publisher("/out", node="/fusion", pid=2)
    made.subscription("/a", node="/fusion", pid=2, symbol="on_a")
    made.subscription("/b", node="/fusion", pid=2, symbol="on_b")
    made.timer(node="/fusion", pid=2, symbol="on_timer")
    made.subscription("/out", node="/sink", pid=3, symbol="on_out")
    return made


def message(made: IntraScene, topic: str, symbol: str, at: int, *, thread: str = "2.2") -> None:
    """A message that was published at `at` and whose callback runs from at + 20 to at + 30."""
    made.play(
        f"""
        {at} 1.1 rmw_publish {topic} {at}
        {at + 10} {thread} rmw_take {symbol} {at}
        {at + 20} {thread} callback_start {symbol}
        {at + 30} {thread} callback_end {symbol}
        """
    )


def output(made: IntraScene, at: int, *, thread: str = "2.2", callback: str = "on_timer") -> None:
    """The timer (or another callback) publishes /out at `at`, 5 after it began."""
    made.play(
        f"""
        {at - 5} {thread} callback_start {callback}
        {at} {thread} rmw_publish /out {at}
        {at + 5} {thread} callback_end {callback}
        {at + 10} 3.3 rmw_take on_out {at}
        {at + 11} 3.3 callback_start on_out
        {at + 12} 3.3 callback_end on_out
        """
    )


def linked(made: IntraScene, *declared: MessageLink) -> tuple[Model, Transfers, Links, Findings]:
    model = made.model()
    transfers, _ = cut_layers(model)
    found, findings = find_links(model.events, model.entities, declared)
    return model, transfers, link_messages(model, transfers, found), findings


def causes(made: IntraScene, *declared: MessageLink) -> list[tuple[int, int, str, bool]]:
    """Each link as the publish times of child and parent, its kind, and whether it is critical."""
    _, transfers, links, _ = linked(made, *declared)
    published = transfers.publish_ns - BASE
    return sorted(
        (int(published[child]), int(published[parent]), KINDS[kind], bool(critical))
        for child, parent, kind, critical in zip(
            links.child, links.parent, links.kind, links.critical, strict=True
        )
    )


def test_without_a_declaration_nothing_is_linked_through_a_timer() -> None:
    made = scene()
    message(made, "/a", "on_a", 100)
    output(made, 200)
    assert causes(made) == []


def test_a_timer_publishes_from_the_newest_of_each_input() -> None:
    made = scene()
    message(made, "/a", "on_a", 100)
    message(made, "/b", "on_b", 200)
    message(made, "/a", "on_a", 300)
    output(made, 400)
    output(made, 500)
    assert causes(made, PERIODIC) == [
        (400, 200, "periodic_async", False),
        (400, 300, "periodic_async", True),
        (500, 200, "periodic_async", False),
        (500, 300, "periodic_async", True),
    ]


def test_a_stored_message_is_cut_into_its_callback_its_rest_and_the_hold() -> None:
    made = scene()
    message(made, "/a", "on_a", 100)
    output(made, 200)
    _, transfers, links, _ = linked(made, PERIODIC)
    assert (links.callback_ns.tolist(), links.stored_ns.tolist(), links.hold_ns.tolist()) == (
        [10],
        [65],
        [5],
    )
    child, parent = links.child[0], links.parent[0]
    whole = transfers.publish_ns[child] - transfers.callback_start_ns[parent]
    assert whole == 10 + 65 + 5


def test_a_message_whose_callback_still_runs_is_not_used() -> None:
    # on_a runs on another thread until 1030; the timer publishes meanwhile.
    made = scene()
    message(made, "/a", "on_a", 100)
    made.play(
        """
        900  1.1 rmw_publish /a 900
        910  2.4 rmw_take on_a 900
        920  2.4 callback_start on_a
        1030 2.4 callback_end on_a
        """
    )
    output(made, 1000)
    assert causes(made, PERIODIC) == [(1000, 100, "periodic_async", True)]


def test_a_callback_that_ended_while_the_timer_ran_leaves_no_gap() -> None:
    made = scene()
    made.play(
        """
        900 1.1 rmw_publish /a 900
        910 2.4 rmw_take on_a 900
        920 2.4 callback_start on_a
        997 2.4 callback_end on_a
        """
    )
    output(made, 1000)  # its callback began at 995
    _, _, links, _ = linked(made, PERIODIC)
    assert (links.stored_ns.tolist(), links.hold_ns.tolist()) == ([0], [3])


def test_fan_in_links_what_came_since_the_last_publish() -> None:
    # Published in on_b, as message_filters do: /b by its callback, /a by the declaration.
    made = scene()
    message(made, "/a", "on_a", 100)
    made.play("200 1.1 rmw_publish /b 200\n210 2.2 rmw_take on_b 200")
    output(made, 225, callback="on_b")
    made.play("300 1.1 rmw_publish /b 300\n310 2.2 rmw_take on_b 300")
    output(made, 325, callback="on_b")  # no new /a: it was used up
    assert causes(made, SYNC) == [
        (225, 100, "partial_sync", False),
        (225, 200, "callback", True),
        (325, 300, "callback", True),
    ]


def test_a_node_can_say_it_itself() -> None:
    made = scene()
    made.link("periodic_async", pid=2, subs=["on_a", "on_b"], pubs=["/out"])
    message(made, "/a", "on_a", 100)
    output(made, 200)
    assert causes(made) == [(200, 100, "periodic_async", True)]
    # Said twice, it is one link.
    assert causes(made, PERIODIC) == [(200, 100, "periodic_async", True)]


def test_a_link_holds_within_a_process() -> None:
    # A second process with a node of the same name stores /a; the first one publishes.
    made = scene()
    made.nodes.clear()
    made.subscription("/a", node="/fusion", pid=7, symbol="other_a")
    message(made, "/a", "other_a", 100, thread="7.7")
    output(made, 200)
    assert causes(made, PERIODIC) == []


def test_a_link_of_nothing_is_counted() -> None:
    made = scene()
    output(made, 200)
    _, _, links, findings = linked(made, MessageLink("/nobody", ("/a",), ("/out",), "partial_sync"))
    assert len(links) == 0
    assert findings.counts["unresolved_links"] == 1


def test_messages_of_one_publication_all_have_its_causes() -> None:
    made = scene()
    made.subscription("/out", node="/second", pid=4, symbol="on_second")
    message(made, "/a", "on_a", 100)
    output(made, 200)
    made.play("220 4.4 rmw_take on_second 200\n221 4.4 callback_start on_second")
    assert causes(made, PERIODIC) == [(200, 100, "periodic_async", True)] * 2


def test_an_annotation_without_subscriptions_is_a_link_of_nothing() -> None:
    made = IntraScene()
    made.publisher("/t", node="/n", pid=1)
    made.link("periodic_async", pid=1, subs=[], pubs=["/t"])
    model = made.model()
    found, findings = find_links(model.events, model.entities, ())
    assert found == ()
    assert (model.findings + findings).counts == {"unresolved_links": 1}
