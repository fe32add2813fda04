# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers of a service call: their names, where each begins and ends, in order.

Like those of a message (strata.schema.layers): the layers of one call never overlap and leave no
gap, and a checkpoint that was not recorded merges the layers on both sides of it. `service`
replaces client take + callback + respond where the callback was not recorded. A request's *begin*
is the begin of its call: its write_begin (Fast DDS, where the middleware was traced), else
rmw_send_request.
"""

from __future__ import annotations

from strata.schema import layers
from strata.schema.layer import Layer

REQUEST_MIDDLEWARE = Layer(
    "request middleware",
    "request_middleware_ns",
    "between the request's begin and picked: the time in which the taking thread was waiting for "
    "work, so the request was still in the middleware or on the wire",
    colour=layers.MIDDLEWARE.colour,
)
REQUEST_EXECUTOR_WAIT = Layer(
    "request executor wait",
    "request_executor_wait_ns",
    "between the request's begin and picked: the time in which the taking thread was not waiting; "
    "it ran callbacks or the executor itself",
    colour=layers.EXECUTOR_WAIT.colour,
)
REQUEST_MIDDLEWARE_EXECUTOR_WAIT = Layer(
    "request middleware + executor wait",
    "request_middleware_executor_wait_ns",
    "the request's begin -> rclcpp_executor_execute, where the taking thread's waits were not "
    "recorded",
    colour=layers.MIDDLEWARE_EXECUTOR_WAIT.colour,
)
REQUEST_TAKE = Layer(
    "request take",
    "request_take_ns",
    "rclcpp_executor_execute -> rmw_take_request (rclpy; rclcpp emits no execute for a service)",
    colour=layers.TAKE.colour,
)
REQUEST_EXECUTOR_WAIT_TAKE = Layer(
    "request executor wait + take",
    "request_executor_wait_take_ns",
    "as request executor wait, up to rmw_take_request, where rclcpp_executor_execute was not "
    "recorded",
    colour=layers.EXECUTOR_WAIT_TAKE.colour,
)
REQUEST_MIDDLEWARE_EXECUTOR_WAIT_TAKE = Layer(
    "request middleware + executor wait + take",
    "request_middleware_executor_wait_take_ns",
    "the request's begin -> rmw_take_request, where neither the thread's waits nor its executes "
    "were recorded",
    colour=layers.MIDDLEWARE_EXECUTOR_WAIT_TAKE.colour,
)
CLIENT_TAKE = Layer(
    "client take",
    "client_take_ns",
    "rmw_take_request -> callback_start",
    colour=layers.CLIENT_TAKE.colour,
)
CALLBACK = Layer(
    "callback",
    "callback_ns",
    "callback_start -> callback_end, or rmw_send_response if the callback itself sent it",
    colour=layers.CALLBACK.colour,
)
RESPOND = Layer(
    "respond",
    "respond_ns",
    "callback_end -> rmw_send_response; for a service that answers later, the wait until then",
    colour="#f4a582",
)
RESPONSE_MIDDLEWARE = Layer(
    "response middleware",
    "response_middleware_ns",
    "between rmw_send_response and rmw_take_response: the time in which the client's thread was "
    "waiting for work, so the response was still in the middleware or on the wire",
    colour="#4fa3d9",
)
RESPONSE_EXECUTOR_WAIT_TAKE = Layer(
    "response executor wait + take",
    "response_executor_wait_take_ns",
    "between rmw_send_response and rmw_take_response: the time in which the client's thread was "
    "not waiting; no event marks the pick of a client",
    colour="#c9a227",
)
RESPONSE_MIDDLEWARE_EXECUTOR_WAIT_TAKE = Layer(
    "response middleware + executor wait + take",
    "response_middleware_executor_wait_take_ns",
    "rmw_send_response -> rmw_take_response, where the thread's waits were not recorded",
    colour="#7f78c9",
)
CALLBACK_RESPOND = Layer(
    "callback + respond",
    "callback_respond_ns",
    "callback_start -> rmw_send_response, where callback_end was not recorded",
    colour="#a8557f",
)
SERVICE = Layer(
    "service",
    "service_ns",
    "rmw_take_request -> rmw_send_response, where the callback was not recorded",
    colour="#7b2d56",
)
REQUEST_SERVICE = Layer(
    "request + service",
    "request_service_ns",
    "the request's begin -> rmw_send_response, where rmw_take_request was not recorded",
    colour="#4a1942",
)
RESPOND_RESPONSE = Layer(
    "respond + response",
    "respond_response_ns",
    "callback_end -> rmw_take_response, where rmw_send_response was not recorded",
    colour="#5f8fb0",
)
CALLBACK_RESPOND_RESPONSE = Layer(
    "callback + respond + response",
    "callback_respond_response_ns",
    "callback_start -> rmw_take_response, where nothing in between was recorded",
    colour="#946b9c",
)
SERVICE_RESPONSE = Layer(
    "service + response",
    "service_response_ns",
    "rmw_take_request -> rmw_take_response, where nothing in between was recorded",
    colour="#5d4a7d",
)
REQUEST_SERVICE_RESPONSE = Layer(
    "request + service + response",
    "request_service_response_ns",
    "the request's begin -> rmw_take_response, where the service was not recorded",
    colour="#2f2f3d",
)

SERVICE_LAYERS: tuple[Layer, ...] = (
    REQUEST_MIDDLEWARE,
    REQUEST_EXECUTOR_WAIT,
    REQUEST_MIDDLEWARE_EXECUTOR_WAIT,
    REQUEST_TAKE,
    REQUEST_EXECUTOR_WAIT_TAKE,
    REQUEST_MIDDLEWARE_EXECUTOR_WAIT_TAKE,
    CLIENT_TAKE,
    CALLBACK,
    RESPOND,
    CALLBACK_RESPOND,
    SERVICE,
    REQUEST_SERVICE,
    RESPONSE_MIDDLEWARE,
    RESPONSE_EXECUTOR_WAIT_TAKE,
    RESPONSE_MIDDLEWARE_EXECUTOR_WAIT_TAKE,
    RESPOND_RESPONSE,
    CALLBACK_RESPOND_RESPONSE,
    SERVICE_RESPONSE,
    REQUEST_SERVICE_RESPONSE,
)
"""In the order in which a call meets them."""

REQUESTS: tuple[Layer, ...] = (
    REQUEST_MIDDLEWARE_EXECUTOR_WAIT,
    REQUEST_MIDDLEWARE_EXECUTOR_WAIT_TAKE,
    REQUEST_SERVICE,
)
"""The path of a request, undivided: between hosts without a common clock it is one of these."""
RESPONSES: tuple[Layer, ...] = (
    RESPONSE_MIDDLEWARE_EXECUTOR_WAIT_TAKE,
    RESPOND_RESPONSE,
    CALLBACK_RESPOND_RESPONSE,
    SERVICE_RESPONSE,
)
BETWEEN_HOSTS: tuple[Layer, ...] = (*REQUESTS, *RESPONSES)
"""Layers that begin with the clock of
one side and end with the other's. The service's own layers are by its clock, and a call without any
event of the service is by the client's."""
