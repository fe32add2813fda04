# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Conditions on timers: how late they fired, and how many periods were not made."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

import numpy as np

from strata.comparison.amounts import subject_text
from strata.comparison.gates.judge import is_matched
from strata.comparison.runs import CALLBACK, Subject
from strata.guard.conditions import COMPARISONS, TIMER, Measure, Skipped
from strata.guard.durations import held
from strata.guard.load import NODE, When
from strata.guard.measured import Values, callback_subjects, within
from strata.guard.occurrence import Fault, bound_text
from strata.live.judged import Seen
from strata.schema.rows import Ints, Rows
from strata.stats.partition import partition
from strata.units import format_count


def late(when: When, measure: Measure, seen: Seen) -> Iterator[Fault]:
    """Yield where timers fired too late; fires that no grid explains are left out."""
    fires = seen.made["timer_fires"]
    for subject, rows in _timers(when, seen, fires):
        own = rows[fires.there("expected_ns")[rows]]
        values = Values(subject, "", fires["lateness_ns"][own], fires["start_ns"][own])
        name = f"{TIMER} {subject_text(subject)}"
        yield from held(measure, values, name, name, "fired {} late")


def skipped(when: When, condition: Skipped, seen: Seen) -> Iterator[Fault]:
    """Yield where timers made fewer fires than their periods ask for, without a pause."""
    fires = seen.made["timer_fires"]
    for subject, rows in _timers(when, seen, fires):
        periods = fires["skipped"][rows]
        count = int(periods.sum())
        if COMPARISONS[condition.limit](count, condition.number):
            at_ns = int(fires["start_ns"][rows[periods.argmax()]])
            name = f"{TIMER} {subject_text(subject)}"
            text = f"{name} skipped {format_count(count, 'period', 'periods')}"
            yield Fault(name, at_ns, f"{text}, {bound_text(condition)}", float(count))


def _timers(when: When, seen: Seen, fires: Rows) -> Iterator[tuple[Subject, Ints]]:
    """Yield the callbacks of timers that are asked for, and their fires within the window."""
    rows = np.flatnonzero(within(seen.window, fires["start_ns"]))
    subjects = callback_subjects(seen.made["callback_objects"])
    callbacks = seen.made["callback_instances"]["callback_id"][fires["instance_id"][rows]]
    # A node that was started again has its timer twice: each is judged for itself.
    for callback, own in partition(callbacks):
        subject = subjects[callback]
        if when.kind == NODE:
            wanted = fnmatchcase(subject.node, when.pattern)
        else:
            wanted = is_matched(subject, CALLBACK, when.pattern)
        if wanted:
            yield subject, rows[own]
