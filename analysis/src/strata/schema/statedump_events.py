# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of events that LTTng-UST itself emits in each traced process.

One at a time, by a thread of its own: once the process is there, or for one that is there already,
once a session begins (lttng-ust 2.13, lttng-ust-statedump-provider.h).
"""

from __future__ import annotations

from strata.schema.event import Event, Field, Kind, Phase

STATEDUMP_EVENTS: tuple[Event, ...] = (
    Event(
        "procname",
        Phase.INIT,
        (
            Field(
                "procname",
                Kind.STRING,
                "name of the process, 15 characters; that of its threads where their names were "
                "not recorded",
                column="process_name",
            ),
        ),
        "A process is traced.",
        provider="lttng_ust_statedump",
    ),
)
