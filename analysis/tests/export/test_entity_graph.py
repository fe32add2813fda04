# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The graph of entities: what is in it, and its statistics, compared with the tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from strata import Analysis, analyze
from strata.export.chosen import Choice, Chosen
from strata.export.entity_graph import entities as kinds
from strata.export.entity_graph.collected import collect
from strata.export.entity_graph.entities import Edge, EntityGraph
from strata.export.entity_graph.scale import STEPS, UNKNOWN, step_of

Sample = Callable[[str], Path]


def _graph(analysis: Analysis, **choice: Any) -> EntityGraph:
    return collect(Chosen(analysis, Choice(**choice)))


def _edges(graph: EntityGraph, kind: str) -> dict[tuple[str, str], Edge]:
    found = {(edge.source, edge.target): edge for edge in graph.edges if edge.kind == kind}
    assert len(found) == sum(edge.kind == kind for edge in graph.edges)
    return found


def _words(graph: EntityGraph) -> set[tuple[str, str, str, str, str]]:
    """Return each edge as: kind, node and name of its source, node and name of its target."""
    place = {place.key: place.name for place in graph.places}
    known = {entity.key: (place[entity.place], entity.name) for entity in graph.entities}
    return {(edge.kind, *known[edge.source], *known[edge.target]) for edge in graph.edges}


@pytest.mark.parametrize("name", ["fast_relaymp_st", "fast_fusion", "cell_relay", "intra_jazzy"])
def test_messages_have_the_counts_and_quantiles_of_their_table(sample: Sample, name: str) -> None:
    analysis = analyze(sample(name))
    messages = analysis.messages[~analysis.messages["topic"].isin(["/parameter_events", "/rosout"])]
    messages = messages.assign(
        publisher=analysis.publications["publisher_id"].to_numpy()[messages["publication_id"]],
        subscription=analysis.takes["subscription_id"].to_numpy()[messages["take_id"]],
        to_start=messages["callback_start_ns"] - messages["begin_ns"],
    )
    found = _edges(_graph(analysis), kinds.MESSAGE)
    took = {pair: edge for pair, edge in found.items() if edge.timed.count}
    expected = messages.groupby(["publisher", "subscription"])
    assert len(took) == len(expected) > 0
    for (publisher, subscription), own in expected:
        edge = took[f"publisher {publisher}", f"subscription {subscription}"]
        assert edge.timed.count == len(own)
        started = own["to_start"].dropna().astype("int64")
        if len(started) == len(own):
            assert edge.timed.p50_ns == pytest.approx(started.quantile(0.5))
            assert edge.timed.p99_ns == pytest.approx(started.quantile(0.99))
        hop = analysis.hops.set_index("hop_id").loc[own["hop_id"].iloc[0]]
        assert edge.lost == hop["lost"]
        assert edge.name == hop["topic"]


def test_publishes_are_timed_from_the_start_of_their_callback(sample: Sample) -> None:
    analysis = analyze(sample("fast_relaymp_st"))
    publications = analysis.publications.dropna(subset="instance_id")
    started = analysis.callback_instances.set_index("instance_id")
    own = started.loc[publications["instance_id"]]
    publications = publications.assign(
        callback_id=own["callback_id"].to_numpy(),
        hold=publications["client_ns"].to_numpy() - own["start_ns"].to_numpy(),
    )
    topic = analysis.publishers.set_index("publisher_id")["topic"].astype(str)
    publications = publications[publications["publisher_id"].map(topic) != "/rosout"]
    found = _edges(_graph(analysis), kinds.PUBLISH)
    expected = publications.groupby(["callback_id", "publisher_id"])["hold"]
    assert len(found) == len(expected) == 4
    for (callback, publisher), hold in expected:
        timed = found[f"callback {callback}", f"publisher {publisher}"].timed
        assert timed.count == len(hold)
        assert timed.p50_ns == pytest.approx(hold.quantile(0.5))
        assert timed.p99_ns == pytest.approx(hold.quantile(0.99))


def test_a_relay_is_followed_from_its_timer_to_its_sink(sample: Sample) -> None:
    graph = _graph(analyze(sample("fast_relaymp_st")))
    words = _words(graph)
    relay = "Relay::Relay::{lambda#2}"
    timer = "Source::Source::{lambda#1}::operator()::{lambda#1}"
    assert {
        ("fire", "/source", "period 10.0 ms", "/source", timer),
        ("publish", "/source", timer, "/source", "/chain_0"),
        ("message", "/source", "/chain_0", "/relay_0", "/chain_0"),
        ("take", "/relay_0", "/chain_0", "/relay_0", relay),
        ("publish", "/relay_0", relay, "/relay_0", "/chain_1"),
        ("message", "/relay_2", "/chain_3", "/sink", "/chain_3"),
        ("take", "/sink", "/chain_3", "/sink", relay),
    } <= words
    assert not any("parameter" in text or "rosout" in text for row in words for text in row)
    timers = analyze(sample("fast_relaymp_st")).timer_statistics.set_index("period_ns")
    (fire,) = (e for e in graph.edges if e.kind == kinds.FIRE and "10.0 ms" in e.name)
    assert fire.timed.p50_ns == timers.loc[10_000_000, "lateness_p50_ns"]
    assert fire.timed.count == timers.loc[10_000_000, "count"]
    assert {place.executors for place in graph.places} == {
        (f"executor {number} (single-threaded)",) for number in range(5)
    }


