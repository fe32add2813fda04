# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One message as a timeline over processes and threads, and which messages are worth a look."""

from __future__ import annotations

from strata.timeline.spans import Arrow, Lane, Span, Timeline
from strata.timeline.timelines import Timelines, message_timeline

__all__ = ["Arrow", "Lane", "Span", "Timeline", "Timelines", "message_timeline"]
