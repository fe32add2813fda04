# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of a recording that is rotated (`strata record --rotate`): one each complete chunk.

What is shown is as old as a chunk is long, and nothing is recorded anew.
"""

from __future__ import annotations

from pathlib import Path

from strata.errors import LiveError, TraceError
from strata.live.chunks import Chunks, Stage, span_of
from strata.live.known_names import KnownNames
from strata.live.windows import LOOK_AHEAD_NS, Cuts, Window
from strata.read import open_trace
from strata.read.announced import read_announced
from strata.read.losses import Loss

_POLL_S = 0.5


class ChunkWindows:
    """Cuts the chunks of a recording into windows, from the oldest that is there.

    `directory` is its own, and has the chunks of one window at a time.
    """

    wait_s = _POLL_S

    def __init__(self, session: Path, directory: Path) -> None:
        """Raises LiveError for what is no recording that is being made."""
        self._chunks = Chunks(session)
        if not self._chunks.is_recorded:
            raise LiveError(
                f"Cannot follow {session}: nothing is recorded there now. `strata analyze` shows a "
                "recording that has ended."
            )
        self._stage = Stage(directory)
        self._discarded = 0
        self._until_ns: int | None = None
        self.cuts = Cuts()
        self.ended = False

    def names(self) -> KnownNames:
        """Return the names from before the oldest chunk that is there."""
        names = KnownNames()
        names.add(read_announced(self._chunks.session))
        names.add(self._chunks.dropped_names())
        return names

    def take(self) -> Window | None:
        """Return the next chunk with the end of those before; see `Windows`."""
        recorded = self._chunks.is_recorded
        chunk = self._chunks.take()
        if chunk is None:
            self.ended = not recorded
            return None
        place = self._stage.put(chunk)
        try:
            span = span_of(place)
        except TraceError:
            self._stage.drop(place)
            raise
        if span is None:
            self._stage.drop(place)
            return None
        self.cuts.begin(span[0])
        assert self.cuts.since_ns is not None
        self._stage.drop_before(self.cuts.begin_ns)
        self._stage.keep(place, span[1])
        trace = open_trace(self._stage.place)
        self._discarded += sum(loss.count for loss in trace.losses if self._is_new(loss))
        self._until_ns = span[1]
        last = not recorded
        until_ns = max(self.cuts.since_ns, span[1] - (0 if last else LOOK_AHEAD_NS))
        return self.cuts.cut(trace.path, until_ns, discarded=self._discarded, last=last)

    def _is_new(self, loss: Loss) -> bool:
        """Return whether events were lost in the newest chunk."""
        later = self._until_ns is None or (loss.end_ns or 0) > self._until_ns
        return loss.code == "discarded_events" and later
