# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What process ids stand for, which is known only when all events have gone by.

Namespaces of a host may share ids, and an id may be another process later on. A trace in which any
does is read again, with that known; most have none. The rules are in
native/model/namespaces.hpp and restarts.hpp.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from strata.engine._model import Engine
from strata.engine.windows import Windows
from strata.errors import TraceError
from strata.read.namespaces import name_of

Fill = Callable[[Engine], None]
"""Feeds an engine with all events; those of a trace that is read again, too."""

_MOST = 3
"""Readings: namespaces are known after the first, what their ids stand for after the second."""


@dataclass(frozen=True)
class Given:
    """What an engine is told of a trace before its first event.

    `losses` are the windows of time in which events were lost. `clocks` is the clock of each host,
    a host that it lacks has its own. Of process ids in `left_out` events are counted only.
    `bounds`: first and last instant at which all processes were recorded; null: always.
    """

    losses: Windows
    clocks: Mapping[str, str]
    left_out: Collection[int] = ()
    bounds: tuple[int, int] | None = None


def read_settled(fill: Fill, given: Given) -> Engine:
    """Return a finished engine that knew what each process id stands for.

    Raises TraceError when a table would have more rows than numbers of rows can distinguish.
    """
    try:
        return _settled(fill, given)
    except OverflowError as error:
        raise TraceError(
            f"Cannot analyze the trace: it makes {error}. Record for a shorter time."
        ) from error


def _settled(fill: Fill, given: Given) -> Engine:
    namespaces: list[tuple[str, int]] = []
    restarts: list[tuple[str, int, int]] = []
    for reading in range(1, _MOST + 1):
        engine = _engine(given, namespaces, restarts)
        fill(engine)
        found, changed = engine.identities()
        if reading == _MOST or (found, changed) == (namespaces, restarts):
            engine.finish()
            return engine
        del engine
        # Ids that several processes share at a time tell nothing of one after the other.
        restarts = changed if found == namespaces else []
        namespaces = found
    raise AssertionError


def _engine(
    given: Given, namespaces: Sequence[tuple[str, int]], restarts: Sequence[tuple[str, int, int]]
) -> Engine:
    named = [(host, number, name_of(host, number)) for host, number in namespaces]
    clocks = dict(given.clocks)
    # A namespace has the clock of its machine.
    clocks |= {name: given.clocks.get(host, host) for host, _, name in named}
    return Engine(
        losses=list(zip(given.losses[0].tolist(), given.losses[1].tolist(), strict=True)),
        clocks=list(clocks.items()),
        namespaces=named,
        restarts=restarts,
        left_out=list(given.left_out),
        bounds=given.bounds,
    )
