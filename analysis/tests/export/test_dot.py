# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The graph in DOT, read back with a parser of the language's grammar."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata import analyze
from strata.export.chosen import Chosen
from strata.export.entity_graph.collected import collect, shown
from strata.export.entity_graph.dot import quoted
from strata.export.entity_graph.scale import STEPS, UNKNOWN, step_of
from strata.printable import printable

Sample = Callable[[str], Path]
SAMPLES = ["fast_relaymp_st", "actions_jazzy", "fast_throws", "intra_jazzy"]

# https://graphviz.org/doc/info/lang.html: an ID is a name, a numeral, a quoted or an HTML string.
TOKEN = re.compile(
    r"""\s+|(?P<id>[A-Za-z_\x80-\uffff][\w\x80-\uffff]*|-?(?:\.\d+|\d+(?:\.\d*)?))"""
    r"""|"(?P<quoted>(?:[^"\\]|\\.|\\\n)*)"|(?P<mark>->|[{}\[\];=,])|(?P<html><)""",
    re.DOTALL,
)


@dataclass
class Cluster:
    """A subgraph: its attributes, nodes, and the subgraphs in it."""

    attributes: dict[str, str] = field(default_factory=dict)
    nodes: list[str] = field(default_factory=list)
    inner: dict[str, Cluster] = field(default_factory=dict)


@dataclass
class Graph(Cluster):
    """A digraph: also the attributes of its nodes, and its edges."""

    of_nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        found = TOKEN.match(text, at)
        assert found, f"no token at {text[at : at + 60]!r}"
        at = found.end()
        kind = found.lastgroup
        if kind == "html":
            depth, begin = 1, at
            while depth:
                depth += {"<": 1, ">": -1}.get(text[at], 0)
                at += 1
            yield "html", text[begin : at - 1]
        elif kind is not None:
            yield kind, found.group(kind)


class Parser:
    """digraph ID { statements }, with quoted IDs unescaped as labels are."""

    def __init__(self, text: str) -> None:
        self._tokens = [*_tokens(text)]
        self._at = 0
        self.graph = Graph()

    def _next(self, *expected: str) -> str:
        kind, text = self._tokens[self._at]
        self._at += 1
        if expected:
            assert (kind, text) in {(k, e) for e in expected for k in ("mark", "id")}, (kind, text)
        return text

    def _peek(self) -> str:
        kind, text = self._tokens[self._at]
        return text if kind == "mark" or (kind == "id" and text == "subgraph") else ""

    def _id(self) -> str:
        kind, text = self._tokens[self._at]
        assert kind in ("id", "quoted", "html"), text
        self._at += 1
        if kind != "quoted":
            return text
        return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text)

    def parse(self) -> Graph:
        self._next("digraph")
        self._id()
        self._statements(self.graph)
        assert self._at == len(self._tokens)
        return self.graph

    def _statements(self, own: Cluster) -> None:
        self._next("{")
        while self._peek() != "}":
            self._statement(own)
            if self._peek() == ";":
                self._next(";")
        self._next("}")

    def _statement(self, own: Cluster) -> None:
        if self._peek() == "subgraph":
            self._next("subgraph")
            name = self._id()
            assert name.startswith("cluster"), name
            assert name not in own.inner
            own.inner[name] = Cluster()
            self._statements(own.inner[name])
            return
        name = self._id()
        if self._peek() == "=":
            self._next("=")
            own.attributes[name] = self._id()
        elif self._peek() == "->":
            self._next("->")
            target = self._id()
            self.graph.edges.append((name, target, self._attributes()))
        elif name in ("graph", "node", "edge"):
            self._attributes()
        else:
            assert name not in self.graph.of_nodes, name
            own.nodes.append(name)
            self.graph.of_nodes[name] = self._attributes()

    def _attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        self._next("[")
        while self._peek() != "]":
            name = self._id()
            assert name not in found
            self._next("=")
            found[name] = self._id()
        self._next("]")
        return found


def _exported(path: Path, target: Path, **choice: Any) -> Graph:
    analyze(path).export("dot", target, **choice)
    return Parser(target.read_text()).parse()


@pytest.mark.parametrize("name", SAMPLES)
def test_it_holds_the_graph(sample: Sample, tmp_path: Path, name: str) -> None:
    found = _exported(sample(name), tmp_path / "out.dot")
    graph = collect(Chosen(analyze(sample(name))))
    assert set(found.of_nodes) == {entity.key for entity in graph.entities} | {"legend"}
    for entity in graph.entities:
        attributes = found.of_nodes[entity.key]
        assert attributes["tooltip"] == printable_lines(entity.title)
        assert printable(shown(entity.name)) in attributes["label"]
    expected = [(edge.source, edge.target, edge.title) for edge in graph.edges]
    assert [(a, b, own["tooltip"]) for a, b, own in found.edges] == expected
    for (_, _, own), edge in zip(found.edges, graph.edges, strict=True):
        step = step_of(edge.timed.p50_ns)
        assert (own["color"], own["penwidth"]) == (step.light, f"{step.width:g}")


def printable_lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


@pytest.mark.parametrize("name", SAMPLES)
def test_entities_are_in_the_cluster_of_their_node_and_process(
    sample: Sample, tmp_path: Path, name: str
) -> None:
    found = _exported(sample(name), tmp_path / "out.dot")
    graph = collect(Chosen(analyze(sample(name))))
    place = {place.key: place for place in graph.places}
    expected = {
        (place[entity.place].process, place[entity.place].name, entity.key)
        for entity in graph.entities
    }
    seen = {
        (process.attributes["label"].removeprefix("process "), *_first_line(node), key)
        for process in found.inner.values()
        for node in process.inner.values()
        for key in node.nodes
    }
    assert seen == expected
    assert found.nodes == ["legend"]


def _first_line(node: Cluster) -> tuple[str]:
    return (node.attributes["label"].split("\n")[0],)


def test_the_legend_has_every_step(sample: Sample, tmp_path: Path) -> None:
    legend = _exported(sample("fast_throws"), tmp_path / "out.dot").of_nodes["legend"]["label"]
    for step in (*STEPS, UNKNOWN):
        assert f'bgcolor="{step.light}"' in legend
        assert step.label in legend


def test_the_same_analysis_is_the_same_file(sample: Sample, tmp_path: Path) -> None:
    texts = []
    for name in ("a.dot", "b.dot"):
        _exported(sample("actions_jazzy"), tmp_path / name)
        texts.append((tmp_path / name).read_bytes())
    assert texts[0] == texts[1]


@given(st.text())
def test_any_text_is_a_string_of_the_language(text: str) -> None:
    parser = Parser(f"digraph {quoted('x')} {{ {quoted(text)} [label={quoted(text)}] }}")
    expected = printable_lines(text)
    assert parser.parse().of_nodes == {expected: {"label": expected}}
