# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every table that Strata makes from a trace, declared once.

The documentation page, the validation of frames and the report's labels come from here. Times end
in ``_ns``: instants are nanoseconds since the epoch by the trace's clock, durations nanoseconds.
"""

from __future__ import annotations

from strata.schema.table import Table
from strata.schema.tables.actions import (
    ACTION_FEEDBACK,
    ACTION_GOALS,
    ACTION_PHASE_STATS,
    ACTION_TABLES,
    ACTIONS,
)
from strata.schema.tables.driver import (
    DRIVER_FRAMES,
    DRIVER_LOSSES,
    DRIVER_SOURCES,
    DRIVER_TABLES,
)
from strata.schema.tables.entities import (
    CALLBACK_OBJECTS,
    CONTEXTS,
    LIFECYCLE_NODES,
    NODES,
    PROCESSES,
    PUBLISHERS,
    SUBSCRIPTION_OBJECTS,
    SUBSCRIPTIONS,
    TIMERS,
)
from strata.schema.tables.executors import EXECUTOR_BLOCKERS, EXECUTOR_THREADS, EXECUTORS
from strata.schema.tables.findings import EVENT_USES, LINK_PROPOSALS, LOSSES, QUALITY
from strata.schema.tables.scheduling import LAYER_SCHEDULING, PREEMPTIONS, SCHEDULING_STATS
from strata.schema.tables.services import (
    CLIENT_OBJECTS,
    SERVICE_CALLS,
    SERVICE_LAYER_STATS,
    SERVICE_OBJECTS,
    SERVICE_TABLES,
    SERVICES,
)
from strata.schema.tables.statistics import (
    BLAME,
    CALLBACKS,
    CHAIN_INSTANCES,
    CHAIN_LAYER_STATS,
    CHAIN_SEGMENTS,
    CHAINS,
    HOP_LAYER_STATS,
    HOP_LOSSES,
    HOPS,
    MODES,
)
from strata.schema.tables.threads import LAYER_CPU_WAITS, THREAD_CPU
from strata.schema.tables.timers import (
    LIFECYCLE_STATES,
    LIFECYCLE_STATISTICS,
    TIMER_FIRES,
    TIMER_STATISTICS,
)
from strata.schema.tables.traffic import CALLBACK_INSTANCES, LINKS, MESSAGES, PUBLICATIONS, TAKES
from strata.schema.tables.verdict import (
    CHAIN_GROUP_MEMBERS,
    CHAIN_GROUPS,
    EXECUTOR_LOAD,
    SYSTEM_CAUSES,
    VERDICT_TABLES,
)

TABLES: tuple[Table, ...] = (
    PROCESSES,
    CONTEXTS,
    NODES,
    PUBLISHERS,
    SUBSCRIPTIONS,
    CALLBACK_OBJECTS,
    CALLBACK_INSTANCES,
    PUBLICATIONS,
    TAKES,
    MESSAGES,
    LINKS,
    EXECUTOR_BLOCKERS,
    EXECUTORS,
    EXECUTOR_THREADS,
    HOPS,
    HOP_LAYER_STATS,
    HOP_LOSSES,
    CHAINS,
    CHAIN_INSTANCES,
    CHAIN_SEGMENTS,
    CHAIN_LAYER_STATS,
    BLAME,
    MODES,
    CALLBACKS,
    SUBSCRIPTION_OBJECTS,
    TIMERS,
    TIMER_FIRES,
    TIMER_STATISTICS,
    LIFECYCLE_NODES,
    LIFECYCLE_STATES,
    LIFECYCLE_STATISTICS,
    *SERVICE_TABLES,
    *ACTION_TABLES,
    *DRIVER_TABLES,
    QUALITY,
    LOSSES,
    EVENT_USES,
    LINK_PROPOSALS,
    LAYER_SCHEDULING,
    PREEMPTIONS,
    SCHEDULING_STATS,
    THREAD_CPU,
    *VERDICT_TABLES,
    LAYER_CPU_WAITS,
)

__all__ = [
    "ACTIONS",
    "ACTION_FEEDBACK",
    "ACTION_GOALS",
    "ACTION_PHASE_STATS",
    "ACTION_TABLES",
    "BLAME",
    "CALLBACKS",
    "CALLBACK_INSTANCES",
    "CALLBACK_OBJECTS",
    "CHAINS",
    "CHAIN_GROUPS",
    "CHAIN_GROUP_MEMBERS",
    "CHAIN_INSTANCES",
    "CHAIN_LAYER_STATS",
    "CHAIN_SEGMENTS",
    "CLIENT_OBJECTS",
    "CONTEXTS",
    "DRIVER_FRAMES",
    "DRIVER_LOSSES",
    "DRIVER_SOURCES",
    "DRIVER_TABLES",
    "EVENT_USES",
    "EXECUTORS",
    "EXECUTOR_BLOCKERS",
    "EXECUTOR_LOAD",
    "EXECUTOR_THREADS",
    "HOPS",
    "HOP_LAYER_STATS",
    "HOP_LOSSES",
    "LAYER_CPU_WAITS",
    "LAYER_SCHEDULING",
    "LIFECYCLE_NODES",
    "LIFECYCLE_STATES",
    "LIFECYCLE_STATISTICS",
    "LINKS",
    "LINK_PROPOSALS",
    "LOSSES",
    "MESSAGES",
    "MODES",
    "NODES",
    "PREEMPTIONS",
    "PROCESSES",
    "PUBLICATIONS",
    "PUBLISHERS",
    "QUALITY",
    "SCHEDULING_STATS",
    "SERVICES",
    "SERVICE_CALLS",
    "SERVICE_LAYER_STATS",
    "SERVICE_OBJECTS",
    "SERVICE_TABLES",
    "SUBSCRIPTIONS",
    "SUBSCRIPTION_OBJECTS",
    "SYSTEM_CAUSES",
    "TABLES",
    "TAKES",
    "THREAD_CPU",
    "TIMERS",
    "TIMER_FIRES",
    "TIMER_STATISTICS",
    "VERDICT_TABLES",
]
