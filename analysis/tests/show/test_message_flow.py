# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Boxes and links of the graph, against the messages of three recordings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_analysis import Relay, make, nothing
from made_fleet import Fleet, write_fleet

import strata
from strata.analysis import Analysis
from strata.read.links import read_links
from strata.schema.events import INTERNAL_TOPICS
from strata.show.graph.message_flow import View, views

LINKS = Path(__file__).parents[1] / "traces" / "ref_multi_full-links.yaml"
FLEET = Fleet(robots=3, images=300)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return strata.analyze(write_fleet(tmp_path_factory.mktemp("fleet"), FLEET))


@pytest.fixture(scope="module", params=["fleet", "fast_blocked_st", "ref_multi_full"])
def recorded(request: pytest.FixtureRequest, fleet: Analysis) -> Analysis:
    if request.param == "fleet":
        return fleet
    sample: Callable[[str], Path] = request.getfixturevalue("sample")
    links = read_links(LINKS) if request.param == "ref_multi_full" else ()
    return strata.analyze(sample(request.param), links=links)


def of_application(analysis: Analysis) -> pd.DataFrame:
    """Messages that count, with the time to the callback and in it, in ns."""
    messages = analysis.messages
    own = messages[~messages["topic"].isin(INTERNAL_TOPICS) & ~messages["start_up"].astype(bool)]
    begin = own["begin_ns"].astype("int64")
    start, end = own["callback_start_ns"], own["callback_end_ns"]
    return own.assign(
        to_start=(start - begin).astype("Int64"),
        inside=(end - start).astype("Int64"),
        whole=(end - begin).astype("Int64"),
    )


def by_key(found: list[View], key: str) -> View:
    (view,) = [view for view in found if view.key == key]
    return view


def test_links_count_the_messages_between_their_boxes(recorded: Analysis) -> None:
    messages = of_application(recorded)
    all_ns = int(messages["whole"].sum())
    lost = recorded.hops.set_index("hop_id")["lost"]
    for view in views(recorded):
        inside = {node: place.key for place in view.places for node in place.nodes}
        ends = pd.DataFrame(
            {
                "source": messages["publisher_node"].astype(object).map(inside),
                "target": messages["subscription_node"].astype(object).map(inside),
                "to_start": messages["to_start"],
            }
        ).dropna(subset=["to_start"])
        groups = {
            key: part["to_start"].to_numpy(np.int64)
            for key, part in ends.groupby(["source", "target"])
        }
        assert len({(flow.source, flow.target) for flow in view.flows}) == len(view.flows)
        assert groups.keys() <= {(flow.source, flow.target) for flow in view.flows}
        for flow in view.flows:
            values = groups.get((flow.source, flow.target), np.empty(0, np.int64))
            assert flow.count == len(values)
            assert flow.lost == lost[list(flow.hops)].sum()
            assert flow.share == pytest.approx(values.sum() / all_ns)
            if len(values):
                assert flow.p50_ns == np.quantile(values, 0.5)
                assert flow.p99_ns == np.quantile(values, 0.99)
            else:
                assert flow.p50_ns is flow.p99_ns is None


def test_boxes_have_the_callbacks_of_their_nodes(recorded: Analysis) -> None:
    messages = of_application(recorded)
    all_ns = int(messages["whole"].sum())
    for view in views(recorded):
        for place in view.places:
            own = messages[messages["subscription_node"].isin(place.nodes)]["inside"].dropna()
            assert place.share == pytest.approx(own.sum() / all_ns)
            if len(own):
                assert place.callback_p50_ns == np.quantile(own.to_numpy(np.int64), 0.5)
            else:
                assert place.callback_p50_ns is None


def test_every_view_has_every_node_once_and_all_the_time(recorded: Analysis) -> None:
    found = views(recorded)
    assert found[0].key == "nodes"
    nodes = sorted(node for place in found[0].places for node in place.nodes)
    hops = recorded.hops[~recorded.hops["topic"].isin(INTERNAL_TOPICS)]
    assert nodes == sorted({*hops["publisher_node"], *hops["subscription_node"]})
    for view in found:
        assert sorted(node for place in view.places for node in place.nodes) == nodes
        assert sorted(hop for flow in view.flows for hop in flow.hops) == sorted(hops["hop_id"])
        parts = sum(item.share for item in (*view.places, *view.flows))
        assert parts == pytest.approx(1, abs=0.001)
    assert len({view.key for view in found}) == len(found)


def test_nodes_fold_by_executor_and_by_namespace(fleet: Analysis) -> None:
    found = views(fleet)
    assert [view.key for view in found if view.label] == ["nodes", "executors", "namespaces"]
    spaces = by_key(found, "namespaces")
    assert {place.name: len(place.nodes) for place in spaces.places} == {
        "/robot_0": 4, "/robot_1": 4, "/robot_2": 4, "/station": 3,
    }  # fmt: skip
    assert [place.kind for place in spaces.places] == ["namespace"] * 4
    own = [flow for flow in spaces.flows if flow.source == flow.target]
    between = [flow for flow in spaces.flows if flow.source != flow.target]
    assert {flow.target for flow in between} == {"namespace /station"}
    assert [flow.count for flow in between] == [FLEET.images] * 3
    assert [flow.count for flow in own] == [3 * FLEET.images] * 3
    executors = by_key(found, "executors")
    perception = [
        place for place in executors.places if place.kind == "executor" and len(place.nodes) > 1
    ]
    assert [place.nodes for place in perception] == [
        (f"/robot_{number}/filter", f"/robot_{number}/detector") for number in range(3)
    ]
    table = fleet.executors.set_index("executor_id")["nodes"]
    threads = fleet.executor_threads.set_index("executor_id")
    for place in perception:
        (executor,) = place.executors
        assert set(place.nodes) < set(table[executor].split(", "))
        spent = threads.loc[executor]
        busy = 1 - spent["waiting_ns"] / (spent["end_ns"] - spent["begin_ns"])
        assert place.busy == pytest.approx(busy, abs=0.01)
        assert not place.full


def test_one_group_is_opened_and_the_others_stay_folded(fleet: Analysis) -> None:
    view = by_key(views(fleet), "namespaces:/robot_1")
    kinds = {place.name: place.kind for place in view.places}
    assert kinds == {
        **dict.fromkeys(("/robot_0", "/robot_2", "/station"), "namespace"),
        **{f"/robot_1/{name}": "node" for name in ("camera", "filter", "detector", "planner")},
    }


def test_a_full_executor_is_full(sample: Callable[[str], Path]) -> None:
    analysis = strata.analyze(sample("ref_multi_full"), links=read_links(LINKS))
    (view,) = views(analysis)
    assert len(view.places) == 24
    assert all(place.full for place in view.places)


def test_nodes_of_one_namespace_have_no_view_of_namespaces() -> None:
    assert [view.key for view in views(make(Relay()))] == ["nodes"]
    assert views(nothing()) == []
