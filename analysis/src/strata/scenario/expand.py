# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From the file of a scenario to the document to check: settings, repetitions, changes.

`${name}` stands for a setting or a part of the duration, `${(name+1)*other}` for what whole numbers
give (+, -, *, parentheses), `${name?A:B}` for the text A where it is true and B where it is false,
`${name=A|B}` for whether it is one of these words. What a setting implies by its value has a name
too, and cannot be set. An element with `repeat: N` stands for N of it,
in which `${i}` counts from 0; with `repeat: {a: N, b: M}` for one of each combination of both. A
text that is one placeholder takes the value with its type.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strata.documents import DocumentError, shown
from strata.errors import ScenarioError, StrataError
from strata.scenario.located import LocatedDict, LocatedList, refusal
from strata.yaml_document import parse_yaml

LATE = ("results", "root")
"""Placeholders that are known when the scenario runs: where nodes write, and the project."""

UNITS = ("messages", "scans", "frames", "seconds")
_PLACEHOLDER = re.compile(
    r"\$\{(?:(\w+)(?:=([\w|]+)|\?([^:{}]*):([^{}]*))?|([\w()+* -]+))\}", re.ASCII
)
# ${COLOUR-none} may be a shell's own; what has a number or a parenthesis there is a sum.
_COMPUTES = re.compile(r"[-+*] *[\d(]|[()]")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
_MOST_REPEATED = 10_000
_TIME = re.compile(r"(\d+(?:\.\d+)?) ?(s|min|h)", re.ASCII)
_UNIT_S = {"s": 1.0, "min": 60.0, "h": 3600.0}

Scalar = bool | int | float | str


