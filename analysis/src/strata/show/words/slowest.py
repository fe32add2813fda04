# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The slowest messages of a chain: those to look at first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.analysis import Analysis


@dataclass(frozen=True)
class SlowMessage:
    """A message that went through a whole chain: its number in `messages`, and when it began."""

    message_id: int
    begin_ns: int
    latency_ns: int


def slowest_messages(analysis: Analysis, chain_id: int, most: int) -> list[SlowMessage]:
    """Return the slowest messages of a chain, the slowest first, each last message once.

    Those of the start-up are left out, where there are others.
    """
    instances = analysis.rows("chain_instances")
    own = instances["chain_id"] == chain_id
    later = own & ~instances["start_up"]
    rows = instances.take(later if later.any() else own)
    found: dict[int, SlowMessage] = {}
    for at in np.argsort(-rows["latency_ns"], kind="stable"):
        message = int(rows["message_id"][at])
        slow = SlowMessage(message, int(rows["begin_ns"][at]), int(rows["latency_ns"][at]))
        found.setdefault(message, slow)
        if len(found) == most:
            break
    return list(found.values())