def test_the_parts_of_an_action_lead_to_their_callbacks(sample: Sample) -> None:
    analysis = analyze(sample("actions_jazzy"))
    graph = _graph(analysis)
    words = _words(graph)
    goal, feedback = "/count/_action/send_goal", "/count/_action/feedback"
    assert {
        ("call", "/alone", goal, "/server", goal),
        ("call", "/many", goal, "/server", goal),
        ("serve", "/server", goal, "/server", "__main__.Server.on_goal"),
        ("execute", "/server", goal, "/server", "__main__.Server.on_execute"),
        ("publish", "/server", "__main__.Server.on_execute", "/server", feedback),
        ("message", "/server", feedback, "/alone", feedback),
        ("take", "/alone", feedback, "/alone", "__main__.Client.on_feedback"),
    } <= words
    # A client that never called belongs to its service by name.
    cancel = "/count/_action/cancel_goal"
    (edge,) = (e for e in graph.edges if e.name == cancel and not e.timed.count)
    assert ("call", "/many", cancel, "/server", cancel) in words
    assert "no call was recorded" in edge.title
    calls = analysis.service_calls
    own = calls[(calls["client_node"] == "/alone") & (calls["service"] == goal)]
    client, service = own["client_object_id"].iloc[0], own["service_object_id"].iloc[0]
    timed = _edges(graph, kinds.CALL)[f"client {client}", f"service {service}"].timed
    complete = own.loc[own["complete"], "latency_ns"]
    assert (timed.count, timed.p50_ns) == (len(own), complete.quantile(0.5))
    assert not any(place.name == "(unknown)" for place in graph.places)


def test_stored_messages_lead_to_the_callback_that_published(sample: Sample, root: Path) -> None:
    links = root / "analysis/tests/traces/ref_multi_full-links.yaml"
    analysis = analyze(sample("ref_multi_full"), links=links)
    found = _edges(_graph(analysis), kinds.STORE)
    rows = analysis.links.dropna(subset="stored_ns")
    messages = analysis.messages.set_index("message_id")
    pairs = {
        (messages.loc[row.parent_id, "callback_id"], messages.loc[row.child_id, column])
        for row in rows.itertuples()
        for column in ["publisher_callback_id"]
        if messages.loc[row.child_id, column] == messages.loc[row.child_id, column]
    }
    inside = {pair for pair in found if pair[1].startswith("callback")}
    assert inside == {(f"callback {int(a)}", f"callback {int(b)}") for a, b in pairs}
    assert sum(edge.timed.count for edge in found.values()) == len(rows) > 0


def test_a_chain_has_only_what_lies_along_it(sample: Sample) -> None:
    analysis = analyze(sample("fast_relaymp_st"), chain="/chain_1 -> /chain_2")
    graph = _graph(analysis, chains=(0,))
    messages = {edge.name for edge in graph.edges if edge.kind == kinds.MESSAGE}
    assert messages == {"/chain_1", "/chain_2"}
    assert [place.name for place in graph.places] == ["/relay_1", "/relay_2", "/relay_0"]
    # The callback that published the first message, and what it took, are where the chain begins.
    assert {entity.name for entity in graph.entities if entity.kind == kinds.PUBLISHER} == messages
    whole = _edges(_graph(analysis), kinds.MESSAGE)
    for pair, edge in _edges(graph, kinds.MESSAGE).items():
        assert edge.timed == whole[pair].timed


def test_a_time_without_messages_is_empty(sample: Sample) -> None:
    analysis = analyze(sample("fast_relaymp_st"))
    graph = _graph(analysis, begin_ns=analysis.trace.end_ns + 1)
    assert (graph.places, graph.entities, graph.edges) == ((), (), ())


def test_without_init_events_names_are_those_of_the_messages(sample: Sample) -> None:
    analysis = analyze(sample("fast_relay1p_st_latestart"))
    graph = _graph(analysis)
    assert len(analysis.nodes) == 0
    messages = [edge for edge in graph.edges if edge.kind == kinds.MESSAGE]
    own = analysis.messages
    assert sum(edge.timed.count for edge in messages) == len(own) > 0
    assert {place.name for place in graph.places} >= {
        *own["publisher_node"].unique(),
        *own["subscription_node"].unique(),
    }


def test_every_end_is_there_once(sample: Sample) -> None:
    for name in ("fast_relaymp_st", "actions_jazzy", "services_kilted", "intra_jazzy"):
        graph = _graph(analyze(sample(name)))
        keys = [entity.key for entity in graph.entities]
        assert len(set(keys)) == len(keys)
        assert {end for edge in graph.edges for end in (edge.source, edge.target)} <= set(keys)
        assert {entity.place for entity in graph.entities} == {place.key for place in graph.places}


def test_a_step_of_the_scale_holds_its_medians() -> None:
    assert step_of(None) == UNKNOWN
    assert [step_of(10.0**power).name for power in (4, 5, 6, 7, 8, 9)] == [
        *("t0", "t1", "t2", "t3", "t4", "t4")
    ]
    widths = [step.width for step in STEPS]
    assert widths == sorted(set(widths))
