# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Logs of linuxptp's ptp4l and phc2sys: how far a clock was from the one that it follows.

With `-m` a line is `PROGRAM[SECONDS]: text`, in syslog and journal `... PROGRAM[PID]: [SECONDS]
text`; the seconds are CLOCK_MONOTONIC, with three decimals (linuxptp, print.c). Offsets and delays
are in ns, frequencies in parts per billion; s0 to s3 are the servo's states unlocked, jump, locked
and locked stable (clock.c, phc2sys.c, servo.h). With a summary interval a line has the root mean
square and the largest absolute value of the offsets since the line before.

A ptp4l whose clock is the master follows none and writes no offset: the log is read, without any
value, and a finding says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from strata.originals.imported import Finding, Imported, Run, Samples
from strata.originals.text import Line, Text

PTP4L, PHC2SYS = "ptp4l", "phc2sys"
CLOCK_OFFSET = "clock_offset"
LOCKED = 2
"""The servo's first state in which it follows the other clock."""

_PROGRAM = r"(?:^|(?<=[\s/]))(?P<program>ptp4l|phc2sys)"
_LINE = re.compile(
    rf"{_PROGRAM}(?:\[(?P<at>\d+\.\d+)\]:|(?:\[\d+\])?: \[(?P<later>\d+\.\d+)\]) ?(?P<text>.*)$"
)
_NUMBER = r"[+-]?\d+"
_OFFSET = re.compile(
    rf"(?:^|\s)(?:(?P<clock>\S+)\s)?(?P<source>\S+) offset\s+(?P<offset>{_NUMBER}) "
    rf"s(?P<state>[0-3])(?: freq\s+{_NUMBER}(?: (?:path )?delay\s+{_NUMBER})?)?(?:\s|$)"
)
_SUMMARY = re.compile(
    rf"(?:^|\s)(?:(?P<clock>\S+) )?rms\s+(?P<rms>\d+) max\s+(?P<max>\d+) "
    rf"freq\s+{_NUMBER} \+/-\s+\d+(?: delay\s+{_NUMBER} \+/-\s+\d+)?\s*$"
)
_MEASURES = re.compile(r"\b(?:offset|rms)\s+[+-]?\d")
_FAULT = re.compile(r"to FAULTY|_FAULT\b|clockcheck|\bfailed\b|\btimed? ?out\b", re.IGNORECASE)
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)")
_MASTER = re.compile(
    r"assuming the grand ?master role|\bto (?:GRAND_)?MASTER on (?:ANNOUNCE_RECEIPT|RS_)"
)
_FIRST_LINES = 20
_NS = 10**9
_BOOT_NS = 10 * _NS
"""Two programs that write into one file change places by some ms; a boot goes back by more."""

_CONVERSIONS = (
    "clock_offset: the offset of a line, ns as it is written; its time is CLOCK_MONOTONIC of the "
    "machine that wrote the log, ms x 10^6",
    "rms and max of summary lines are of absolute offsets since the line before, ns",
)


def matches(program: str, text: Text) -> bool:
    """Return whether the first line of linuxptp in a file is of this program."""
    for line in text.lines[:_FIRST_LINES]:
        found = _LINE.search(line.text)
        if found:
            return found["program"] == program
    return False


@dataclass
class _Series:
    """The lines of one program about one clock: their times, offsets and states."""

    at_ns: list[int] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    state: list[int] = field(default_factory=list)
    summary_ns: list[int] = field(default_factory=list)
    rms: list[int] = field(default_factory=list)
    largest: list[int] = field(default_factory=list)


@dataclass
class _Part:
    """What one machine wrote between two boots."""

    series: dict[str, _Series] = field(default_factory=dict)
    first_ns: int = 0
    last_ns: int = 0


@dataclass
class _Log:
    parts: list[_Part] = field(default_factory=list)
    unreadable: list[int] = field(default_factory=list)
    faults: list[int] = field(default_factory=list)
    masters: list[int] = field(default_factory=list)
    last_line: str = ""

    def add(self, line: Line) -> None:
        found = _LINE.search(line.text)
        if found is None:
            # A journal begins with a line of its own, and separates boots by another.
            if not line.text.startswith("-- "):
                self.unreadable.append(line.number)
            return
        at_ns = _nanoseconds(found["at"] or found["later"])
        if not self.parts or at_ns < self.parts[-1].last_ns - _BOOT_NS:
            self.parts.append(_Part(first_ns=at_ns, last_ns=at_ns))
        part = self.parts[-1]
        part.first_ns = min(part.first_ns, at_ns)
        if at_ns >= part.last_ns:
            part.last_ns, self.last_line = at_ns, line.text
        text = found["text"]
        if found["program"] == PTP4L and _MASTER.search(text):
            self.masters.append(line.number)
        if _FAULT.search(text):
            self.faults.append(line.number)
        if not _measured(part, found["program"], text, at_ns) and _MEASURES.search(text):
            self.unreadable.append(line.number)


