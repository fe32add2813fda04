# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Read guard.yaml.

config: full
ring: {memory: 128M}
snapshot: {before: 5 s, after: 2 s}
limits: {every: 60 s, keep: 20, max_size: 2G, settle: 5 s}
when:
  - chain max > 50 ms
  - when: period max > 150 ms
    topic: /camera/*
    name: the camera stalls
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from strata.comparison.gates.document import Document, line_of
from strata.comparison.gates.grammar import LOSS, UNITS, amount
from strata.comparison.gates.load import CHAINS_ALONE, default_scope, scopes_of
from strata.comparison.runs import CALLBACK, CHAIN, HOP, SERVICE
from strata.engine.memory import bytes_of
from strata.errors import GuardError, StrataError
from strata.guard.conditions import (
    EVENT,
    EXECUTOR,
    MOST_BACK_NS,
    PERIOD,
    TIMER,
    Condition,
    parse,
    reach_ns,
)

TOPIC, NODE = "topic", "node"
SCOPES = (CHAIN, HOP, TOPIC, CALLBACK, SERVICE, NODE)
_OWN_SCOPES = {
    LOSS: (HOP,),
    PERIOD: (TOPIC, NODE),
    TIMER: (CALLBACK, NODE),
    EXECUTOR: (NODE,),
    EVENT: (),
    **dict.fromkeys(CHAINS_ALONE, (CHAIN,)),
}
LEAST_BACK_NS = 2_000_000_000
_TIMES = {**UNITS, "min": 60 * UNITS["s"], "h": 3600 * UNITS["s"]}
_KEYS = ("config", "ring", "snapshot", "limits", "when")


@dataclass(frozen=True)
class When:
    """One condition, and of which subjects.

    `kind` is what `pattern`, a shell pattern, is of: one of SCOPES; of events it is empty. `line`
    is where it stands in its file.
    """

    condition: Condition
    kind: str
    pattern: str
    name: str
    line: int = 0

    @property
    def whole(self) -> bool:
        """Tell whether it is of whole latencies (or durations of callbacks), not of a layer."""
        return self.condition.subject == self.kind


@dataclass(frozen=True)
class GuardFile:
    """What a guard records, when it keeps a snapshot, and what of; times are in ns, sizes in bytes.

    `config` is a session configuration, null for the default one. A snapshot has what happened
    `before_ns` before and `after_ns` after. What happens within `settle_ns` of the first event is
    no fault: programs start. No two are kept within `every_ns`; no more than `keep` of them, nor
    more than `max_size`, are on disk.
    """

    path: Path
    when: tuple[When, ...]
    config: str | None = None
    memory: int = 128 << 20
    before_ns: int = 5_000_000_000
    after_ns: int = 2_000_000_000
    every_ns: int = 60_000_000_000
    settle_ns: int = 5_000_000_000
    keep: int = 20
    max_size: int = 2 << 30

    @property
    def look_back_ns(self) -> int:
        """How far a window has to look back before its begin, so that every condition can hold."""
        return max(LEAST_BACK_NS, *(reach_ns(when.condition) for when in self.when))


def read_guard(path: Path) -> GuardFile:
    """Return what a file says; raises GuardError, with the line, for what is none."""
    document = Document(path, "conditions", GuardError, "docs/guard.md")
    root = document.root("when")
    top = document.entries(root, _KEYS)
    conditions = top.get("when")
    if not isinstance(conditions, yaml.SequenceNode) or not conditions.value:
        fact = "`when` is no list of at least one condition"
        raise document.wrong(line_of(conditions or root), fact)
    when = tuple(_when(document, node) for node in conditions.value)
    otherwise = GuardFile(path, when)
    ring = _section(document, top, "ring", ("memory",))
    snapshot = _section(document, top, "snapshot", ("before", "after"))
    limits = _section(document, top, "limits", ("every", "keep", "max_size", "settle"))
    before_ns = _time(document, snapshot.get("before"), otherwise.before_ns)
    after_ns = _time(document, snapshot.get("after"), otherwise.after_ns)
    if before_ns + after_ns > MOST_BACK_NS:
        line = line_of(snapshot.get("before") or snapshot["after"])
        fact = f"`before` and `after` are more than {MOST_BACK_NS // 10**9} s together, of which"
        raise document.wrong(line, f"{fact} ring buffers hold no more")
    return GuardFile(
        path,
        when,
        _config(document, top.get("config")),
        memory=_size(document, ring.get("memory"), otherwise.memory),
        before_ns=before_ns,
        after_ns=after_ns,
        every_ns=_time(document, limits.get("every"), otherwise.every_ns),
        keep=_count(document, limits.get("keep"), otherwise.keep),
        max_size=_size(document, limits.get("max_size"), otherwise.max_size),
        settle_ns=_time(document, limits.get("settle"), otherwise.settle_ns),
    )


def scopes_for(subject: str) -> tuple[str, ...]:
    """Return the scopes that a condition on a subject may have."""
    return _OWN_SCOPES[subject] if subject in _OWN_SCOPES else scopes_of(subject)


def unscoped(condition: Condition, name: str = "") -> When:
    """Return a condition on all its subjects."""
    subject = condition.subject
    own = _OWN_SCOPES.get(subject)
    kind = default_scope(subject) if own is None else next(iter(own), "")
    return When(condition, kind, "*", name or str(condition))


def _when(document: Document, node: yaml.Node) -> When:
    line = line_of(node)
    if isinstance(node, yaml.ScalarNode):
        entries: dict[str, yaml.Node] = {"when": node}
    elif isinstance(node, yaml.MappingNode):
        entries = document.entries(node, ("when", *SCOPES, "name"))
    else:
        raise document.wrong(line, "a condition is a text, or a mapping with the key `when`")
    if "when" not in entries:
        raise document.wrong(line, "the condition has no key `when`")
    text = document.text(entries["when"])
    try:
        every = unscoped(parse(text), text)
    except ValueError as error:
        raise document.wrong(line_of(entries["when"]), str(error)) from error
    given = [scope for scope in SCOPES if scope in entries]
    subject = every.condition.subject
    allowed = scopes_for(subject)
    if len(given) > 1 or not set(given) <= set(allowed):
        one = f"one scope of {', '.join(allowed)}" if allowed else "no scope"
        raise document.wrong(line, f"a condition on {subject} has {one}, not {', '.join(given)}")
    return When(
        every.condition,
        given[0] if given else every.kind,
        document.text(entries[given[0]]) if given else every.pattern,
        document.text(entries["name"]) if "name" in entries else text,
        line,
    )


def _section(
    document: Document, top: Mapping[str, yaml.Node], key: str, known: tuple[str, ...]
) -> dict[str, yaml.Node]:
    if key not in top:
        return {}
    node = top[key]
    if not isinstance(node, yaml.MappingNode):
        raise document.wrong(line_of(node), f"`{key}` is no mapping of {', '.join(known)}")
    return document.entries(node, known)


def _config(document: Document, node: yaml.Node | None) -> str | None:
    return None if node is None or node.tag.endswith(":null") else document.text(node)


def _size(document: Document, node: yaml.Node | None, otherwise: int) -> int:
    if node is None:
        return otherwise
    text = document.text(node)
    try:
        size = bytes_of(text)
    except StrataError:
        size = 0
    if not size:
        raise document.wrong(line_of(node), f"{text!r} is no size: write it as 128M or 2G")
    return size


def _time(document: Document, node: yaml.Node | None, otherwise: int) -> int:
    if node is None:
        return otherwise
    text = document.text(node)
    try:
        number, unit = amount(text.strip(), list(_TIMES))
    except ValueError as error:
        raise document.wrong(line_of(node), str(error)) from error
    return int(number * _TIMES[unit])


def _count(document: Document, node: yaml.Node | None, otherwise: int) -> int:
    if node is None:
        return otherwise
    text = document.text(node)
    if not re.fullmatch("0*[1-9][0-9]{0,8}", text):
        raise document.wrong(line_of(node), f"{text!r} is no whole number of at least 1")
    return int(text)
