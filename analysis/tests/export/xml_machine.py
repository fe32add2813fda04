# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs an XML pattern of Trace Compass: the part of its language that Strata's files use.

The rules were read from Trace Compass's own sources, and the segments are those that it makes of
the same traces: the first transition whose event and tests fit is taken; a test compares numbers as
numbers and all else as text; an attribute that was never set is null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

Value = Any
Element = ElementTree.Element
_SCRIPT = re.compile(r"('[^']*'|\w+|\((\w+) == '([^']*)' \? '([^']*)' : (\w+)\))(?: \+ )?")


@dataclass(frozen=True)
class Happened:
    """One event: its name, its time in ns since the epoch, and its fields with the contexts."""

    name: str
    time: int
    fields: dict[str, Value]

    def value(self, name: str) -> Value:
        if name == "TIMESTAMP":
            return self.time
        return self.fields.get(name)


@dataclass(frozen=True)
class Segment:
    """One segment; times in ns since the epoch."""

    name: str
    begin: int
    end: int
    content: dict[str, Value]


@dataclass
class Machine:
    """A pattern, and the state that it keeps; `backwards` runs its state machines in that order."""

    pattern: Element
    backwards: bool = False
    state: dict[tuple[str, ...], Value] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.locations = {one.attrib["id"]: list(one) for one in self.pattern.iter("location")}
        handler = self.pattern.find("patternHandler")
        assert handler is not None
        self.tests = {one.attrib["id"]: one.find("if") for one in handler.findall("test")}
        self.actions = {one.attrib["id"]: one for one in handler.findall("action")}
        self.machines = [
            (
                _names(fsm.find("precondition")),
                [(_names(one), one) for one in fsm.iter("transition")],
            )
            for fsm in handler.findall("fsm")
        ]
        if self.backwards:
            self.machines.reverse()

    def run(self, events: Iterable[Happened]) -> list[Segment]:
        """Handle the events in order, and return the segments that came of them."""
        for event in events:
            for wanted, transitions in self.machines:
                if wanted(event.name):
                    self._take_first(event, transitions)
        return self.segments

    def _take_first(self, event: Happened, transitions: Sequence[Any]) -> None:
        for fits, transition in transitions:
            if not fits(event.name):
                continue
            tests = transition.attrib.get("cond", "").split(":")
            if all(self._holds(self.tests[one][0], event) for one in tests if one):
                for action in transition.attrib["action"].split(":"):
                    self._act(self.actions[action], event)
                return

    def _holds(self, test: Element, event: Happened) -> bool:
        if test.tag == "not":
            return not self._holds(test[0], event)
        if test.tag == "or":
            return any(self._holds(one, event) for one in test)
        assert test.tag == "condition"
        values = test.findall("stateValue")
        named = test.find("field")
        if named is not None:
            first = event.value(named.attrib["name"])
        elif test.find("stateAttribute") is not None:
            first = self.state.get(self._path(test.findall("stateAttribute"), event))
        else:
            first = self._value(values.pop(0), event)
        second = self._value(values[0], event)
        if isinstance(first, int) and isinstance(second, int):
            return first >= second if test.attrib.get("operator") == "ge" else first == second
        assert "operator" not in test.attrib
        return str(first) == str(second)

    def _act(self, action: Element, event: Happened) -> None:
        for one in action:
            if one.tag == "segment":
                self.segments.append(self._segment(one, event))
            elif one.find("if") is None:
                self._change(one, event)
            elif self._holds(one.find("if")[0], event):  # type: ignore[index]
                self._change(one.find("then"), event)  # type: ignore[arg-type]

    def _change(self, change: Element, event: Happened) -> None:
        path = self._path(change.findall("stateAttribute"), event)
        (value,) = change.findall("stateValue")
        found = self._value(value, event)
        if value.attrib.get("increment"):
            found += self.state.get(path) or 0
        self.state[path] = found

    def _segment(self, segment: Element, event: Happened) -> Segment:
        (name,) = segment.findall("segType/segName/stateValue")
        begin, end = (self._value(one, event) for one in segment.find("segTime") or ())
        assert None not in (begin, end), name
        assert begin <= end, "Trace Compass would end it at the event"
        content = {
            one.attrib["name"]: self._value(one[0], event) for one in segment.iter("segField")
        }
        return Segment(self._value(name, event), begin, end, content)

    def _path(self, attributes: Sequence[Element], event: Happened) -> tuple[str, ...]:
        out: list[str] = []
        for one in attributes:
            kind, value = one.attrib["type"], one.attrib.get("value", "")
            if kind == "location":
                out += self._path(self.locations[value], event)
                continue
            found: Value = value
            if kind == "eventField":
                found = event.value(value)
            elif kind == "query":
                found = self.state.get(self._path(list(one), event))
            assert found is not None, f"{event.name}: Trace Compass would log a null in a path"
            out.append(str(found))
        return tuple(out)

    def _value(self, one: Element, event: Happened) -> Value:
        kind, value = one.attrib["type"], one.attrib.get("value", "")
        if kind == "eventField":
            return event.value(value)
        if kind == "query":
            return self.state.get(self._path(list(one), event))
        if kind == "script":
            return _script(value, {each.attrib["id"]: self._value(each, event) for each in one})
        return {"null": lambda _: None, "string": str, "int": int, "long": int}[kind](value)


def _names(one: Element | None) -> Callable[[str], bool]:
    assert one is not None
    names = one.attrib["event"].split("|")
    pattern = re.compile("|".join(re.escape(name).replace(r"\*", ".*") for name in names))
    return lambda name: pattern.fullmatch(name) is not None


def _script(text: str, names: dict[str, Value]) -> str:
    """Evaluate what joins texts and names with `+`, and at most one choice of `a == 'b' ? ...`."""
    out, at = "", 0
    while at < len(text):
        found = _SCRIPT.match(text, at)
        assert found is not None, text
        part, asked, equal, then, otherwise = found.groups()
        if asked:
            out += then if names[asked] == equal else names[otherwise]
        else:
            out += part[1:-1] if part.startswith("'") else names[part]
        at = found.end()
    return out


def pattern_of(path: Path, name: str) -> Element:
    """Return a pattern of a file by its id."""
    (found,) = (one for one in ElementTree.parse(path).iter("pattern") if one.attrib["id"] == name)
    return found
