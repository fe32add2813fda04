# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""YAML whose mappings and lists know the lines that their entries stand on."""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from strata.documents import DocumentError, read_text
from strata.errors import CampaignError, ScenarioError, StrataError
from strata.yaml_document import MAX_BYTES, Loader, parse_yaml

_MERGE = "tag:yaml.org,2002:merge"
_ERRORS: dict[str, type[StrataError]] = {"scenario": ScenarioError, "campaign": CampaignError}


class LocatedDict(dict[str, Any]):
    """A mapping of a document; `lines` has the line of each key, from 1."""

    def __init__(self, values: Mapping[str, Any], lines: Mapping[str, int]) -> None:
        super().__init__(values)
        self.lines = dict(lines)


class LocatedList(list[Any]):
    """A list of a document; `lines` has the line of each element, from 1."""

    def __init__(self, values: Sequence[Any], lines: Sequence[int]) -> None:
        super().__init__(values)
        self.lines = list(lines)


class _Loader(Loader):
    """Makes the located kinds; a key is a text."""

    def located_mapping(self, node: yaml.MappingNode) -> LocatedDict:
        own = sum(key.tag != _MERGE for key, _ in node.value)
        # Puts what is merged (`<<`) before the own keys, which win.
        self.flatten_mapping(node)
        merged = len(node.value) - own
        made = LocatedDict({}, {})
        own_keys: set[str] = set()
        for number, (key_node, value_node) in enumerate(node.value):
            key = self.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if not isinstance(key, str):
                raise DocumentError(f"key {key!r} is not text", line, "Quote it")
            if key in own_keys:
                raise DocumentError(
                    f"key '{key}' occurs twice", line, f"See line {made.lines[key]}"
                )
            if number >= merged:
                own_keys.add(key)
            made[key] = self.construct_object(value_node, deep=True)
            made.lines[key] = line
        return made

    def located_sequence(self, node: yaml.SequenceNode) -> LocatedList:
        values = [self.construct_object(child, deep=True) for child in node.value]
        return LocatedList(values, [child.start_mark.line + 1 for child in node.value])


_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.located_mapping)
_Loader.add_constructor("tag:yaml.org,2002:seq", _Loader.located_sequence)


def refusal(
    path: Path, line: int | None, fact: str, advice: str, what: str = "scenario"
) -> StrataError:
    """Make the error for one place of a file; `line` is null when none is known.

    `what` the file is of tells its class: a scenario's is a ScenarioError.
    """
    where = f"{path}:{line}" if line else str(path)
    return _ERRORS[what](f"Cannot use {what} {where}: {fact}. {advice}.")


def read_document(path: Path, what: str = "scenario") -> LocatedDict:
    """Read the document of what is a scenario or the like.

    Raises its error, with the line, for what is no YAML, no mapping, or has a key twice.
    """
    try:
        # A campaign loads its scenarios a hundred times; parsing them is most of it.
        document = copy.deepcopy(_parsed(read_text(path, MAX_BYTES)))
    except DocumentError as error:
        if error.line is None:
            raise error.refusal(path, what, _ERRORS[what]) from error
        raise refusal(path, error.line, error.fact, error.advice, what) from error
    if not isinstance(document, LocatedDict):
        advice = f"Write the keys of a {what}"
        raise refusal(path, None, "the document is not a mapping", advice, what)
    return document


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> Any:
    return parse_yaml(text, _Loader)


def extended(base: LocatedDict, own: LocatedDict) -> LocatedDict:
    """Give a document that says what `base` says, but for what `own` says otherwise.

    Mappings are merged, all else is replaced; a setting's plain value replaces its default. What
    comes from `base` has no line.
    """
    made = LocatedDict(base, dict.fromkeys(base, 0))
    for key, value in own.items():
        before = made.get(key)
        if isinstance(before, LocatedDict) and isinstance(value, LocatedDict):
            made[key] = _settings(before, value) if key == "settings" else extended(before, value)
        else:
            made[key] = value
        made.lines[key] = own.lines[key]
    return made


def _settings(base: LocatedDict, own: LocatedDict) -> LocatedDict:
    changed = LocatedDict({}, own.lines)
    for name, value in own.items():
        plain = not isinstance(value, LocatedDict)
        line = own.lines[name]
        changed[name] = LocatedDict({"default": value}, {"default": line}) if plain else value
    return extended(base, changed)


def line_of(document: Any, place: Sequence[str | int]) -> int | None:
    """Give the line of a place in a document, of its nearest known parent otherwise."""
    line: int | None = None
    for step in place:
        if isinstance(document, LocatedDict) and isinstance(step, str) and step in document:
            line = document.lines.get(step, line)
        elif isinstance(document, LocatedList) and isinstance(step, int) and step < len(document):
            line = document.lines[step]
        else:
            break
        document = document[step]
    return line
