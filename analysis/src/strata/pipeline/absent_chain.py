# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is said of a chain that was asked for and is not in the trace: what there is instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from strata.errors import TraceError
from strata.nearest import did_you_mean, listed, nearest_first

_ARROW = " -> "


def absent_chain(
    wanted: Sequence[str], topics: Sequence[str], chains: Callable[[], Sequence[str]]
) -> TraceError:
    """Return the error for a chain that no message went through.

    `topics` are those of which messages were matched. `chains` names the chains of the trace; it is
    only called where all topics of the wanted chain are there.
    """
    asked = _ARROW.join(wanted)
    unknown = [topic for topic in wanted if topic not in topics]
    if unknown:
        topic = unknown[0]
        return TraceError(
            f"Cannot follow {asked}: no message of {topic} was matched."
            f"{did_you_mean(topic, topics)} Topics with messages: {nearest_first(topic, topics)}."
        )
    found = sorted(chains(), key=lambda chain: -_shared(wanted, chain.split(_ARROW)))
    return TraceError(
        f"Cannot follow {asked}: no message passed from each of these topics to the next through "
        f"callbacks. Chains in the trace: {listed(found, most=3)}. If a node on the way stores "
        "messages (a timer, fan-in), declare it as a message link (--links, docs/method.md); "
        "`strata links` proposes such links."
    )


def _shared(wanted: Sequence[str], topics: Sequence[str]) -> int:
    return len(set(wanted) & set(topics))
