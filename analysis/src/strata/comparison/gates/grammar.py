# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The words of a gate.

    gate     = loss | absolute | relative
    loss     = "loss" limit NUMBER "%"
    absolute = subject statistic limit NUMBER unit
    relative = subject statistic "not more than" NUMBER ("%" | unit) "worse"
    subject  = "chain" | "hop" | "transfer" | "service" | "callback" | LAYER
    statistic of an absolute gate: min p50 p90 p99 p99.9 max mean; of a relative: p50 p90 p99 mean
    limit    = "<" | "<=" | ">" | ">="
    unit     = "ns" | "us" | "ms" | "s"

LAYER is the name of a layer, merged ones included ("middleware + executor wait"). Words are apart
by blanks; a number and its unit need none. Anything else is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from strata.comparison.sides import TRANSFER
from strata.schema.layers import BY_NAME

LOSS = "loss"
SUBJECTS = ("chain", "hop", TRANSFER, "service", "callback", LOSS)
ABSOLUTE = ("min", "p50", "p90", "p99", "p99.9", "max", "mean")
RELATIVE = ("p50", "p90", "p99", "mean")
LIMITS = ("<=", "<", ">=", ">")
UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}

_NAMES = {name for whole in BY_NAME for name in whole.split(" + ")}
_NUMBER = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*(\S*)")
_STATISTICS = "|".join(re.escape(name) for name in sorted(ABSOLUTE, key=len, reverse=True))
FORM = re.compile(
    rf"(?P<subject>.+?) (?P<statistic>{_STATISTICS})"
    r" (?:(?P<limit><=|<|>=|>) (?P<bound>.+)|not more than (?P<worse>.+) worse)"
)
LOSS_FORM = re.compile(r"loss (?P<limit><=|<|>=|>) (?P<bound>.+)")


@dataclass(frozen=True)
class Condition:
    """What a gate says. `limit` is null for one relative to A ("not more than .. worse").

    `number` is in `unit`, which is "%" too.
    """

    subject: str
    statistic: str
    limit: str | None
    number: Decimal
    unit: str

    @property
    def relative(self) -> bool:
        """Tell whether it needs an A."""
        return self.limit is None

    @property
    def bound(self) -> float:
        """The bound in ns; of percent as a fraction."""
        return float(self.number / 100 if self.unit == "%" else self.number * UNITS[self.unit])

    def __str__(self) -> str:
        what = LOSS if self.subject == LOSS else f"{self.subject} {self.statistic}"
        number = f"{self.number:f} {self.unit}"
        if self.limit is None:
            return f"{what} not more than {number} worse"
        return f"{what} {self.limit} {number}"


def parse(text: str) -> Condition:
    """Return what a gate says; raises ValueError, with what is wrong and what would be right."""
    words = words_of(text)
    lossy = LOSS_FORM.fullmatch(words)
    if lossy:
        number, unit = amount(lossy["bound"], ["%"])
        return Condition(LOSS, "", lossy["limit"], number, unit)
    if words.split(" ")[0] == LOSS:
        raise ValueError(f"{text!r} is no gate of losses: write it as 'loss <= 0.1 %'")
    found = FORM.fullmatch(words)
    if not found:
        raise ValueError(
            f"{text!r} is no gate: write it as 'chain p99 < 20 ms', as 'serialize p50 not more "
            "than 5 % worse' or as 'loss <= 0.1 %'"
        )
    subject, statistic = subject_of(found["subject"]), found["statistic"]
    if found["limit"]:
        number, unit = amount(found["bound"], list(UNITS))
        return Condition(subject, statistic, found["limit"], number, unit)
    if statistic not in RELATIVE:
        raise ValueError(
            f"{statistic} has no interval to be compared by: use one of {', '.join(RELATIVE)}"
        )
    number, unit = amount(found["worse"], ["%", *UNITS])
    return Condition(subject, statistic, None, number, unit)


def words_of(text: str) -> str:
    """Return a gate's words with one blank between them, and around its limit."""
    words = re.sub(r"[ \t]+", " ", text.strip())
    return re.sub(r" ?(<=|>=|<(?!=)|>(?!=)) ?", r" \1 ", words)


def subject_of(text: str, subjects: tuple[str, ...] = SUBJECTS) -> str:
    """Return a subject, one of some words or a layer; raises ValueError for anything else."""
    if text in subjects or text in BY_NAME:
        return text
    parts = text.split(" + ")
    # A comparison may merge more than any trace does: what two of them have in common.
    if len(parts) > 1 and set(parts) <= _NAMES and len(set(parts)) == len(parts):
        return text
    known = ", ".join([*subjects, *BY_NAME])
    raise ValueError(f"{text!r} is neither subject nor layer: use one of {known}")


def amount(text: str, units: list[str]) -> tuple[Decimal, str]:
    """Return a number and its unit, one of some; raises ValueError for anything else."""
    found = _NUMBER.fullmatch(text)
    if not found or found[2] not in units:
        raise ValueError(f"{text!r} is no number with one of the units {', '.join(units)}")
    return Decimal(found[1]), found[2]
