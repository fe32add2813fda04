# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What may happen to a message that was published for a subscription: declared once.

Every message is *received*, *lost*, *in flight* or *unknown*; all but the first have a cause.
"""

from __future__ import annotations

from dataclasses import dataclass

RECEIVED, LOST, IN_FLIGHT, UNKNOWN = OUTCOMES = ("received", "lost", "in flight", "unknown")
"""The outcomes of a message; the counts of the four add up to the number published."""


NEVER_TOOK, WENT_SILENT, PROCESS_ENDED = (
    "reader never took anything",
    "reader went silent",
    "process ended",
)
"""Causes of losses at a reader that takes nothing."""


@dataclass(frozen=True)
class Fate:
    """One outcome with its cause; `text` follows a count of messages.

    `unseen`: the trace does not show what happened to them at the reader, or the reader no longer
    existed, so statistics of the received messages say little about all of them.
    """

    cause: str
    outcome: str
    text: str
    unseen: bool = False


FATES: tuple[Fate, ...] = (
    Fate("received", RECEIVED, "received"),
    Fate("in flight", IN_FLIGHT, "still in transit when the trace ended"),
    Fate("tracer lost events", UNKNOWN, "not seen to be taken while the tracer lost events", True),
    Fate(
        "ambiguous take", UNKNOWN, "possibly taken: a take could match several publications", True
    ),
    Fate("overwritten", LOST, "overwritten in the reader's full queue"),
    Fate("resend given up", LOST, "sent more than once, and never received"),
    Fate("lost on the way", LOST, "sent once, and never received"),
    Fate(
        "lost on the way or overwritten",
        LOST,
        "on the way, or overwritten in a full queue (the middleware's events were not recorded)",
    ),
    Fate(NEVER_TOOK, LOST, "the reader never took anything", True),
    Fate(WENT_SILENT, LOST, "the reader took nothing any more", True),
    Fate(PROCESS_ENDED, LOST, "the reader's process has no further event", True),
)
"""Every fate; the model numbers them by their place here."""

NUMBER: dict[str, int] = {fate.cause: number for number, fate in enumerate(FATES)}
