# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The words of a condition. It says what the fault is: while it holds, something is wrong.

    condition = measure | loss | skipped | busy | event
    measure = subject statistic limit NUMBER unit
    loss    = "loss" limit NUMBER "%"
    skipped = "timer skipped" limit NUMBER
    busy    = "executor busy" limit NUMBER "%" "for" NUMBER unit
    event   = "event" PROVIDER:NAME [FIELD comparison VALUE]
    subject = "chain" | "hop" | "transfer" | "service" | "callback" | "period" | "timer" | LAYER
    limit   = ">" | ">="; of the statistic min also "<" | "<="
    comparison = "<" | "<=" | ">" | ">=" | "==" | "!="

Statistics, units, LAYER and blanks are those of gates (strata.comparison.gates.grammar). VALUE is a
number, or a text in quotes that is only compared by == and !=. Anything else is refused.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from strata.comparison.gates.grammar import (
    FORM,
    LOSS,
    LOSS_FORM,
    UNITS,
    amount,
    subject_of,
    words_of,
)
from strata.comparison.gates.grammar import SUBJECTS as OF_GATES
from strata.comparison.gates.grammar import Condition as OfGate

Measure = OfGate
"""A condition on a statistic of durations, or on the share of lost messages."""

PERIOD, TIMER, EXECUTOR, EVENT = "period", "timer", "executor", "event"
SUBJECTS = (*(name for name in OF_GATES if name != LOSS), PERIOD, TIMER)
"""What a measure may be of, besides layers."""
MOST_BACK_NS = 30_000_000_000
"""A window looks back no further, so no bound may need more."""
_MARGIN_NS = 1_000_000_000

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
}
"""What each limit does, with numbers and with arrays."""
_OF_TEXT = ("==", "!=")

_WHOLE = r"(?P<limit><=|<|>=|>) (?P<bound>.+)"
_SKIPPED_FORM = re.compile(rf"timer skipped {_WHOLE}")
_BUSY_FORM = re.compile(rf"executor busy {_WHOLE} for (?P<span>.+)")
_EVENT_FORM = re.compile(
    r"""event\s+(?P<event>[^\s:<>=!"']+:[^\s<>=!"']+)"""
    r"""(?:\s+(?P<field>[^\s<>=!"']+)\s*(?P<limit><=|>=|==|!=|<|>)\s*(?P<value>.+))?""",
    re.DOTALL,
)
_VALUE_FORM = re.compile(
    r"""(?P<number>-?[0-9]{1,20}(?:\.[0-9]{1,9})?)|"(?P<double>[^"]*)"|'(?P<single>[^']*)'"""
)


@dataclass(frozen=True)
class Skipped:
    """So many periods of a timer were not made."""

    limit: str
    number: int

    subject = TIMER

    def __str__(self) -> str:
        return f"timer skipped {self.limit} {self.number}"


@dataclass(frozen=True)
class Busy:
    """The threads of an executor were busy for a share of some time of a length.

    `number` is in percent, `span` in `unit`.
    """

    limit: str
    number: Decimal
    span: Decimal
    unit: str

    subject = EXECUTOR

    @property
    def bound(self) -> float:
        """The share, as a fraction."""
        return float(self.number / 100)

    @property
    def for_ns(self) -> int:
        """The length of time."""
        return int(self.span * UNITS[self.unit])

    def __str__(self) -> str:
        return f"executor busy {self.limit} {self.number:f} % for {self.span:f} {self.unit}"


@dataclass(frozen=True)
class Event:
    """A tracepoint occurred, and one of its fields or contexts is as said, or any.

    `field`, `limit` and `value` are null together; `value` is a text or a number.
    """

    event: str
    field: str | None = None
    limit: str | None = None
    value: str | Decimal | None = None

    subject = EVENT

    @property
    def value_text(self) -> str:
        """The value as it is written; empty for none."""
        if isinstance(self.value, str):
            return f"'{self.value}'" if '"' in self.value else f'"{self.value}"'
        return "" if self.value is None else f"{self.value:f}"

    def __str__(self) -> str:
        if self.field is None:
            return f"event {self.event}"
        return f"event {self.event} {self.field} {self.limit} {self.value_text}"


Condition = Measure | Skipped | Busy | Event
"""What a condition says."""


def parse(text: str) -> Condition:
    """Return what a condition says; raises ValueError, with what is wrong and what is right."""
    words = words_of(text)
    first = words.split(" ")[0]
    if first == EVENT:
        return _event(text)
    if words.startswith("executor busy"):
        return _busy(words, text)
    if words.startswith("timer skipped"):
        return _skipped(words, text)
    found = _loss(words, text) if first == LOSS else _measure(words, text)
    _refuse_relief(found)
    return found


