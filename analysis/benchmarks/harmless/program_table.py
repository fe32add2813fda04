# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What came of the programs: what differs that should not, and the table of the docs."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator, Mapping

from program_kinds import KINDS, Kind
from program_runs import CONFIGS, Ended

HEADER = (
    "| program | plain | light | ros2 | full | output | as a traced process | not traced |\n"
    "|---|---|---|---|---|---|---|---|\n"
)


def differences(
    kinds: list[Kind],
    config: str,
    plain: Mapping[str, Ended],
    recorded: Mapping[str, Ended],
    events: Counter[int],
) -> Iterator[str]:
    """Give a line for each program that a recording has changed, or has not recorded."""
    for kind in kinds:
        for name in _names(kind):
            known = kind.differs and (name.endswith("+") or kind.emits is None)
            if not known and not same(kind, plain[name], recorded[name]):
                yield f"{config}: {name}: {plain[name]} became {recorded[name]}"
        found = events[1000 + kinds.index(kind)]
        if kind.recorded is not None and not kind.differs and found != kind.recorded:
            yield f"{config}: {kind.name}: {found} events of {kind.recorded} are in the trace"


def _names(kind: Kind) -> list[str]:
    return [kind.name, f"{kind.name}+"] if kind.emits is not None else [kind.name]


def same(kind: Kind, one: Ended, other: Ended) -> bool:
    """Tell whether a program ended alike."""
    return one.status == other.status and (not kind.output or one.out == other.out)


def markdown(
    kinds: list[Kind], plain: Mapping[str, Ended], recorded: Mapping[str, Mapping[str, Ended]]
) -> str:
    """Give the table: a row a kind."""
    rows = []
    for kind in kinds:
        ended = [recorded[config] for config in CONFIGS]
        equal = all(same(kind, plain[kind.name], each[kind.name]) for each in ended)
        traced = "-"
        if kind.emits is not None:
            name = f"{kind.name}+"
            alike = all(same(kind, plain[name], each[name]) for each in ended)
            traced = "same" if alike else kind.differs or "differs"
        output = "same" if equal else kind.differs or "differs"
        cells = [kind.about, _status(plain[kind.name].status)]
        cells += [_status(each[kind.name].status) for each in ended]
        cells += [output if kind.output else "not compared", traced, kind.untraced]
        rows.append("| " + " | ".join(cells).replace("  ", " ") + " |\n")
    return HEADER + "".join(rows)


def _status(status: int | None) -> str:
    if status is None:
        return "does not end"
    return str(status) if status >= 0 else signal.Signals(-status).name


def rows_wanted() -> set[str]:
    """Give the programs that the table of the docs has."""
    return {kind.about for kind in KINDS}
