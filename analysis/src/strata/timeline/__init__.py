# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One message as a timeline over processes and threads, and which messages are worth a look."""

from __future__ import annotations

from strata.timeline.document import documents
from strata.timeline.embedded import EmbeddedMessage, Embedding, Reason, embedded_messages
from strata.timeline.spans import Arrow, Lane, Span, Timeline
from strata.timeline.timelines import Timelines, message_timeline

__all__ = [
    "Arrow",
    "EmbeddedMessage",
    "Embedding",
    "Lane",
    "Reason",
    "Span",
    "Timeline",
    "Timelines",
    "documents",
    "embedded_messages",
    "message_timeline",
]