class Expansion:
    """Expands one document; `path` is what its refusals name."""

    def __init__(self, document: LocatedDict, path: Path) -> None:
        self._document = document
        self._path = path
        self.settings: dict[str, Scalar] = {}
        """The settings' values, by name."""

    def expand(self, changes: Mapping[str, str], duration: str | None) -> LocatedDict:
        """Give the document with all settings and changes applied, without the `settings`.

        `changes` are texts by the name of a setting, or by a dotted place in the document;
        `duration` is a number of the scenario's own unit, or a time with `s`, `min` or `h`.
        """
        declared = self._settings()
        implied = {key: by for by, one in declared.items() for key in one.get("implies", {})}
        unknown = [key for key in changes if "." not in key and key not in declared]
        own = {key: text for key, text in changes.items() if key in declared}
        for key, text in own.items():
            self.settings[key] = self._as_setting(key, text, declared[key])
        top = LocatedDict(self._document, self._document.lines)
        for key in unknown:
            if key in implied:
                raise ScenarioError(
                    f"Cannot set '{key}' of {self._path}: it follows from '{implied[key]}'. Set "
                    "that."
                )
            # A key of the top, such as `session` or `variant`; all others are told.
            if key not in _SIMPLE_KEYS:
                known = ", ".join([*declared, *_SIMPLE_KEYS])
                raise ScenarioError(
                    f"Cannot set '{key}' of {self._path}: it is not a setting of this scenario. "
                    f"Use one of {known}, or a place in the file such as load.cpu_percent."
                )
        early = [key for key in changes if key in _SIMPLE_KEYS or key.startswith("duration.")]
        for key in early:
            # Before placeholders are filled in: some stand for these.
            self._change(top, key, _parsed(changes[key]))
        self._imply(declared)
        names = self._duration(top, duration)
        expanded = self._value(top, {**self.settings, **names}, 0)
        assert isinstance(expanded, LocatedDict)
        for key in (key for key in changes if key not in declared and key not in early):
            self._change(expanded, key, _parsed(changes[key]))
        expanded["settings"] = dict(self.settings)
        return expanded

    def _settings(self) -> dict[str, LocatedDict]:
        declared = self._document.get("settings", LocatedDict({}, {}))
        if not isinstance(declared, LocatedDict):
            raise self._refuse("settings", "it is not a mapping", "Write `name: {default, text}`")
        for name, one in declared.items():
            line = declared.lines[name]
            if not isinstance(one, LocatedDict) or not {"default", "text"} <= set(one):
                raise refusal(
                    self._path,
                    line,
                    f"setting '{name}' has no default and text",
                    "Write `{default: VALUE, text: WHAT IT IS}`",
                )
            extra = set(one) - {"default", "text", "choices", "implies"}
            if extra:
                raise refusal(
                    self._path, line, f"setting '{name}' has '{min(extra)}'", "Leave it out"
                )
            if not isinstance(one["default"], Scalar):
                raise refusal(
                    self._path, line, f"setting '{name}' is not a single value", "Write one value"
                )
            self.settings[name] = one["default"]
        for name, one in declared.items():
            self._check_implied(name, one, declared)
        return dict(declared)

    def _check_implied(self, name: str, one: LocatedDict, declared: LocatedDict) -> None:
        """Refuse what a setting implies where it is not one value for each of its choices."""
        if "implies" not in one:
            return
        line, implied = declared.lines[name], one["implies"]
        advice = "Write `implies: {NAME: {CHOICE: VALUE for each of its choices}}`"
        if not isinstance(implied, LocatedDict):
            raise refusal(self._path, line, f"what '{name}' implies is no mapping", advice)
        for key, values in implied.items():
            if key in declared or key in UNITS or key in LATE:
                fact = f"'{name}' implies '{key}', which has a value already"
                raise refusal(self._path, line, fact, "Choose another name")
            if not isinstance(values, LocatedDict) or set(values) != set(one.get("choices", ())):
                fact = f"'{name}' implies no '{key}' for some of its choices, or has no choices"
                raise refusal(self._path, line, fact, advice)
            if not all(isinstance(value, Scalar) for value in values.values()):
                fact = f"a '{key}' that '{name}' implies is not a single value"
                raise refusal(self._path, line, fact, advice)
        if implied and one["default"] not in one["choices"]:
            fact = f"the default of '{name}', {one['default']}, is none of its choices"
            raise refusal(self._path, line, fact, f"Use {' or '.join(map(str, one['choices']))}")

    def _imply(self, declared: Mapping[str, LocatedDict]) -> None:
        """Enter what the settings' values imply among the settings."""
        for name, one in declared.items():
            for key, values in one.get("implies", {}).items():
                self.settings[key] = values[self.settings[name]]

    def _as_setting(self, name: str, text: str, declared: Mapping[str, Any]) -> Scalar:
        default = declared["default"]
        value = text if isinstance(default, str) else _parsed(text)
        if isinstance(default, float) and type(value) is int:
            value = float(value)
        if type(value) is not type(default):
            kinds: dict[type, str] = {
                bool: "true or false",
                int: "a whole number",
                float: "a number",
            }
            raise ScenarioError(
                f"Cannot set '{name}' of {self._path}: '{text}' is not "
                f"{kinds.get(type(default), 'a text')}. Its default is {default}."
            )
        choices = declared.get("choices")
        if choices and value not in choices:
            raise ScenarioError(
                f"Cannot set '{name}' of {self._path}: '{text}' is not allowed. Use "
                f"{' or '.join(map(str, choices))}."
            )
        assert isinstance(value, Scalar)
        return value

    def _duration(self, top: LocatedDict, changed: str | None) -> dict[str, Scalar]:
        """Give the names that the duration defines; enters a changed one into `top`."""
        stated = top.get("duration")
        if not isinstance(stated, LocatedDict):
            raise self._refuse("duration", "missing, or not a mapping", "Write `messages: 500`")
        duration = self._value(stated, self.settings, stated.lines.get("duration", 0))
        units = [unit for unit in UNITS if unit in duration]
        if len(units) != 1:
            raise self._refuse(
                "duration", f"{len(units)} units are given", f"Give one of {', '.join(UNITS)}"
            )
        unit = units[0]
        if changed is not None:
            duration[unit] = self._converted(changed, unit, duration.get("per_second"))
        top["duration"] = duration
        return {unit: duration[unit]}

    def _converted(self, text: str, unit: str, per_second: object) -> int | float:
        seconds = seconds_of(text)
        if seconds is not None and unit != "seconds":
            if not isinstance(per_second, int | float):
                raise ScenarioError(
                    f"Cannot run {self._path} for {text}: its length is given in {unit}, without "
                    f"a rate per second. Give --duration a number of {unit}."
                )
            value = float(max(1.0, round(seconds * per_second)))
        else:
            try:
                value = float(text) if seconds is None else seconds
            except ValueError:
                value = 0.0
        if not 0 < value < 1e9 or (unit != "seconds" and value != int(value)):
            raise ScenarioError(
                f"Cannot run {self._path} for '{text}': that is not a number of {unit} above 0 "
                f"and below 1,000,000,000. Write --duration 100 for 100 {unit}, or 10s, 5min, 4h "
                "for a time."
            )
        return value if unit == "seconds" else int(value)

    def _value(self, value: Any, names: Mapping[str, Scalar], line: int) -> Any:
        if isinstance(value, LocatedDict):
            kept = [key for key in value if key not in ("settings", "repeat")]
            return LocatedDict(
                {key: self._value(value[key], names, value.lines[key]) for key in kept},
                {key: value.lines[key] for key in kept},
            )
        if isinstance(value, LocatedList):
            return self._list(value, names)
        return self._filled(value, names, line) if isinstance(value, str) else value

    def _list(self, values: LocatedList, names: Mapping[str, Scalar]) -> LocatedList:
        made = LocatedList([], [])
        for element, line in zip(values, values.lines, strict=True):
            for here in self._repeated(element, names, line):
                made.append(self._value(element, here, line))
                made.lines.append(line)
        return made

    def _repeated(
        self, element: Any, names: Mapping[str, Scalar], line: int
    ) -> list[Mapping[str, Scalar]]:
        """Return the names that each repetition of an element of a list sees; itself without."""
        if not (isinstance(element, LocatedDict) and "repeat" in element):
            return [names]
        asked = self._value(element["repeat"], names, line)
        counts = dict(asked) if isinstance(asked, LocatedDict) else {"i": asked}
        for name, count in counts.items():
            if isinstance(asked, LocatedDict) and name in self.settings:
                fact = f"repeat counts '{name}', which is a setting"
                raise refusal(self._path, line, fact, "Choose another name")
            if type(count) is not int or count < 0:
                raise refusal(self._path, line, f"repeat is '{count}'", "Write a whole number")
        total = math.prod(counts.values())
        if total > _MOST_REPEATED:
            fact = f"repeat is {total:,}, above {_MOST_REPEATED:,}"
            raise refusal(self._path, line, fact, "Repeat less")
        each = itertools.product(*(range(count) for count in counts.values()))
        return [{**names, **dict(zip(counts, numbers, strict=True))} for numbers in each]

    def _computed(self, text: str, names: Mapping[str, Scalar], line: int) -> int:
        """Return what a sum or product of whole numbers and names of such gives."""

        def value(node: ast.expr) -> int:
            if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
                return int(_OPERATORS[type(node.op)](value(node.left), value(node.right)))
            if isinstance(node, ast.Constant) and type(node.value) is int:
                return node.value
            if isinstance(node, ast.Name):
                known = self._filled(f"${{{node.id}}}", names, line)
                if type(known) is int:
                    return known
                fact = f"'${{{text}}}': {known} is not a whole number"
                raise refusal(self._path, line, fact, "Leave it out")
            raise SyntaxError

        try:
            return value(ast.parse(text.strip(), mode="eval").body)
        except (SyntaxError, RecursionError):
            fact = f"'${{{text}}}' is no sum or product of whole numbers"
            raise refusal(self._path, line, fact, "Use +, -, * and parentheses") from None

    def _filled(self, text: str, names: Mapping[str, Scalar], line: int) -> Scalar:
        def found(match: re.Match[str]) -> Scalar:
            name, words, yes, no, computed = match.groups()
            if computed is not None:
                if not any(one in names for one in _NAME.findall(computed)):
                    if _COMPUTES.search(computed):
                        known = ", ".join([*names, *LATE])
                        fact = f"'{match[0]}' has no name that is known"
                        advice = f"Known: {known}. A shell's own default is written ${{NAME:-1}}"
                        raise refusal(self._path, line, fact, advice)
                    # A shell's own: ${COLOUR-none}.
                    return match[0]
                return self._computed(computed, names, line)
            if name in LATE and match[0] == f"${{{name}}}":
                return match[0]
            if name not in names:
                known = ", ".join([*names, *LATE])
                raise refusal(self._path, line, f"'{match[0]}' is not known", f"Known: {known}")
            value = names[name]
            if words is not None:
                return as_text(value) in words.split("|")
            if yes is not None:
                if type(value) is not bool:
                    fact = f"'{match[0]}': {value} is neither true nor false"
                    raise refusal(self._path, line, fact, "Leave it out")
                return str(yes if value else no)
            return value

        whole = _PLACEHOLDER.fullmatch(text)
        if whole:
            return found(whole)
        return _PLACEHOLDER.sub(lambda match: as_text(found(match)), text)

    def _change(self, document: LocatedDict, place: str, value: Any) -> None:
        *parents, last = place.split(".")
        here: Any = document
        for step in parents:
            if isinstance(here, LocatedDict):
                here.lines.setdefault(step, 0)
                here = here.setdefault(step, LocatedDict({}, {}))
            elif isinstance(here, LocatedList):
                here = next((one for one in here if one.get("name") == step), None)
            else:
                here = None
            if here is None:
                raise ScenarioError(
                    f"Cannot set '{place}' of {self._path}: there is no '{step}'. `strata "
                    "scenarios NAME` shows the scenario's keys."
                )
        if not isinstance(here, LocatedDict):
            raise ScenarioError(
                f"Cannot set '{place}' of {self._path}: '{last}' is not inside a mapping. "
                "`strata scenarios NAME` shows the scenario's keys."
            )
        # What comes from the command line stands on no line.
        here.lines[last] = 0
        here[last] = _located(value)

    def _refuse(self, key: str, fact: str, advice: str) -> StrataError:
        return refusal(self._path, self._document.lines.get(key), f"key '{key}': {fact}", advice)


