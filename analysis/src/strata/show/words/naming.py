# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of nodes, topics and callbacks as a summary shows them: short, and never broken inside."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from rich.cells import cell_len, set_cell_size

from strata.analysis import Analysis
from strata.printable import printable
from strata.schema.layers import CALLBACK, HOLD
from strata.stats.bottleneck import cause
from strata.stats.places import is_behind
from strata.symbols import is_dotted, shorten, words_before

ELLIPSIS = "…"
_CALLBACK = re.compile(r"^(?P<symbol>.*?)(?: \[(?P<trigger>[^\]]*)\])? \((?P<node>[^()]*)\)$", re.S)
_LONGEST_FUNCTION = 40
_UNIT = re.compile(r"(?<=\d) (?=%|(?:ns|us|ms|s)\b)")
_TOGETHER = "\0"


class Names:
    """The names of a system without the namespace that all its nodes have in common.

    `nodes` are the full names that are known. `namespace` is "/perception" where every node is
    below it, and empty where they have none in common. Other names keep theirs, so that a name with
    a slash in front is always a full one.
    """

    def __init__(self, analysis: Analysis) -> None:
        """Take the nodes of an analysis, or of its hops where no node is known."""
        hops = analysis.rows("hops")
        nodes = set(analysis.rows("nodes").texts("name"))
        nodes |= set(hops.texts("publisher_node")) | set(hops.texts("subscription_node"))
        self.nodes = frozenset(node for node in nodes if node.startswith("/"))
        self.namespace = common_namespace(self.nodes)

    def topic(self, name: str) -> str:
        """Return a topic or node, without the common namespace."""
        within = f"{self.namespace}/"
        return printable(
            name[len(within) :] if self.namespace and name.startswith(within) else name
        )

    def node(self, name: str) -> str:
        """Return a node as it stands beside topics: also without the slash of the root."""
        short = self.topic(name)
        return short[1:] if short.count("/") == 1 and short.startswith("/") else short

    def text(self, text: str) -> str:
        """Return a sentence with its names without the common namespace."""
        if not self.namespace:
            return printable(text)
        within = rf"(?<![\w/]){re.escape(self.namespace)}/(?=\w)"
        return printable(re.sub(within, "", text))

    def callback(self, place: str) -> str:
        """Name a callback, "symbol [trigger] (node)": "Filter.cb in /detector".

        One without a name is named by what it is for: "callback of /image in /detector", "100 ms
        timer of /planner".
        """
        found = _CALLBACK.match(place)
        if not found:
            return self.text(place)
        node = self.topic(found["node"])
        function, trigger = function_name(found["symbol"]), found["trigger"]
        if function:
            return f"{function} in {node}"
        if not trigger:
            return f"a callback of {node}"
        if trigger.startswith("/"):
            return f"callback of {self.topic(trigger)} in {node}"
        return f"{printable(trigger)} timer of {node}"

    def cause(self, layer: str, where: str) -> str:
        """Name a cause of latency (table `blame`) in a few words."""
        before = words_before(where)
        place = where[len(before) :]
        if layer in (CALLBACK.name, HOLD.name):
            return f"{layer} {before}{self.callback(place)}" if before else self.callback(place)
        if is_behind(where) and not place.startswith("takes of "):
            return f"{layer} {before}{self.callback(place)}"
        return self.text(cause(layer, where))


def common_namespace(nodes: Iterable[str]) -> str:
    """Return the namespace that all of several nodes are in: "/perception"; empty for none."""
    known = {name for name in nodes if name.startswith("/")}
    if len(known) < 2:
        return ""
    common = os.path.commonpath([name.rpartition("/")[0] or "/" for name in known])
    return "" if common == "/" else common


def function_name(symbol: str) -> str | None:
    """Return a function with its class, "Filter.cb"; None for one that has no name of its own."""
    short = shorten(symbol)
    if "lambda" in short or short.startswith(("0x", "void (")):
        return None
    if is_dotted(short):
        parts = [part for part in short.partition(" (")[0].split(".") if part != "<locals>"]
        name = ".".join(parts[-2:])
    elif short.startswith("std::bind("):
        name = short
    else:
        name = "::".join(short.split("::")[-2:])
    return printable(name) if len(name) <= _LONGEST_FUNCTION else None


def fitted(name: str, width: int) -> str:
    """Return a name in at most `width` cells: cut at slashes, else an ellipsis in its middle."""
    if cell_len(name) <= width:
        return name
    parts = name.split("/")
    for at in range(1, len(parts)):
        short = f"{ELLIPSIS}/{'/'.join(parts[at:])}"
        if cell_len(short) <= width and len(parts[at:]) and parts[-1]:
            return short
    half = max(width - 1, 2) // 2
    tail = name[-half:]
    while cell_len(tail) > half:
        tail = tail[1:]
    head = set_cell_size(name, max(width - 1 - cell_len(tail), 1)).rstrip()
    return f"{head}{ELLIPSIS}{tail}"


def lines_of(text: str, width: int) -> list[str]:
    """Return words in lines of at most `width` cells; a name longer than a line is `fitted`.

    A number and its unit stay together.
    """
    lines = [""]
    for word in _UNIT.sub(_TOGETHER, text).split(" "):
        piece = fitted(word.replace(_TOGETHER, " "), width)
        longer = f"{lines[-1]} {piece}" if lines[-1] else piece
        if cell_len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(piece)
    return lines
