# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is kept of the service calls of a campaign cell (strata.schema.tables.measured)."""

from __future__ import annotations

from strata.schema.columns import duration, instant
from strata.schema.layers import HOLD
from strata.schema.service_layers import (
    CLIENT_TAKE,
    REQUEST_EXECUTOR_WAIT,
    REQUEST_EXECUTOR_WAIT_TAKE,
    REQUEST_MIDDLEWARE,
    REQUEST_MIDDLEWARE_EXECUTOR_WAIT,
    REQUEST_MIDDLEWARE_EXECUTOR_WAIT_TAKE,
    REQUEST_TAKE,
    SERVICE_LAYERS,
)
from strata.schema.table import Column, Table

REQUEST_LAYERS = (
    REQUEST_MIDDLEWARE,
    REQUEST_EXECUTOR_WAIT,
    REQUEST_MIDDLEWARE_EXECUTOR_WAIT,
    REQUEST_TAKE,
    REQUEST_EXECUTOR_WAIT_TAKE,
    REQUEST_MIDDLEWARE_EXECUTOR_WAIT_TAKE,
    CLIENT_TAKE,
)
"""The layers of a call from its request to the start of the service's callback."""

CALL_CHAIN_LAYERS = (*REQUEST_LAYERS, HOLD)

_NO_ANSWER = "no answer was taken"
_NO_CALLBACK = "no callback of a service was recorded"
_NUMBER = Column("number", "int64", "index among its client's calls of that service, from 0")
_WARM_UP = Column("warm_up", "bool", "`number` belongs to the cell's warm-up: in no statistic")

MEASURED_CALLS = Table(
    "measured_calls",
    ("hop", "number"),
    (
        Column("hop", "string", "service: calling node -> serving node"),
        Column("service", "string", "fully qualified service"),
        Column("client_node", "string", "node that called"),
        Column("service_node", "string", "node that served; that of the others, if none did"),
        Column("client_client", "string", "client library of the calling node", null="not known"),
        _NUMBER,
        instant("begin_ns", "the request, as begin_ns of `service_calls`"),
        instant("served_ns", "start of the service's callback", null=_NO_CALLBACK),
        instant("end_ns", "when the answer was taken", null=_NO_ANSWER),
        duration(
            "request_ns",
            "begin_ns -> served_ns; the sum of the layers up to there",
            null=_NO_CALLBACK,
        ),
        duration("latency_ns", "begin_ns -> end_ns; the sum of the layers", null=_NO_ANSWER),
        *(
            duration(one.column, f"layer {one.name}", null="not in this row")
            for one in SERVICE_LAYERS
        ),
        _WARM_UP,
    ),
    "One row per call of a service by a node, served or not; action servers' services excluded.",
)

MEASURED_CALL_CHAINS = Table(
    "measured_call_chains",
    ("chain", "number"),
    (
        Column("chain", "string", "services of its calls, joined by ->"),
        Column("hops", "int64", "number of calls"),
        Column("number", "int64", "that of its first call"),
        instant("begin_ns", "the first request"),
        instant("end_ns", "start of the last service's callback"),
        duration("latency_ns", "begin_ns -> end_ns; the sum of the layers"),
        *(
            duration(one.column, f"layer {one.name}, summed over the calls", null="not in this row")
            for one in REQUEST_LAYERS
        ),
        duration(HOLD.column, "from the start of a callback to its request of the next service"),
        _WARM_UP,
    ),
    "One row per chain of calls, each but the first made in the callback that served the one "
    "before.",
)

CALL_TABLES = (MEASURED_CALLS, MEASURED_CALL_CHAINS)
