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

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from strata.comparison.gates.document import Document, line_of
from strata.comparison.gates.grammar import LOSS, Condition, parse
from strata.comparison.runs import CALLBACK, CHAIN, HOP, KINDS, SERVICE
from strata.comparison.sides import TRANSFER
from strata.errors import GateError

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
CHAINS_ALONE = ("hold", "stored", "link hold")
"""What a node holds a message for: layers of chains only."""


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
    document = Document(path, "gates", GateError, "docs/compare.md")
    root = document.root("gates")
    entries = document.entries(root, ("gates", *_POLICIES))
    policies = _policies(document, entries, _POLICIES)
    gates = entries.get("gates")
    if not isinstance(gates, yaml.SequenceNode) or not gates.value:
        raise document.wrong(line_of(gates or root), "`gates` is no list of at least one gate")
    return tuple(_gate(document, node, policies) for node in gates.value)


def _gate(document: Document, node: yaml.Node, policies: Mapping[str, str]) -> Gate:
    line = line_of(node)
    if isinstance(node, yaml.ScalarNode):
        entries: dict[str, yaml.Node] = {"gate": node}
    elif isinstance(node, yaml.MappingNode):
        entries = document.entries(node, _KEYS)
    else:
        raise document.wrong(line, "a gate is a text, or a mapping with the key `gate`")
    if "gate" not in entries:
        raise document.wrong(line, "the gate has no key `gate`")
    text = document.text(entries["gate"])
    try:
        condition = parse(text)
    except ValueError as error:
        raise document.wrong(line_of(entries["gate"]), str(error)) from error
    scopes = [kind for kind in KINDS if kind in entries]
    allowed = scopes_of(condition.subject)
    if len(scopes) > 1 or not set(scopes) <= set(allowed):
        fact = f"a gate of {condition.subject} has one scope of {', '.join(allowed)}"
        raise document.wrong(line, f"{fact}, not {', '.join(scopes)}")
    kind = scopes[0] if scopes else default_scope(condition.subject)
    return Gate(
        condition,
        kind,
        document.text(entries[kind]) if scopes else "*",
        **_policies(document, entries, policies),
        name=document.text(entries["name"]) if "name" in entries else text,
        line=line,
    )


def scopes_of(subject: str) -> tuple[str, ...]:
    """Return the kinds of subjects that a gate may be limited to; of a layer hops and chains."""
    return _SCOPES.get(subject, _OF_LAYERS)


def default_scope(subject: str) -> str:
    """Return the kind that a gate is of where it does not say."""
    return CHAIN if subject in CHAINS_ALONE else scopes_of(subject)[0]


def _policies(
    document: Document, entries: Mapping[str, yaml.Node], otherwise: Mapping[str, str]
) -> dict[str, str]:
    """Return what each policy is: as a file or gate says, else as before."""
    return {
        key: _policy(document, key, entries[key]) if key in entries else before
        for key, before in otherwise.items()
    }


def _policy(document: Document, key: str, node: yaml.Node) -> str:
    text = document.text(node)
    if text not in POLICIES:
        fact = f"{key} is {text!r}, and not one of {', '.join(POLICIES)}"
        raise document.wrong(line_of(node), fact)
    return text