def reach_ns(condition: Condition) -> int:
    """Return how far a window has to look back so that a condition can hold, in ns.

    A callback that is twice as long as its bound is still seen whole.
    """
    if isinstance(condition, Busy):
        return condition.for_ns + _MARGIN_NS
    if isinstance(condition, Measure) and condition.subject != LOSS:
        return int(2 * condition.bound)
    return 0


def _loss(words: str, text: str) -> Measure:
    found = LOSS_FORM.fullmatch(words)
    if not found:
        raise ValueError(f"{text!r} is no condition on losses: write it as 'loss > 0 %'")
    number, unit = amount(found["bound"], ["%"])
    _refuse_more_than_all(found["limit"], number)
    return Measure(LOSS, "", found["limit"], number, unit)


def _measure(words: str, text: str) -> Measure:
    found = FORM.fullmatch(words)
    if not found:
        raise ValueError(
            f"{text!r} is no condition: write it as 'chain max > 50 ms', 'loss > 0 %', 'timer "
            "skipped > 0', 'executor busy > 95 % for 2 s' or 'event ros2:callback_start'"
        )
    if not found["limit"]:
        raise ValueError(
            f"{text!r} compares two recordings, and a condition is of one: write it as 'chain p99 "
            "> 20 ms'"
        )
    subject = subject_of(found["subject"], SUBJECTS)
    number, unit = amount(found["bound"], list(UNITS))
    measure = Measure(subject, found["statistic"], found["limit"], number, unit)
    _refuse_too_far(measure, "a bound", MOST_BACK_NS // 2)
    return measure


def _skipped(words: str, text: str) -> Skipped:
    found = _SKIPPED_FORM.fullmatch(words)
    if not found or not re.fullmatch("[0-9]{1,9}", found["bound"]) or "<" in found["limit"]:
        raise ValueError(f"{text!r} is no condition on timers: write it as 'timer skipped > 0'")
    return Skipped(found["limit"], int(found["bound"]))


def _busy(words: str, text: str) -> Busy:
    found = _BUSY_FORM.fullmatch(words)
    if not found or "<" in found["limit"]:
        raise ValueError(
            f"{text!r} is no condition on executors: write it as 'executor busy > 95 % for 2 s'"
        )
    number, _ = amount(found["bound"], ["%"])
    _refuse_more_than_all(found["limit"], number)
    busy = Busy(found["limit"], number, *amount(found["span"], list(UNITS)))
    if not busy.for_ns:
        raise ValueError(f"{text!r} is of no time: write it as 'executor busy > 95 % for 2 s'")
    _refuse_too_far(busy, "its time", MOST_BACK_NS - _MARGIN_NS)
    return busy


def _event(text: str) -> Event:
    found = _EVENT_FORM.fullmatch(text.strip())
    if not found:
        raise ValueError(
            f"{text!r} is no condition on events: write it as 'event PROVIDER:NAME' or as 'event "
            "PROVIDER:NAME FIELD > 5'"
        )
    if set("*?[") & set(found["event"]):
        raise ValueError(f"{found['event']!r} is no name of one event: patterns are of topics")
    if found["field"] is None:
        return Event(found["event"])
    value = _VALUE_FORM.fullmatch(found["value"].strip())
    if not value:
        raise ValueError(f"{found['value']!r} is neither a number nor a text in quotes")
    limit = found["limit"]
    if value["number"]:
        return Event(found["event"], found["field"], limit, Decimal(value["number"]))
    if limit not in _OF_TEXT:
        raise ValueError(f"a text is compared by {' or '.join(_OF_TEXT)}, and not by {limit}")
    quoted = value["double"] if value["single"] is None else value["single"]
    return Event(found["event"], found["field"], limit, quoted)


def _refuse_relief(measure: Measure) -> None:
    """Refuse what a gate would say: what is right, and not what the fault is."""
    if measure.limit in ("<", "<=") and measure.statistic != "min":
        turned = {"<": ">=", "<=": ">"}[measure.limit]
        right = Measure(measure.subject, measure.statistic, turned, measure.number, measure.unit)
        raise ValueError(f"a condition says what the fault is, so write '{right}'")


def _refuse_more_than_all(limit: str, number: Decimal) -> None:
    if number > 100 or (number == 100 and limit == ">"):
        raise ValueError(f"no share is {limit} {number:f} %: use less than 100 %")


def _refuse_too_far(condition: Condition, what: str, most_ns: int) -> None:
    if reach_ns(condition) > MOST_BACK_NS:
        raise ValueError(
            f"{what} is at most {most_ns // UNITS['s']} s, as a window looks back "
            f"{MOST_BACK_NS // UNITS['s']} s at most"
        )
