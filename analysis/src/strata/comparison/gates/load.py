# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Read a file of gates.

undecided: passes
missing: fails
gates:
  - chain p99 < 20 ms
  - gate: serialize p50 not more than 5 % worse
    hop: /chain_*
    undecided: fails
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from strata.comparison.gates.grammar import LOSS, Condition, parse
from strata.comparison.runs import CALLBACK, CHAIN, HOP, KINDS, SERVICE
from strata.comparison.sides import TRANSFER
from strata.documents import DocumentError, read_text
from strata.errors import GateError
from strata.yaml_document import MAX_BYTES, compose_yaml

PASSES, FAILS = POLICIES = ("passes", "fails")
_POLICIES = {"undecided": PASSES, "missing": FAILS}
"""What becomes of a gate that is not decided, where the file does not say."""
_KEYS = ("gate", *KINDS, *_POLICIES, "name")
_SCOPES = {
    CHAIN: (CHAIN,),
    HOP: (HOP,),
    TRANSFER: (HOP,),
    SERVICE: (SERVICE,),
    CALLBACK: (CALLBACK, HOP, CHAIN),
    LOSS: (HOP, SERVICE),
}
_OF_LAYERS = (HOP, CHAIN)


@dataclass(frozen=True)
class Gate:
    """One gate: what it says, of which subjects, and what becomes of an undecided one.

    `missing` is what becomes of one that cannot be judged because data are missing.
    `kind` is that of its subjects and `pattern` a shell pattern for their names; `line` is where it
    stands in its file.
    """

    condition: Condition
    kind: str
    pattern: str
    undecided: str
    missing: str
    name: str
    line: int

    @property
    def whole(self) -> bool:
        """Tell whether it is of whole latencies (or durations of callbacks), not of a layer."""
        return self.condition.subject == self.kind


def read_gates(path: Path) -> tuple[Gate, ...]:
    """Return the gates of a file; raises GateError, with the line, for what is none."""
    try:
        root = compose_yaml(read_text(path, MAX_BYTES))
    except DocumentError as error:
        if error.line is None:
            raise error.refusal(path, "gates", GateError) from error
        raise _wrong(path, error.line, error.fact) from error
    if not isinstance(root, yaml.MappingNode):
        raise _wrong(path, 1, "the document has no key `gates`")
    entries = dict(_entries(path, root, ("gates", *_POLICIES)))
    policies = _policies(path, entries, _POLICIES)
    gates = entries.get("gates")
    if not isinstance(gates, yaml.SequenceNode) or not gates.value:
        line = (gates or root).start_mark.line + 1
        raise _wrong(path, line, "`gates` is no list of at least one gate")
    return tuple(_gate(path, node, policies) for node in gates.value)


def _gate(path: Path, node: yaml.Node, policies: Mapping[str, str]) -> Gate:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.ScalarNode):
        entries: dict[str, yaml.Node] = {"gate": node}
    elif isinstance(node, yaml.MappingNode):
        entries = dict(_entries(path, node, _KEYS))
    else:
        raise _wrong(path, line, "a gate is a text, or a mapping with the key `gate`")
    if "gate" not in entries:
        raise _wrong(path, line, "the gate has no key `gate`")
    text = _text(path, entries["gate"])
    try:
        condition = parse(text)
    except ValueError as error:
        raise _wrong(path, entries["gate"].start_mark.line + 1, str(error)) from error
    scopes = [kind for kind in KINDS if kind in entries]
    allowed = _SCOPES.get(condition.subject, _OF_LAYERS)
    if len(scopes) > 1 or not set(scopes) <= set(allowed):
        fact = f"a gate of {condition.subject} has one scope of {', '.join(allowed)}"
        raise _wrong(path, line, f"{fact}, not {', '.join(scopes)}")
    kind = scopes[0] if scopes else _default_scope(condition.subject, allowed)
    return Gate(
        condition,
        kind,
        _text(path, entries[kind]) if scopes else "*",
        **_policies(path, entries, policies),
        name=_text(path, entries["name"]) if "name" in entries else text,
        line=line,
    )


def _default_scope(subject: str, allowed: tuple[str, ...]) -> str:
    """What a node holds a message for is a layer of chains only."""
    return CHAIN if subject in ("hold", "stored", "link hold") else allowed[0]


def _entries(
    path: Path, node: yaml.MappingNode, known: tuple[str, ...]
) -> Iterator[tuple[str, yaml.Node]]:
    seen: dict[str, int] = {}
    for key, value in node.value:
        line, name = key.start_mark.line + 1, str(key.value)
        if name not in known:
            raise _wrong(path, line, f"key {name!r} is none of {', '.join(known)}")
        if name in seen:
            raise _wrong(path, line, f"key {name!r} occurs twice, see line {seen[name]}")
        seen[name] = line
        yield name, value


def _text(path: Path, node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
        raise _wrong(path, node.start_mark.line + 1, "a text is wanted there")
    return str(node.value)


def _policies(
    path: Path, entries: Mapping[str, yaml.Node], otherwise: Mapping[str, str]
) -> dict[str, str]:
    """Return what each policy is: as a file or gate says, else as before."""
    return {
        key: _policy(path, key, entries[key]) if key in entries else before
        for key, before in otherwise.items()
    }


def _policy(path: Path, key: str, node: yaml.Node) -> str:
    text = _text(path, node)
    if text not in POLICIES:
        fact = f"{key} is {text!r}, and not one of {', '.join(POLICIES)}"
        raise _wrong(path, node.start_mark.line + 1, fact)
    return text


def _wrong(path: Path, line: int, fact: str) -> GateError:
    return GateError(f"Cannot use gates {path}:{line}: {fact}. See docs/compare.md.")
