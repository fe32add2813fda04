# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The least relevant difference: what is smaller does not matter, however sure it is.

With enough messages every difference is significant. A difference is *relevant* where it is at
least as large as two bounds: a part of A's latency, and a time. Both are of the whole latency that
it is part of: a layer that takes twice as long, and is a hundredth of its chain, does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Least:
    """The bounds: `relative` to the latency of A as a fraction, and `absolute_ns`."""

    relative: float = 0.05
    absolute_ns: int = 20_000

    def allows(self, ns: float, of_ns: float) -> bool:
        """Tell whether a difference of `ns` in a latency of `of_ns` is relevant."""
        return abs(ns) >= self.bound_ns(of_ns)

    def bound_ns(self, of_ns: float) -> float:
        """Return the least relevant difference in a latency of `of_ns`."""
        return max(self.relative * of_ns, float(self.absolute_ns))


DEFAULT = Least()