_SIMPLE_KEYS = ("session", "variant")


def late(value: Any, names: Mapping[str, str]) -> Any:
    """Fill in the placeholders that are known when the scenario runs."""
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda match: names.get(match[1], match[0]), value)
    if isinstance(value, Mapping):
        return {key: late(one, names) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [late(one, names) for one in value]
    return value


def _located(value: Any) -> Any:
    """Give mappings lines, 0 for none, so that a later change finds its place in them."""
    if isinstance(value, Mapping):
        values = {str(key): _located(one) for key, one in value.items()}
        return LocatedDict(values, dict.fromkeys(values, 0))
    if isinstance(value, list):
        return LocatedList([_located(one) for one in value], [0] * len(value))
    return value


def _parsed(text: str) -> Any:
    try:
        return parse_yaml(text)
    except DocumentError as error:
        raise ScenarioError(
            f"Cannot set a value: '{shown(text)}' is not valid YAML ({error.fact}). Quote it."
        ) from error


def seconds_of(text: str) -> float | None:
    """Read a time such as `10s`, `5min` or `4h`, in seconds; null for what is none."""
    found = _TIME.fullmatch(text)
    return float(found[1]) * _UNIT_S[found[2]] if found else None


def as_text(value: Scalar) -> str:
    """Write a value as YAML does."""
    return str(value).lower() if isinstance(value, bool) else str(value)
