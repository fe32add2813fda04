# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Services, clients and calls as declared tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.layers.service_calls import CallLayers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.entities import UNKNOWN, take
from strata.model.frames import Objects, life, nullable, place
from strata.model.naming import owner_names
from strata.model.search import pick
from strata.model.service_calls import CONFIDENCES, METHODS
from strata.model.services import Clients, Services
from strata.schema import tables
from strata.schema.confidence import UNSYNCHRONISED


def service_objects_frame(model: Model) -> pd.DataFrame:
    """Return the table `service_objects`."""
    services = model.service_traffic.services
    return tables.SERVICE_OBJECTS.frame(
        pd.DataFrame(
            {
                "service_object_id": np.arange(len(services)),
                **place(model, services.process),
                "handle": services.handle.astype(np.uint64),
                "rmw_handle": services.rmw_handle.astype(np.uint64),
                "node_id": nullable(services.node),
                "name": services.name,
                **life(model, services.process, services.handle, services.begin_ns),
            }
        )
    )


def client_objects_frame(model: Model) -> pd.DataFrame:
    """Return the table `client_objects`."""
    traffic = model.service_traffic
    clients = traffic.clients
    return tables.CLIENT_OBJECTS.frame(
        pd.DataFrame(
            {
                "client_object_id": np.arange(len(clients)),
                **place(model, clients.process),
                "rmw_handle": clients.rmw_handle.astype(np.uint64),
                "node_id": nullable(clients.node),
                "name": clients.name,
                "gid": traffic.gids.text(clients.gid),
                **life(model, clients.process, clients.rmw_handle, clients.begin_ns),
            }
        )
    )


def service_calls_frame(model: Model, layers: CallLayers) -> pd.DataFrame:
    """Return the table `service_calls`."""
    traffic = model.service_traffic
    calls, exchange = traffic.calls, traffic.exchange
    client = np.where(calls.client < len(traffic.clients), calls.client, NONE)
    service = np.where(calls.service < len(traffic.services), calls.service, NONE)
    frame = pd.DataFrame(
        {
            "call_id": np.arange(len(calls)),
            "service": _names(model, client, service),
            "client_node": _client_nodes(model),
            "service_node": _service_nodes(model),
            "client_object_id": nullable(client),
            "service_object_id": nullable(service),
            "client_gid": traffic.gids.text(calls.gid),
            "sequence_number": _sequence(model),
            "method": take(np.asarray(METHODS, object), calls.method, None),
            "confidence": np.where(
                layers.unsynchronised & (calls.method != NONE),
                UNSYNCHRONISED,
                take(np.asarray(CONFIDENCES, object), calls.method, None),
            ),
            "caller_instance_id": nullable(pick(exchange.caller, calls.request)),
            "instance_id": nullable(pick(exchange.execution, calls.taken)),
            "begin_ns": layers.begin_ns,
            "write_request_ns": nullable(layers.write_request_ns),
            "send_request_ns": nullable(layers.send_request_ns),
            "picked_ns": nullable(layers.picked_ns),
            "take_request_ns": nullable(layers.take_request_ns),
            "callback_start_ns": nullable(layers.callback_start_ns),
            "callback_end_ns": nullable(layers.callback_end_ns),
            "send_response_ns": nullable(layers.send_response_ns),
            "take_response_ns": nullable(layers.take_response_ns),
            **{column: nullable(ns) for column, ns in layers.durations.items()},
            "latency_ns": layers.latency_ns,
            "complete": layers.complete,
            "further": calls.further,
        }
    )
    frame["service_id"] = frame.groupby(["service", "client_node"], sort=True).ngroup()
    return tables.SERVICE_CALLS.frame(frame)


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


def _nodes(model: Model, known: Clients | Services, others: pd.DataFrame, owner: Ints) -> Objects:
    """Names of the nodes of owners: rows of the known ones, then of the others."""
    process = np.concatenate([known.process, others["process"].to_numpy(np.int64)])
    handle = np.concatenate([known.rmw_handle, others["handle"].to_numpy(np.int64)])
    return owner_names(
        model.entities.nodes,
        model.events.processes,
        pick(known.node, np.where(owner < len(known), owner, NONE)),
        pick(process, owner),
        pick(handle, owner),
    )
