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

_STEP = "`strata scenarios` describes them all. Give"
_SCENARIOS = "scenarios"
_SEVERAL = f"\n{_SCENARIOS}:"


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
    name: str
    """Its own, where its file holds several scenarios; else the file's."""

    part: tuple[str, ...] | None = None
    """The hosts whose processes it has, where its hosts are several machines; else null."""

    ends: bool = False
    """Of a part: a process of the whole scenario ends by itself, maybe on another machine."""


def shipped_scenarios() -> list[Path]:
    """List the scenarios that ship, by name, each as a path of that name.

    One of several in a file is not there as a file of its own: `camera_480p15.yaml` is in
    camera.yaml. `load_scenario` takes either.
    """
    files = shipped_files("scenarios", ".yaml")
    return sorted(path.with_stem(name) for path in files for name in scenarios_in(path))


def load_scenario(
    name: str, changes: Mapping[str, str] | None = None, duration: str | None = None
) -> LoadedScenario:
    """Read a scenario, apply changes to it, and check it.

    `name` is a path, or the name of a shipped one; `changes` are texts by the name of a setting or
    by a dotted place (`load.cpu_percent`); `duration` is a number of the scenario's own unit, or
    a time with `s`, `min` or `h`.

    Raises ScenarioError, naming the file and the line, for anything that cannot be meant.
    """
    asked = Path(name)
    if not ("/" in name or asked.suffix) or scenario_file(asked) is None:
        asked = find_file(name, "scenario", shipped_scenarios(), _STEP, ScenarioError)
    path = (scenario_file(asked) or asked).resolve()
    own = asked.stem
    document, files = read_extended(path, (), scenario=own)
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
        name=own,
    )


def scenario_file(path: Path) -> Path | None:
    """Find the file that holds the scenario of a path; null when none does.

    That is the file itself, or one beside it whose name the scenario's begins with: camera.yaml
    holds `camera_480p15.yaml`, when it has a scenario of that name.
    """
    if path.is_file():
        return path
    words = path.stem.split("_")
    for count in range(len(words) - 1, 0, -1):
        file = path.with_stem("_".join(words[:count]))
        if file.is_file() and (path.stem in scenarios_in(file) or _is_damaged(file)):
            return file
    return None


def scenarios_in(path: Path) -> list[str]:
    """Name the scenarios of a file: those that it holds, or itself. A damaged file is one."""
    try:
        held = read_document(path).get(_SCENARIOS) if _holds_several(path) else None
    except StrataError:
        held = None
    return list(held) if isinstance(held, LocatedDict) and held else [path.stem]


def _is_damaged(path: Path) -> bool:
    """Tell whether a file that holds several scenarios cannot be read: it says so when loaded."""
    try:
        if _holds_several(path):
            read_document(path)
    except StrataError:
        return True
    return False


def _holds_several(path: Path) -> bool:
    """Tell whether a file holds several scenarios, without parsing those that do not."""
    try:
        return _SEVERAL in path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False


def read_extended(
    path: Path,
    above: tuple[Path, ...],
    what: str = "scenario",
    scenario: str | None = None,
) -> tuple[LocatedDict, list[Path]]:
    """Read a document with what it extends, and name the files; `above` extend it.

    `scenario` chooses one of a file that holds several. Raises the error of what the document is
    of.
    """
    document = read_document(path, what)
    if what == "scenario" and _SCENARIOS in document:
        document = _one_of(document, path, scenario)
    if "extends" not in document:
        return document, [path]
    base, line = document.pop("extends"), document.lines["extends"]
    named = path.parent / f"{base}.yaml"
    beside = scenario_file(named) if what == "scenario" else named
    if not isinstance(base, str) or beside is None or not beside.is_file():
        raise refusal(
            path,
            line,
            f"extends '{base}': there is no {named}",
            f"Name a {what} in the same directory",
            what,
        )
    if beside in (path, *above):
        fact = f"extends '{base}', which extends this one"
        raise refusal(path, line, fact, "Leave it out", what)
    inherited, files = read_extended(beside, (path, *above), what, base)
    return extended(inherited, document), [path, *files]


def _one_of(document: LocatedDict, path: Path, scenario: str | None) -> LocatedDict:
    """Give the document of one of the scenarios that a file holds: what all share, and its own."""
    line = document.lines[_SCENARIOS]
    held = document[_SCENARIOS]
    if not isinstance(held, LocatedDict) or not held:
        fact = f"'{_SCENARIOS}' is no mapping"
        raise refusal(path, line, fact, "Write what differs in each, by the scenario's name")
    for name, own in held.items():
        if not name.startswith(f"{path.stem}_"):
            fact = f"scenario '{name}' does not begin with the file's name"
            raise refusal(path, held.lines[name], fact, f"Call it {path.stem}_{name}")
        if not isinstance(own, LocatedDict):
            raise refusal(path, held.lines[name], f"scenario '{name}' is no mapping", "Write keys")
    if scenario is None or scenario not in held:
        fact = "it holds several scenarios"
        raise refusal(path, line, fact, f"Use one of {', '.join(held)}")
    shared = LocatedDict(
        {key: value for key, value in document.items() if key != _SCENARIOS}, document.lines
    )
    return extended(shared, held[scenario])


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
