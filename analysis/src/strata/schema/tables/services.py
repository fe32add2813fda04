# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of services, clients and calls; strata.schema.tables lists them with all others."""

from __future__ import annotations

from strata.schema.columns import (
    END,
    HOST,
    NO_INIT,
    VPID,
    dense_id,
    duration,
    instant,
    statistics,
    unsynchronised,
)
from strata.schema.service_layers import SERVICE_LAYERS
from strata.schema.table import Column, Table

_NOT_SEEN = "not recorded"

SERVICE_OBJECTS = Table(
    "service_objects",
    ("service_object_id",),
    (
        dense_id("service_object_id", "dense number of the service"),
        HOST,
        VPID,
        Column("handle", "uint64", "address of the rcl object; reused after it is destroyed"),
        Column("rmw_handle", "uint64", "address of the rmw object"),
        dense_id("node_id", "its node", null=NO_INIT),
        Column("name", "string", "fully qualified service"),
        instant(
            "begin_ns", "when its init event was recorded; it lives until its handle is reused"
        ),
        END,
    ),
    "One row per service server and lifetime.",
)

CLIENT_OBJECTS = Table(
    "client_objects",
    ("client_object_id",),
    (
        dense_id("client_object_id", "dense number of the client"),
        HOST,
        VPID,
        Column("rmw_handle", "uint64", "address of the rmw object; reused after it is destroyed"),
        dense_id("node_id", "its node", null=NO_INIT),
        Column("name", "string", "fully qualified service", null=NO_INIT),
        Column("gid", "string", "GID, 32 hex digits", null="not recorded (Jazzy and older)"),
        instant("begin_ns", "when its first init event was recorded"),
        END,
    ),
    "One row per client and lifetime.",
)

SERVICE_CALLS = Table(
    "service_calls",
    ("call_id",),
    (
        dense_id("call_id", "dense number, in order of the first event of the call"),
        dense_id("service_id", "row of `services`"),
        Column("service", "string", "fully qualified service; (unknown) without init events"),
        Column("client_node", "string", "node that called; (unknown pid/handle) if unnamed"),
        Column("service_node", "string", "node that served", null="no service took the request"),
        dense_id("client_object_id", "the client", null=NO_INIT),
        dense_id("service_object_id", "the service", null="no init event, or not taken"),
        Column("client_gid", "string", "GID of the client, 32 hex digits", null="not known"),
        Column("sequence_number", "int64", "number of the request, counted by its client"),
        Column(
            "method",
            "string",
            "how it was matched: gid+sequence; client+sequence (the service is not in the "
            "trace); response timestamp (which identified the client's GID); dds identity "
            "(client and number, from the middleware hooks); thread order (each response belongs "
            "to the request that its thread took last)",
            null="only one side is in the trace",
        ),
        Column(
            "confidence",
            "string",
            "exact or inferred, by the method; unsynchronised: between hosts whose clocks are "
            "not synchronised, so the travel times of request and response are not known (the "
            "latency is by the client's clock, the service's layers by its own)",
            null="only one side is in the trace",
        ),
        dense_id(
            "caller_instance_id",
            "the callback execution in which the request was sent",
            null="none was running, or the request is not in the trace",
        ),
        dense_id("instance_id", "the service's callback execution", null="none was recorded"),
        instant(
            "begin_ns",
            "checkpoint: write_request_ns, else send_request_ns; the first recorded event of the "
            "call, if that is earlier",
        ),
        instant(
            "write_request_ns",
            "write_begin of the request, which Fast DDS writes before rmw_send_request",
            null="the middleware was not traced, or is not Fast DDS",
        ),
        instant(
            "send_request_ns",
            "rmw_send_request; before Kilted the write_begin of the request",
            null=_NOT_SEEN,
        ),
        instant("picked_ns", "checkpoint: rclcpp_executor_execute", null="not recorded (rclcpp)"),
        instant(
            "take_request_ns",
            "checkpoint: rmw_take_request; before Kilted the take_end of the request",
            null=_NOT_SEEN,
        ),
        instant("callback_start_ns", "checkpoint: callback_start", null=_NOT_SEEN),
        instant("callback_end_ns", "checkpoint: callback_end", null="it never ended"),
        instant(
            "send_response_ns",
            "checkpoint: rmw_send_response; before Kilted the write_begin of the response",
            null=_NOT_SEEN,
        ),
        instant(
            "take_response_ns",
            "checkpoint: rmw_take_response; before Kilted the take_end of the response",
            null=_NOT_SEEN,
        ),
        *(
            duration(layer.column, f"layer {layer.name}: {layer.doc}", null="not in this row")
            for layer in SERVICE_LAYERS
        ),
        duration("latency_ns", "begin_ns to the last checkpoint; the sum of the layers"),
        Column("complete", "bool", "from rmw_send_request to rmw_take_response"),
        Column(
            "further", "bool", "the call has another row; this is a further service that served it"
        ),
    ),
    "One row per service call with its checkpoints and layers; a request that several services "
    "took has an additional row for each of the others (`further`).",
)

SERVICES = Table(
    "services",
    ("service_id",),
    (
        dense_id("service_id", "dense number"),
        Column("service", "string", "fully qualified service"),
        Column("client_node", "string", "node that calls"),
        Column(
            "service_node", "string", "nodes that serve it, joined by a comma; (unknown) for none"
        ),
        Column("count", "int64", "calls"),
        Column(
            "lost",
            "int64",
            "calls whose response was not taken in the trace (including those in flight at its "
            "end)",
        ),
        *statistics("latency_", "begin_ns to rmw_take_response, complete calls"),
    ),
    "One row per service and node that calls it; rows with `further` are not counted.",
)

SERVICE_LAYER_STATS = Table(
    "service_layers",
    ("service_id", "layer"),
    (
        dense_id("service_id", "row of `services`"),
        Column("layer", "string", "name of the layer"),
        Column("share", "float64", "of the summed latency of the complete calls"),
        *statistics("", "duration"),
        unsynchronised("durations between hosts whose clocks are not synchronised"),
    ),
    "One row per layer of a node's calls of a service, over the complete calls.",
)

SERVICE_TABLES: tuple[Table, ...] = (
    SERVICE_OBJECTS,
    CLIENT_OBJECTS,
    SERVICE_CALLS,
    SERVICES,
    SERVICE_LAYER_STATS,
)
