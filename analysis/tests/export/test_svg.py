# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The graph as a picture: complete, by itself, and with nothing on top of something else."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
from playwright.sync_api import Browser

from strata import Analysis, analyze
from strata.analysis import MessageCounts, TraceSummary
from strata.export.chosen import Chosen
from strata.export.entity_graph.collected import collect
from strata.export.entity_graph.placed import lines_of, place_graph
from strata.export.entity_graph.scale import STEPS, UNKNOWN, step_of

Sample = Callable[[str], Path]
SVG = "{http://www.w3.org/2000/svg}"
SAMPLES = ["fast_relaymp_st", "actions_jazzy", "ref_multi_full", "cell_lidar", "fast_fusion"]


def _exported(analysis: Analysis, target: Path, **choice: Any) -> ET.Element:
    analysis.export("svg", target, **choice)
    return ET.fromstring(target.read_bytes())


def _groups(root: ET.Element, kind: str) -> list[ET.Element]:
    found = root.findall(f"{SVG}g")
    return [group for group in found if kind in group.attrib["class"].split()]


def _title(group: ET.Element) -> str:
    return group.findtext(f"{SVG}title") or ""


def _texts(group: ET.Element) -> tuple[str, ...]:
    return tuple(text.text or "" for text in group.findall(f"{SVG}text"))


@pytest.mark.parametrize("name", SAMPLES)
def test_it_holds_the_graph(sample: Sample, tmp_path: Path, name: str) -> None:
    analysis = analyze(sample(name))
    root = _exported(analysis, tmp_path / "out.svg")
    graph = collect(Chosen(analysis))
    assert [_title(group) for group in _groups(root, "node")] == [p.title for p in graph.places]
    entities = {_title(group): _texts(group) for group in _groups(root, "entity")}
    assert entities == {entity.title: lines_of(entity) for entity in graph.entities}
    edges = _groups(root, "edge")
    assert [_title(group) for group in edges] == [edge.title for edge in graph.edges]
    for group, edge in zip(edges, graph.edges, strict=True):
        _, line = group.findall(f"{SVG}path")
        assert step_of(edge.timed.p50_ns).name in line.attrib["class"].split()


@pytest.mark.parametrize("name", SAMPLES)
def test_boxes_are_apart_and_inside_their_node(sample: Sample, name: str) -> None:
    placed = place_graph(collect(Chosen(analyze(sample(name)))))
    for one, other in combinations(placed.places, 2):
        assert _apart(one, other)
    node = {place.place.key: place for place in placed.places}
    for entity in placed.entities.values():
        own = node[entity.entity.place]
        assert own.x < entity.x < entity.x + entity.width < own.x + own.width
        assert own.y < entity.y < entity.y + entity.height < own.y + own.height
    for one, other in combinations(placed.entities.values(), 2):
        assert _apart(one, other)


def _apart(one: Any, other: Any) -> bool:
    return bool(
        one.x + one.width <= other.x
        or other.x + other.width <= one.x
        or one.y + one.height <= other.y
        or other.y + other.height <= one.y
    )


@pytest.mark.parametrize("name", SAMPLES)
def test_edges_lead_from_side_to_side_within_the_picture(sample: Sample, name: str) -> None:
    placed = place_graph(collect(Chosen(analyze(sample(name)))))
    assert placed.edges
    for one in placed.edges:
        source, target = placed.entities[one.edge.source], placed.entities[one.edge.target]
        assert one.points[0] == (source.x + source.width, source.y + source.height / 2)
        assert one.points[-1] == (target.x, target.y + target.height / 2)
        assert all(-16 <= x <= placed.width + 16 for x, _ in one.points)
        assert all(0 <= y <= placed.height for _, y in one.points)


def test_it_needs_nothing_else(sample: Sample, tmp_path: Path) -> None:
    root = _exported(analyze(sample("actions_jazzy")), tmp_path / "out.svg")
    text = (tmp_path / "out.svg").read_text()
    assert "http" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"<(script|image|use|foreignObject|a)\b|@import", text)
    assert set(re.findall(r"url\(([^)]*)\)", text)) <= {
        f"#end-{step.name}" for step in (*STEPS, UNKNOWN)
    }
    assert set(_texts(root)) >= {step.label for step in (*STEPS, UNKNOWN)}


def test_text_is_readable_on_either_ground(
    sample: Sample, tmp_path: Path, browser: Browser
) -> None:
    _exported(analyze(sample("fast_relaymp_st")), tmp_path / "out.svg")
    look = """() => {
        const of = (selector, name) =>
            getComputedStyle(document.querySelector(selector))[name];
        const steps = [...document.querySelectorAll('svg > path[class^="t"]')];
        return [of('.entity text', 'fill'), of('.entity rect', 'fill'), of('.ground', 'fill'),
                ...steps.map((path) => getComputedStyle(path).stroke)];
    }"""
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)  # type: ignore[arg-type]
        page.goto(f"file://{tmp_path}/out.svg")
        ink, card, ground, *steps = (_luminance(colour) for colour in page.evaluate(look))
        page.close()
        assert _contrast(ink, card) > 7
        assert (ground > 0.9) == (scheme == "light")
        assert len(steps) == len(STEPS)
        # The lightest lines are wide or have a text beside them; none may vanish.
        assert all(_contrast(step, ground) > 2 for step in steps)


def _luminance(colour: str) -> float:
    channels = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def test_names_cannot_write_into_the_picture(tmp_path: Path) -> None:
    name = '/a"><script>alert(1)</script>\u202e&'
    common = {"host": "h", "vpid": 1, "handle": 1, "node_id": 0, "begin_ns": 0}
    no_end = pd.array([None], "Int64")
    nodes = pd.DataFrame([{**common, "name": name}]).assign(end_ns=no_end)
    own = {"publisher_id": 0, "rmw_handle": 1, "topic": name, "queue_depth": 1}
    publishers = pd.DataFrame([{**common, **own}]).assign(end_ns=no_end)
    trace = TraceSummary("/t/<x>", 0, 0, 0, 1, ())
    counts = MessageCounts(0, 0, 0, 0, 0, 0)
    analysis = Analysis.of(trace, counts, nodes=nodes, publishers=publishers)
    root = _exported(analysis, tmp_path / "out.svg")
    (node,) = _groups(root, "node")
    assert _texts(node)[0] == name.replace("\u202e", "\ufffd")
    assert root.find(f".//{SVG}script") is None