def read(text: Text) -> Imported:
    """Read a log, of one of the two programs or of both; each stretch between two boots is a run.

    Lines of other programs, and those whose numbers cannot be read, are counted as a finding.
    Raises OriginalError when there is no line with an offset, nor one by which ptp4l is the master.
    """
    log = _Log()
    for line in text.lines:
        log.add(line)
    measuring = [part for part in log.parts if part.series]
    if not measuring and log.masters:
        measuring = log.parts[-1:]
    if not measuring:
        raise text.none("line of ptp4l or phc2sys with an offset")
    form = next((name for name in (PTP4L, PHC2SYS) if _has(measuring, name)), PTP4L)
    # The file was last written when its last line was; a journal's lines have their own time.
    boot_ns = _wall_ns(text, log) - measuring[-1].last_ns
    runs = [_run(part, boot_ns if part is measuring[-1] else None) for part in measuring]
    return Imported(text.path, form, {}, runs, _CONVERSIONS, text.findings() + _findings(log))


def _nanoseconds(seconds: str) -> int:
    whole, _, part = seconds.partition(".")
    return int(whole) * _NS + int(part[:9].ljust(9, "0"))


def _measured(part: _Part, program: str, text: str, at_ns: int) -> bool:
    """Add what a line measures; false when it measures nothing that can be read."""
    if found := _OFFSET.search(text):
        clock = f" {found['clock']}" if found["clock"] and program == PHC2SYS else ""
        one = part.series.setdefault(f"{program}{clock} {found['source']}", _Series())
        one.at_ns.append(at_ns)
        one.offset.append(int(found["offset"]))
        one.state.append(int(found["state"]))
        return True
    if found := _SUMMARY.search(text):
        clock = f" {found['clock']}" if found["clock"] and program == PHC2SYS else ""
        one = part.series.setdefault(f"{program}{clock}", _Series())
        one.summary_ns.append(at_ns)
        one.rms.append(int(found["rms"]))
        one.largest.append(int(found["max"]))
        return True
    return False


def _has(parts: Sequence[_Part], program: str) -> bool:
    return any(name.split()[0] == program for part in parts for name in part.series)


def _wall_ns(text: Text, log: _Log) -> int:
    found = _ISO.match(log.last_line)
    if found:
        return round(datetime.fromisoformat(found[0].replace(",", ".")).timestamp() * _NS)
    return text.path.stat().st_mtime_ns


def _run(part: _Part, boot_ns: int | None) -> Run:
    samples = Samples()
    for name, one in part.series.items():
        if one.offset:
            samples.add(
                CLOCK_OFFSET,
                "each",
                np.array(one.offset, np.float64),
                series=name,
                times=one.at_ns,
                states=one.state,
            )
        for statistic, values in (("interval_rms", one.rms), ("interval_max_abs", one.largest)):
            if values:
                samples.add(CLOCK_OFFSET, statistic, values, series=name, times=one.summary_ns)
    facts = {"begun_monotonic_ns": part.first_ns, "ended_monotonic_ns": part.last_ns}
    if boot_ns is not None:
        facts["boot_ns"] = boot_ns
    return Run(facts, samples.frame())


def _findings(log: _Log) -> list[Finding]:
    out = []
    if log.unreadable:
        count, first = len(log.unreadable), log.unreadable[0]
        lines = f"{count} lines are" if count > 1 else "1 line is"
        text = f"{lines} none of ptp4l or phc2sys, or cannot be read (the first: line {first})"
        out.append(Finding("unreadable_lines", count, f"{text}; left out"))
    if log.faults:
        count, first = len(log.faults), log.faults[0]
        lines = f"{count} lines report" if count > 1 else "1 line reports"
        text = f"{lines} of a fault or a clock that was set (the first: line {first})"
        out.append(Finding("clock_faults", count, text))
    if log.masters:
        count, first = len(log.masters), log.masters[0]
        lines = f"{count} lines say" if count > 1 else "1 line says"
        text = (
            f"{lines} that ptp4l is the master (the first: line {first}): it follows no clock then "
            "and writes no offset. What a sensor's clock is off, only the sensor knows"
        )
        out.append(Finding("clock_is_master", count, text))
    states = [one.state for part in log.parts for one in part.series.values() if one.state]
    steps = sum(state.count(1) for state in states)
    if steps:
        text = f"the servo set its clock in one step {steps} times (s1): times before differ"
        out.append(Finding("clock_steps", steps, text))
    unlocked = sum(one < LOCKED for state in states for one in state)
    if unlocked:
        total = sum(map(len, states))
        text = f"in {unlocked} of {total} lines the clock was not locked (s0, s1)"
        out.append(Finding("clock_not_locked", unlocked, text))
    if len(log.parts) > 1:
        text = "the time goes back: the log is of several boots, each is a run"
        out.append(Finding("several_boots", len(log.parts), text))
    return out
