# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Find, read and check scenarios."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from strata.errors import ScenarioError, StrataError
from strata.record.places import find_file, shipped_files
from strata.scenario.expand import Expansion
from strata.scenario.located import LocatedDict, extended, line_of, read_document, refusal
from strata.scenario.model import Scenario


@dataclass(frozen=True)
class Setting:
    """A value of a scenario that is made to be changed; `choices` is empty when any will do."""

    name: str
    default: bool | int | float | str
    text: str
    choices: tuple[str, ...]


@dataclass(frozen=True)
class LoadedScenario:
    """A checked scenario, its file, and what was changed of it.

    `read` has the SHA-256 of its file, and of those that it extends, by path.
    """

    file: Path
    read: dict[str, str]
    scenario: Scenario
    settings: tuple[Setting, ...]
    changes: dict[str, str]

    @property
    def name(self) -> str:
        """Name the scenario, by its file."""
        return self.file.stem


def shipped_scenarios() -> list[Path]:
    """List the files of the scenarios that ship, by name."""
    return shipped_files("scenarios", ".yaml")


def load_scenario(
    name: str, changes: Mapping[str, str] | None = None, duration: str | None = None
) -> LoadedScenario:
    """Read a scenario, apply changes to it, and check it.

    `name` is a path, or the name of a shipped one; `changes` are texts by the name of a setting or
    by a dotted place (`load.cpu_percent`); `duration` is a number of the scenario's own unit, or
    seconds with an `s`.

    Raises ScenarioError, naming the file and the line, for anything that cannot be meant.
    """
    path = find_file(name, "scenario", shipped_scenarios(), "Give", ScenarioError)
    document, files = read_extended(path, ())
    expansion = Expansion(document, path)
    expanded = expansion.expand(changes or {}, duration)
    try:
        scenario = Scenario.model_validate(expanded)
    except ValidationError as error:
        raise refused_document(path, expanded, error) from error
    declared = document.get("settings", {})
    return LoadedScenario(
        file=path,
        read={str(one): hashlib.sha256(one.read_bytes()).hexdigest() for one in files},
        scenario=scenario,
        settings=tuple(
            Setting(key, one["default"], one["text"], tuple(map(str, one.get("choices", ()))))
            for key, one in declared.items()
        ),
        changes={**(changes or {}), **({"duration": duration} if duration else {})},
    )


def read_extended(
    path: Path, above: tuple[Path, ...], what: str = "scenario"
) -> tuple[LocatedDict, list[Path]]:
    """Read a document with what it extends, and name the files; `above` extend it.

    Raises the error of what the document is of.
    """
    document = read_document(path, what)
    if "extends" not in document:
        return document, [path]
    base, line = document.pop("extends"), document.lines["extends"]
    beside = path.parent / f"{base}.yaml"
    if not isinstance(base, str) or not beside.is_file():
        raise refusal(
            path,
            line,
            f"extends '{base}': there is no {beside}",
            f"Name a {what} in the same directory",
            what,
        )
    if beside in (path, *above):
        fact = f"extends '{base}', which extends this one"
        raise refusal(path, line, fact, "Leave it out", what)
    inherited, files = read_extended(beside, (path, *above), what)
    return extended(inherited, document), [path, *files]


def refused_document(
    path: Path,
    document: LocatedDict,
    error: ValidationError,
    what: str = "scenario",
    advice: str = "docs/scenarios.md lists the keys",
) -> StrataError:
    """Make one error of the first of a validation's; the others are counted."""
    first, *others = error.errors(include_url=False)
    place = _place(document, [step for step in first["loc"] if isinstance(step, int | str)])
    line = line_of(document, place)
    where = _dotted(document, place)
    fact = _fact(first)
    if where:
        fact = f"key '{where}': {fact}"
    more = f"; and {len(others)} more" if others else ""
    return refusal(path, line, fact + more, advice, what)


def _place(document: Any, steps: list[str | int]) -> list[str | int]:
    """Leave out of a place what names a possible type of a value, not a key of the document."""
    place = []
    for number, step in enumerate(steps):
        listed = isinstance(document, list) and isinstance(step, int) and step < len(document)
        if listed or (isinstance(document, Mapping) and step in document):
            document = document[step]
        elif number + 1 < len(steps):
            continue
        place.append(step)
    return place


def _dotted(document: Any, place: list[str | int]) -> str:
    """Write a place as a user would: elements of lists by their names."""
    words = []
    for step in place:
        inside = isinstance(document, list) and isinstance(step, int) and step < len(document)
        if inside or (isinstance(document, Mapping) and step in document):
            document = document[step]
            named = inside and isinstance(document, Mapping) and "name" in document
            words.append(str(document["name"]) if named else str(step))
            continue
        # What is missing is named; below a plain value come only names of its possible types.
        if isinstance(document, Mapping):
            words.append(str(step))
        break
    return ".".join(words)


def _fact(detail: Any) -> str:
    kind, given = detail["type"], detail["input"]
    if kind == "missing":
        return "missing"
    if kind == "extra_forbidden":
        return "unknown key"
    if kind == "value_error":
        return str(detail["ctx"]["error"])
    if isinstance(given, Mapping | list):
        return str(detail["msg"])
    return f"'{given}': {detail['msg'][0].lower()}{detail['msg'][1:]}"
