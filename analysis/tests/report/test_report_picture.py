# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The picture of a chain agrees with the messages and with the blame table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_analysis import Relay, make, nothing

import strata
from strata.analysis import Analysis
from strata.schema.layers import BY_NAME
from strata.schema.links import MessageLink
from strata.schema.service_layers import SERVICE_LAYERS
from strata.show.html import theme
from strata.show.html.analysis import picture
from strata.stats import groups


def segments_of(view: picture.View) -> list[picture.Segment]:
    return [segment for row in view.rows for segment in row.segments]


def test_rows_go_from_node_to_topic_to_node() -> None:
    typical, tail = picture.views(make(Relay()), 0)
    expected = ["/relay_0"]
    for hop in range(4):
        expected += [f"/chain_{hop}", f"/relay_{hop + 1}"]
    assert [row.name for row in typical.rows] == expected
    assert [row.kind for row in typical.rows] == ["node", *["topic", "node"] * 4]
    assert [row.name for row in tail.rows] == expected


def test_segments_follow_one_another_and_fill_the_axis() -> None:
    for view in picture.views(make(Relay(hops=10, blocked_ns=40_000_000)), 0):
        at = 0.0
        for segment in segments_of(view):
            assert segment.left == pytest.approx(at, abs=0.001)
            at = segment.left + segment.width
        assert at == pytest.approx(100, abs=0.01)


def test_work_before_the_publish_is_held_in_its_node() -> None:
    typical = picture.views(make(Relay(work_ns={1: 5_000_000})), 0)[0]
    row = next(row for row in typical.rows if row.name == "/relay_2")
    assert [segment.layer for segment in row.segments] == ["hold"]
    assert row.segments[0].text.startswith("5.0")
    assert row.total == "5.03 ms"


def test_a_wait_names_the_callback_that_it_was_behind() -> None:
    typical, tail = picture.views(make(Relay(blocked_ns=50_000_000)), 0)
    detail = next(row for row in tail.rows if row.name == "/chain_3").detail
    assert detail is not None
    assert detail.text == "50.0 ms behind blocker [/slow]"
    assert all(row.detail is None for row in typical.rows if row.kind == "topic")


def test_a_stored_message_lies_in_the_node_that_kept_it(sample: Callable[[str], Path]) -> None:
    link = MessageLink("/fusion", ("/fast", "/slow"), ("/fused",), "periodic_async")
    analysis = strata.analyze(sample("fast_fusion"), links=[link], chain=["/slow", "/fused"])
    for view in picture.views(analysis, 0):
        names = [row.name for row in view.rows]
        assert names == ["/pubs", "/slow", "/fusion", "/fused", "/fusedsink"]
        layers = [segment.layer for segment in view.rows[2].segments]
        assert layers == ["callback", "stored", "link hold"]


def test_means_add_up_when_some_messages_lack_a_layer() -> None:
    analysis = make(Relay(hops=1, messages=10))
    segments = analysis.chain_segments
    lacks = (segments["layer"] == "take") & (segments["chain_instance_id"] % 2 == 0)
    lost = segments[lacks].set_index("chain_instance_id")["duration_ns"]
    instances = analysis.chain_instances.set_index("chain_instance_id")
    latency = instances["latency_ns"].sub(lost, fill_value=0).astype("int64")
    changed = analysis.replaced(
        chain_segments=segments[~lacks],
        chain_instances=instances.assign(latency_ns=latency).reset_index(),
    )
    for view in picture.views(changed, 0):
        assert sum(segment.width for segment in segments_of(view)) == pytest.approx(100, abs=0.01)


@pytest.mark.parametrize("name", ["fast_relay1p_st", "fast_relaymp_st", "fast_blocked_st"])
def test_the_groups_are_those_of_the_blame_table(
    name: str, analysis_of: Callable[[str], Analysis]
) -> None:
    analysis = analysis_of(name)
    instances = analysis.chain_instances[analysis.chain_instances["chain_id"] == 0]
    blame = analysis.blame[analysis.blame["chain_id"] == 0]
    for group, column in ((groups.TYPICAL, "typical_ns"), (groups.TAIL, "tail_ns")):
        mean = groups.members(instances, group)["latency_ns"].mean()
        assert blame[column].sum() == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize("count", range(1, 12))
def test_no_group_of_few_messages_is_empty(count: int) -> None:
    instances = pd.DataFrame({"latency_ns": np.arange(count) ** 2 + 1})
    assert len(groups.members(instances, groups.TYPICAL)) >= 1
    tail = groups.members(instances, groups.TAIL)
    assert tail["latency_ns"].tolist() == [(count - 1) ** 2 + 1]


def test_no_messages_no_picture() -> None:
    assert picture.views(nothing(), 0) == []


@pytest.mark.parametrize("end", [1, 7, 99, 1_000, 123_456, 37_800_000, 9_999_999_999])
def test_ticks_are_round_and_within_the_axis(end: int) -> None:
    ticks = picture.nice_ticks(end)
    assert ticks[0] == 0
    assert ticks[-1] <= end
    assert len(ticks) <= 6
    step = f"{ticks[1]:e}"
    assert float(step.split("e")[0]) in (1, 2, 5)


def test_every_layer_has_a_colour_of_its_own_with_readable_text() -> None:
    paints = [theme.paint(name) for name in BY_NAME]
    assert len({paint.fill for paint in paints}) == len(BY_NAME)
    assert len({paint.slug for paint in paints}) == len(BY_NAME)
    assert theme.paint("teleport").slug == "unknown"
    for paint in paints:
        assert contrast(paint.fill, paint.ink) >= 4.5, paint


def test_layers_of_service_calls_have_colours_beside_one_another() -> None:
    paints = [theme.paint(layer.name) for layer in SERVICE_LAYERS]
    assert len({paint.fill for paint in paints}) == len(SERVICE_LAYERS)
    assert len({paint.slug for paint in paints} - {"unknown"}) == len(SERVICE_LAYERS)
    assert {paint.slug for paint in paints} <= {paint.slug for paint in theme.paints()}


def contrast(one: str, other: str) -> float:
    """Contrast ratio of WCAG 2, from 1 to 21."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)
