# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Services, clients and calls as declared tables."""

from __future__ import annotations

import numpy as np

from strata.layers.service_calls import CallLayers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.entities import UNKNOWN, take
from strata.model.frames import Objects, life, named, place
from strata.model.naming import owner_names
from strata.model.search import pick
from strata.model.service_calls import CONFIDENCES, METHODS
from strata.model.service_events import UnknownOwners
from strata.model.services import Clients, Services
from strata.schema import tables
from strata.schema.confidence import UNSYNCHRONISED
from strata.schema.rows import Coded, Rows, numbered


def service_objects_rows(model: Model) -> Rows:
    """Return the table `service_objects`."""
    services = model.service_traffic.services
    return Rows(
        tables.SERVICE_OBJECTS,
        {
            "service_object_id": np.arange(len(services)),
            **place(model, services.process),
            "handle": services.handle,
            "rmw_handle": services.rmw_handle,
            "node_id": services.node,
            "name": services.name,
            **life(model, services.process, services.handle, services.begin_ns),
        },
    )


def client_objects_rows(model: Model) -> Rows:
    """Return the table `client_objects`."""
    traffic = model.service_traffic
    clients = traffic.clients
    return Rows(
        tables.CLIENT_OBJECTS,
        {
            "client_object_id": np.arange(len(clients)),
            **place(model, clients.process),
            "rmw_handle": clients.rmw_handle,
            "node_id": clients.node,
            "name": clients.name,
            "gid": traffic.gids.text(clients.gid),
            **life(model, clients.process, clients.rmw_handle, clients.begin_ns),
        },
    )


def service_calls_rows(model: Model, layers: CallLayers) -> Rows:
    """Return the table `service_calls`."""
    traffic = model.service_traffic
    calls, exchange = traffic.calls, traffic.exchange
    client = np.where(calls.client < len(traffic.clients), calls.client, NONE)
    service = np.where(calls.service < len(traffic.services), calls.service, NONE)
    names, asking = Coded.of(_names(model, client, service)), Coded.of(_client_nodes(model))
    confidence = take(np.asarray(CONFIDENCES, object), calls.method, None)
    apart = layers.unsynchronised & (calls.method != NONE)
    return Rows(
        tables.SERVICE_CALLS,
        {
            "call_id": np.arange(len(calls)),
            "service": names,
            "client_node": asking,
            "service_node": _service_nodes(model),
            "client_object_id": client,
            "service_object_id": service,
            "client_gid": traffic.gids.text(calls.gid),
            "sequence_number": _sequence(model),
            "method": named(np.asarray(METHODS, object), calls.method),
            "confidence": np.where(apart, UNSYNCHRONISED, confidence),
            "caller_instance_id": pick(exchange.caller, calls.request),
            "instance_id": pick(exchange.execution, calls.taken),
            "begin_ns": layers.begin_ns,
            "write_request_ns": layers.write_request_ns,
            "send_request_ns": layers.send_request_ns,
            "picked_ns": layers.picked_ns,
            "take_request_ns": layers.take_request_ns,
            "callback_start_ns": layers.callback_start_ns,
            "callback_end_ns": layers.callback_end_ns,
            "send_response_ns": layers.send_response_ns,
            "take_response_ns": layers.take_response_ns,
            **layers.durations,
            "latency_ns": layers.latency_ns,
            "complete": layers.complete,
            "further": calls.further,
            "service_id": numbered(names, asking),
        },
    )


def _sequence(model: Model) -> Ints:
    exchange, calls = model.service_traffic.exchange, model.service_traffic.calls
    out = np.full(len(calls), NONE, np.int64)
    for kind, of in (
        (exchange.sent_responses, calls.response),
        (exchange.taken_requests, calls.taken),
        (exchange.sent_requests, calls.request),
    ):
        out = np.where(of != NONE, pick(kind.sequence, of), out)
    return out


def _names(model: Model, client: Ints, service: Ints) -> Objects:
    traffic = model.service_traffic
    asked = take(traffic.clients.name, client, None)
    served = take(traffic.services.name, service, UNKNOWN)
    return np.where(asked == None, served, asked)  # noqa: E711 (elementwise)


def _client_nodes(model: Model) -> Objects:
    """Names of the clients' nodes; without one, process and rmw handle, or else the GID."""
    traffic = model.service_traffic
    calls = traffic.calls
    names = _nodes(model, traffic.clients, traffic.exchange.unknown_clients, calls.client)
    foreign = np.flatnonzero(calls.client == NONE)
    gids = traffic.gids.text(calls.gid[foreign])
    names[foreign] = [UNKNOWN if gid is None else f"(unknown {gid})" for gid in gids]
    return names


def _service_nodes(model: Model) -> Objects:
    """Names of the services' nodes; without one, process and rmw handle, or else None."""
    traffic = model.service_traffic
    calls = traffic.calls
    names = _nodes(model, traffic.services, traffic.exchange.unknown_services, calls.service)
    names[calls.service == NONE] = None
    return names


def _nodes(model: Model, known: Clients | Services, others: UnknownOwners, owner: Ints) -> Objects:
    """Names of the nodes of owners: rows of the known ones, then of the others."""
    process = np.concatenate([known.process, others.process])
    handle = np.concatenate([known.rmw_handle, others.handle])
    return owner_names(
        model.entities.nodes,
        model.processes,
        pick(known.node, np.where(owner < len(known), owner, NONE)),
        pick(process, owner),
        pick(handle, owner),
    )
