# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which images were published and never received: from numbers or stamps, not from a rate."""

from __future__ import annotations

from collections import OrderedDict


class SequenceLoss:
    """Loss by the middleware's publication sequence numbers, which a publisher counts from 1.

    Exact from the first image received to the last; with what lies beyond it is a lower bound
    (`is_lower_bound`), as camera_info may be lost as well. What was published before the first or
    after the last shows by its camera_info alone: those before are lost, `after_last` are, unless
    they still come. `before_first` is what else was published before the first, as its number
    tells: most likely before this subscription was there. A number that is not above the last
    belongs to an image that came late and was counted as lost, unless its stamp is newer: then the
    publisher began anew.
    """

    source = "sequence_numbers"

    def __init__(self) -> None:
        """Begin with no image."""
        self.lost = 0
        self.late = 0
        self.restarts = 0
        self.before_first: int | None = None
        self._last = 0
        self._first_stamp_ns = 0
        self._last_stamp_ns = 0
        self._newer: set[int] = set()
        self._beyond = False

    @property
    def is_lower_bound(self) -> bool:
        """Tell whether more may be lost: what no number tells, camera_info may have missed too."""
        return self._beyond or bool(self._newer)

    @property
    def after_last(self) -> int:
        """Give how many images after the last one are known to be published."""
        return len(self._newer)

    def give_up(self) -> int:
        """Count those as lost: nothing more will come. Returns how many they are."""
        self._beyond = True
        return _give_up(self, self._newer)

    def on_image(self, stamp_ns: int, sequence: int | None) -> int:
        """Note an image; returns how many more are lost now (-1: one that came after all)."""
        if sequence is None:
            raise ValueError("the middleware gives no publication sequence number")
        if self.before_first is None:
            change = min(sum(stamp < stamp_ns for stamp in self._newer), sequence - 1)
            self.before_first = sequence - 1 - change
            self._beyond = change > 0
            self._first_stamp_ns = stamp_ns
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
        self._newer = {stamp for stamp in self._newer if stamp > stamp_ns}
        self.lost += change
        return change

    def on_info(self, stamp_ns: int) -> int:
        """Note a camera_info; returns how many more images are lost now."""
        if self.before_first and stamp_ns < self._first_stamp_ns:
            self.before_first -= 1
            self.lost += 1
            self._beyond = True
            return 1
        if stamp_ns > self._last_stamp_ns:
            self._newer.add(stamp_ns)
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
    is_lower_bound = True
    _KEPT = 4096

    def __init__(self) -> None:
        """Begin with no image."""
        self.lost = 0
        self.late = 0
        self._latest_ns = 0
        self._got: OrderedDict[int, None] = OrderedDict()
        self._open: set[int] = set()
        self._missed: OrderedDict[int, None] = OrderedDict()

    @property
    def after_last(self) -> int:
        """Give how many images after the last one are known to be published."""
        return len(self._open)

    def give_up(self) -> int:
        """Count those as lost: nothing more will come. Returns how many they are."""
        return _give_up(self, self._open)

    def on_image(self, stamp_ns: int, sequence: int | None) -> int:
        """Note an image; returns how many more are lost now (-1: one that came after all)."""
        del sequence
        _keep(self._got, stamp_ns, self._KEPT)
        self._open.discard(stamp_ns)
        if stamp_ns in self._missed:
            del self._missed[stamp_ns]
            self.late += 1
            self.lost -= 1
            return -1
        self._latest_ns = max(self._latest_ns, stamp_ns)
        missed = {stamp for stamp in self._open if stamp < self._latest_ns}
        self._open -= missed
        return self._miss(missed)

    def on_info(self, stamp_ns: int) -> int:
        """Note a camera_info; returns how many more images are lost now."""
        if stamp_ns in self._got:
            return 0
        if stamp_ns < self._latest_ns:
            return self._miss({stamp_ns})
        self._open.add(stamp_ns)
        return 0

    def _miss(self, stamps: set[int]) -> int:
        for stamp in stamps:
            _keep(self._missed, stamp, self._KEPT)
        self.lost += len(stamps)
        return len(stamps)


def _keep(stamps: OrderedDict[int, None], stamp: int, most: int) -> None:
    stamps[stamp] = None
    if len(stamps) > most:
        stamps.popitem(last=False)


def _give_up(loss: Loss, newer: set[int]) -> int:
    count = len(newer)
    loss.lost += count
    newer.clear()
    return count


Loss = SequenceLoss | StampLoss
