# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of events that say what a process is and has made, when a session starts.

A thread of LTTng-UST's emits them: once the process is there, or for one that is there already,
once a session starts (lttng-ust 2.13, lttng-ust-statedump-provider.h; of Strata,
tracing_ws/src/tracetools_provider/src/statedump).
"""

from __future__ import annotations

from strata.schema.event import Event, Field, Kind, Phase

DUMP_BEGIN = "ros2_statedump:dump_begin"

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
    Event(
        "dump_begin",
        Phase.RUNTIME,
        (
            Field("announcements", Kind.UINT, "how many follow"),
            Field("forgotten", Kind.UINT, "how many are not among them, as there were too many"),
        ),
        "A session started, this one or another. Up to `dump_end` this thread emits the init "
        "events of its process again.",
        provider="ros2_statedump",
    ),
    Event(
        "dump_end",
        Phase.RUNTIME,
        (),
        "All init events of the process were emitted again.",
        provider="ros2_statedump",
    ),
)
