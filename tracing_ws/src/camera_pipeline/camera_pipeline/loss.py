# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which images were published and never received: from numbers or stamps, not from a rate."""

from __future__ import annotations

from collections import OrderedDict


class SequenceLoss:
    """Loss by the middleware's publication sequence numbers, which a publisher counts from 1.

    Exact from the first image received to the last; what came before or after cannot be known from
    here. `before_first` is the first image's number less 1: published before this subscription got
    any. A number that is not above the last belongs to an image that came late and was counted as
    lost, unless its stamp is newer: then the publisher began anew.
    """

    source = "sequence_numbers"

    def __init__(self) -> None:
        """Begin with no image."""
        self.lost = 0
        self.late = 0
        self.restarts = 0
        self.before_first: int | None = None
        self._last = 0
        self._last_stamp_ns = 0

    def on_image(self, stamp_ns: int, sequence: int | None) -> int:
        """Note an image; returns how many more are lost now (-1: one that came after all)."""
        if sequence is None:
            raise ValueError("the middleware gives no publication sequence number")
        if self.before_first is None:
            self.before_first = sequence - 1
            change = 0
        elif sequence > self._last:
            change = sequence - self._last - 1
        elif stamp_ns > self._last_stamp_ns:
            self.restarts += 1
            change = 0
        else:
            self.late += 1
            self.lost -= 1
            return -1
        self._last, self._last_stamp_ns = sequence, stamp_ns
        self.lost += change
        return change

    def on_info(self, stamp_ns: int) -> int:
        """Do nothing: the numbers say all."""
        del stamp_ns
        return 0


class StampLoss:
    """Loss by the stamps of camera_info, of which gscam publishes one with each image.

    For a middleware without publication sequence numbers. An image is lost when the camera_info of
    its stamp came, and an image with a later stamp, but not its own. A lower bound: an image is not
    missed when its camera_info was lost as well.
    """

    source = "camera_info_stamps"
    before_first = None
    restarts = 0
    _KEPT = 4096

    def __init__(self) -> None:
        """Begin with no image."""
        self.lost = 0
        self.late = 0
        self._first_ns: int | None = None
        self._latest_ns = 0
        self._got: OrderedDict[int, None] = OrderedDict()
        self._open: set[int] = set()
        self._given_up: OrderedDict[int, None] = OrderedDict()

    def on_image(self, stamp_ns: int, sequence: int | None) -> int:
        """Note an image; returns how many more are lost now (-1: one that came after all)."""
        del sequence
        if self._first_ns is None:
            self._first_ns = stamp_ns
        _keep(self._got, stamp_ns, self._KEPT)
        self._open.discard(stamp_ns)
        if stamp_ns in self._given_up:
            del self._given_up[stamp_ns]
            self.late += 1
            self.lost -= 1
            return -1
        self._latest_ns = max(self._latest_ns, stamp_ns)
        missed = {stamp for stamp in self._open if stamp < self._latest_ns}
        self._open -= missed
        return self._give_up(missed)

    def on_info(self, stamp_ns: int) -> int:
        """Note a camera_info; returns how many more images are lost now."""
        if self._first_ns is None or stamp_ns < self._first_ns or stamp_ns in self._got:
            return 0
        if stamp_ns < self._latest_ns:
            return self._give_up({stamp_ns})
        self._open.add(stamp_ns)
        return 0

    def _give_up(self, stamps: set[int]) -> int:
        for stamp in stamps:
            _keep(self._given_up, stamp, self._KEPT)
        self.lost += len(stamps)
        return len(stamps)


def _keep(stamps: OrderedDict[int, None], stamp: int, most: int) -> None:
    stamps[stamp] = None
    if len(stamps) > most:
        stamps.popitem(last=False)


Loss = SequenceLoss | StampLoss
