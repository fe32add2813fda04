# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of a recording into ring buffers, by snapshots of what these hold.

A snapshot flushes all buffers: what happened before it was asked for is in it. It copies whole
packets, the newest of each CPU, and as many as are needed to look back far enough: their number
follows the rate of events.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from strata.errors import LiveError, SessionError, TraceError
from strata.live.chunks import has_events
from strata.live.windows import EVERY_NS, LEAST_BACK_NS, LOOK_AHEAD_NS, Cuts, Window
from strata.read import Trace, open_trace
from strata.record.lttng import Lttng
from strata.record.ring import SUB_BUFFERS

_FEWEST_PACKETS = 2


@dataclass(frozen=True)
class _Reach:
    """How far back a snapshot reaches: all CPUs have what happened after `begin_ns`.

    That is the begin of time where nothing was overwritten or left out. `first_ns` is the first
    packet's begin, `streams` the number of CPUs that recorded something.
    """

    begin_ns: int
    first_ns: int
    streams: int


class RingWindows:
    """Cuts what ring buffers hold into windows, one whenever `every_ns` have passed.

    `output` is where the session writes its snapshots: one at a time, each of which is removed when
    the next is taken. `subbuf_size` is that of the ring's channel, in bytes. `is_recorded` tells
    whether the recorder still runs: where LTTng refuses and it does not, nothing more comes.
    """

    def __init__(
        self,
        lttng: Lttng,
        session: str,
        output: Path,
        subbuf_size: int,
        every_ns: int = EVERY_NS,
        least_back_ns: int = LEAST_BACK_NS,
        is_recorded: Callable[[], bool] = lambda: True,
    ) -> None:
        self._is_recorded = is_recorded
        self.ended = False
        self._lttng, self._session, self._output = lttng, session, output
        self._subbuf_size, self._every_ns = subbuf_size, every_ns
        self.cuts = Cuts(least_back_ns)
        self.offset_ns: int | None = None
        """What the trace's clock adds to CLOCK_MONOTONIC; null before the first snapshot."""
        self._packets = SUB_BUFFERS
        self._streams = 1
        self._due_ns = 0
        self._begun_ns = time.monotonic_ns()

    @property
    def wait_s(self) -> float:
        """How long it is until the next window."""
        return max(0.0, (self._due_ns - time.monotonic_ns()) / 1e9)

    def take(self) -> Window | None:
        """Return what was recorded since the last window; see `Windows`."""
        if time.monotonic_ns() < self._due_ns:
            return None
        self._due_ns = time.monotonic_ns() + self._every_ns
        asked_ns = time.monotonic_ns()
        trace = self._snapshot()
        if trace is None:
            return None
        if self.offset_ns is None:
            self.offset_ns = next(iter(trace.clock_offsets_ns.values()), 0)
        until_ns = asked_ns + self.offset_ns - LOOK_AHEAD_NS
        reach, cuts = _reach(trace), self.cuts
        # What was recorded before may be of some processes only: LTTng begins one after the other.
        cuts.begin(max(reach.first_ns, self._begun_ns + self.offset_ns))
        since_ns = cuts.since_ns or 0
        if reach.begin_ns > cuts.begin_ns and self._packets < SUB_BUFFERS:
            self._packets = SUB_BUFFERS
            return self._again()
        self._follow(trace, reach, until_ns)
        if until_ns <= since_ns:
            return None
        unseen_ns = min(max(0, reach.begin_ns - since_ns), until_ns - since_ns)
        if unseen_ns:
            # Names may have been overwritten, too.
            with contextlib.suppress(SessionError):
                self._lttng.regenerate_statedump(self._session)
        return cuts.cut(trace.path, until_ns, unseen_ns=unseen_ns)

    def keep(self, directory: Path) -> None:
        """Write all that the ring buffers hold into a directory that does not exist.

        Raises SessionError, OSError, LiveError.
        """
        beside = self._output.with_name(f"{self._output.name}-kept")
        kept = self._record(beside, None)
        if kept is None:
            raise LiveError("Cannot keep a snapshot: LTTng wrote none.")
        directory.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(kept, directory)
        shutil.rmtree(beside, ignore_errors=True)

    def close(self) -> None:
        """Remove what was written last."""
        shutil.rmtree(self._output, ignore_errors=True)

    def _again(self) -> Window | None:
        self._due_ns = 0
        return self.take()

    def _snapshot(self) -> Trace | None:
        """Write the packets that are needed; null while nothing was recorded. Raises TraceError."""
        packets = None if self._packets == SUB_BUFFERS else self._packets
        most = None if packets is None else packets * self._subbuf_size * self._streams
        written = self._record(self._output, most)
        if written is None:
            return None
        try:
            return open_trace(written)
        except TraceError:
            # It has metadata and no packet: no process has emitted an event yet.
            if has_events(written):
                raise
            return None

    def _record(self, output: Path, most: int | None) -> Path | None:
        """Write a snapshot, alone in a directory; null when LTTng wrote nothing."""
        shutil.rmtree(output, ignore_errors=True)
        try:
            self._lttng.snapshot(self._session, output, most)
        except SessionError:
            if self._is_recorded():
                raise
            self.ended = True
            return None
        return next(output.iterdir(), None) if output.is_dir() else None

    def _follow(self, trace: Trace, reach: _Reach, until_ns: int) -> None:
        """Choose how many packets of a CPU the next snapshot takes: those that it needs, and one.

        LTTng divides a size among all streams of the session.
        """
        packets = trace.decoder.packets
        self._streams = max(1, reach.streams)
        wanted_ns = until_ns - self.cuts.back_ns
        needed = packets["stream"][packets["end_ns"] >= wanted_ns]
        most = int(np.unique(needed, return_counts=True)[1].max(initial=0))
        # Until the next one, as many will come as came since the last.
        fresh = packets["stream"][packets["end_ns"] > until_ns + LOOK_AHEAD_NS - self._every_ns]
        most += int(np.unique(fresh, return_counts=True)[1].max(initial=0)) + 1
        self._packets = min(SUB_BUFFERS, max(_FEWEST_PACKETS, most))


def _reach(trace: Trace) -> _Reach:
    packets = trace.decoder.packets
    streams, first = np.unique(packets["stream"], return_index=True)
    begins_ns, sequences = packets["begin_ns"][first], packets["sequence"][first]
    first_ns = int(begins_ns.min())
    overwritten = begins_ns[sequences > 0]
    begin_ns = int(overwritten.max()) if len(overwritten) else np.iinfo(np.int64).min
    return _Reach(int(begin_ns), first_ns, len(streams))
