# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of `ros2:*` tracepoints: names, fields, units, who emits them and when.

Source: `tracetools/tp_call.h` of ROS 2 Jazzy (8.2, 35 events) and Kilted (8.6, 40 events); a test
parses the installed header against this catalogue. Emission semantics were read from the source of
rclcpp, rcl and rmw; docs/method.md describes them.

An *init* event links an entity to its name and to other entities, once. A *runtime* event carries
only handles and numbers. Handles are addresses in one process, reused after their entity is
destroyed.
"""

from __future__ import annotations

from strata.schema.event import Event, Field, Kind, Phase, handle

_MESSAGE = handle("message", "address of the ROS message; reused every cycle, so it links nothing")
_NODE = handle("node_handle", "rcl_node_t")
_GID = Field("gid", Kind.BYTES, "DDS GID: 24 bytes up to Jazzy (16 valid), 16 from Kilted")
_CLIENT_GID = Field("client_gid", Kind.BYTES, "GID of the client that called")
_SEQUENCE = Field("sequence_number", Kind.INT, "number of the request, counted by its client")
_SOURCE = Field(
    "source_timestamp", Kind.INT, "ns, CLOCK_REALTIME; the publisher's stamp; 0 when nothing taken"
)
_TAKEN = Field("taken", Kind.FLAG, "1 when there was something to take")
_CALLBACK = handle("callback", "identifies a callback within its process while it lives")
_BUFFER = handle("buffer", "ring buffer of an intra-process subscription")
_INDEX = Field("index", Kind.UINT, "slot of the ring buffer")
_SUBSCRIPTIONS = Field("subs", Kind.HANDLES, "rcl_subscription_t of each input")
_PUBLISHERS = Field("pubs", Kind.HANDLES, "rcl_publisher_t of each output")
_I, _R = Phase.INIT, Phase.RUNTIME

ROS2_EVENTS: tuple[Event, ...] = (
    Event(
        "rcl_init",
        _I,
        (
            handle("context_handle", "rcl_context_t"),
            Field("version", Kind.STRING, "version of tracetools in that process"),
        ),
        "A context was initialised.",
    ),
    Event(
        "rcl_node_init",
        _I,
        (
            _NODE,
            handle("rmw_handle", "rmw_node_t"),
            Field("node_name", Kind.STRING, "name without its namespace"),
            Field("namespace", Kind.STRING, "namespace, with its leading slash"),
        ),
        "A node was created.",
    ),
    Event(
        "rmw_publisher_init",
        _I,
        (handle("rmw_publisher_handle", "rmw_publisher_t"), _GID),
        "The middleware's publisher was created, before rcl_publisher_init.",
    ),
    Event(
        "rcl_publisher_init",
        _I,
        (
            handle("publisher_handle", "rcl_publisher_t"),
            _NODE,
            handle("rmw_publisher_handle", "rmw_publisher_t"),
            Field("topic_name", Kind.STRING, "fully qualified topic"),
            Field("queue_depth", Kind.UINT, "messages kept by the QoS history"),
        ),
        "A publisher was created.",
    ),
    Event(
        "rclcpp_publish",
        _R,
        (_MESSAGE,),
        "publish() of rclcpp entered its inter-process path, or that of rclpy was entered "
        "(rclpy_tracepoints; `message` is then the rcl_publisher_t, as no C message exists yet).",
    ),
    Event(
        "rclcpp_intra_publish",
        _R,
        (handle("publisher_handle", "rcl_publisher_t"), _MESSAGE),
        "publish() of rclcpp entered its intra-process path.",
        since="iron",
    ),
    Event(
        "rcl_publish",
        _R,
        (handle("publisher_handle", "rcl_publisher_t"), _MESSAGE),
        "rcl_publish was entered.",
    ),
    Event(
        "rmw_publish",
        _R,
        (
            handle("rmw_publisher_handle", "rmw_publisher_t", since="jazzy"),
            _MESSAGE,
            Field(
                "timestamp",
                Kind.INT,
                "ns, CLOCK_REALTIME; the stamp that travels with the message",
                column="source_timestamp",
                since="jazzy",
            ),
        ),
        "The middleware is about to write, before it serializes. No stock event marks its return.",
    ),
    Event(
        "rmw_subscription_init",
        _I,
        (handle("rmw_subscription_handle", "rmw_subscription_t"), _GID),
        "The middleware's subscription was created, before rcl_subscription_init.",
    ),
    Event(
        "rcl_subscription_init",
        _I,
        (
            handle("subscription_handle", "rcl_subscription_t"),
            _NODE,
            handle("rmw_subscription_handle", "rmw_subscription_t"),
            Field("topic_name", Kind.STRING, "fully qualified topic"),
            Field("queue_depth", Kind.UINT, "messages kept by the QoS history"),
        ),
        "A subscription was created.",
    ),
    Event(
        "rclcpp_subscription_init",
        _I,
        (
            handle("subscription_handle", "rcl_subscription_t"),
            handle("subscription", "rclcpp::Subscription; two for one handle with intra-process"),
        ),
        "The client library's subscription was bound to the rcl one.",
    ),
    Event(
        "rclcpp_subscription_callback_added",
        _I,
        (handle("subscription", "rclcpp::Subscription"), _CALLBACK),
        "A subscription got its callback.",
    ),
    Event(
        "rmw_take",
        _R,
        (handle("rmw_subscription_handle", "rmw_subscription_t"), _MESSAGE, _SOURCE, _TAKEN),
        "The middleware's take is done, including deserialization.",
    ),
    Event("rcl_take", _R, (_MESSAGE,), "rcl_take is done."),
    Event(
        "rclcpp_take",
        _R,
        (_MESSAGE,),
        "The client library's take is done, also when nothing was taken.",
    ),
    Event(
        "rcl_service_init",
        _I,
        (
            handle("service_handle", "rcl_service_t"),
            _NODE,
            handle("rmw_service_handle", "rmw_service_t"),
            Field("service_name", Kind.STRING, "fully qualified service"),
        ),
        "A service was created.",
    ),
    Event(
        "rclcpp_service_callback_added",
        _I,
        (handle("service_handle", "rcl_service_t"), _CALLBACK),
        "A service got its callback.",
    ),
    Event(
        "rmw_take_request",
        _R,
        (
            handle("rmw_service_handle", "rmw_service_t"),
            handle("request", "address of the request"),
            _CLIENT_GID,
            _SEQUENCE,
            _TAKEN,
        ),
        "A service took a request.",
        since="kilted",
    ),
    Event(
        "rmw_send_response",
        _R,
        (
            handle("rmw_service_handle", "rmw_service_t"),
            handle("response", "address of the response"),
            _CLIENT_GID,
            _SEQUENCE,
            Field(
                "timestamp",
                Kind.INT,
                "ns, CLOCK_REALTIME; the stamp that travels with the response",
                column="source_timestamp",
            ),
        ),
        "A service is about to send its response.",
        since="kilted",
    ),
    Event(
        "rmw_client_init",
        _I,
        (handle("rmw_client_handle", "rmw_client_t"), _GID),
        "The middleware's client was created, before rcl_client_init.",
        since="kilted",
    ),
    Event(
        "rcl_client_init",
        _I,
        (
            handle("client_handle", "rcl_client_t"),
            _NODE,
            handle("rmw_client_handle", "rmw_client_t"),
            Field("service_name", Kind.STRING, "fully qualified service"),
        ),
        "A service client was created.",
    ),
    Event(
        "rmw_send_request",
        _R,
        (
            handle("rmw_client_handle", "rmw_client_t"),
            handle("request", "address of the request"),
            _SEQUENCE,
        ),
        "A client sent a request.",
        since="kilted",
    ),
    Event(
        "rmw_take_response",
        _R,
        (
            handle("rmw_client_handle", "rmw_client_t"),
            handle("response", "address of the response"),
            _SEQUENCE,
            _SOURCE,
            _TAKEN,
        ),
        "A client took a response.",
        since="kilted",
    ),
    Event(
        "rcl_timer_init",
        _I,
        (
            handle("timer_handle", "rcl_timer_t"),
            Field("period", Kind.INT, "ns between two fires"),
        ),
        "A timer was created; rclpy creates one for each spin_once with a timeout.",
    ),
    Event(
        "rclcpp_timer_callback_added",
        _I,
        (handle("timer_handle", "rcl_timer_t"), _CALLBACK),
        "A timer got its callback.",
    ),
    Event(
        "rclcpp_timer_link_node",
        _I,
        (handle("timer_handle", "rcl_timer_t"), _NODE),
        "A timer was assigned to a node.",
    ),
    Event(
        "rclcpp_callback_register",
        _I,
        (_CALLBACK, Field("symbol", Kind.STRING, "demangled name of the function")),
        "A callback got its name.",
    ),
    Event(
        "callback_start",
        _R,
        (_CALLBACK, Field("is_intra_process", Kind.FLAG, "1 for an intra-process message")),
        "The user's callback is about to run.",
    ),
    Event(
        "callback_end",
        _R,
        (_CALLBACK,),
        "The user's callback returned; missing when an rclcpp callback throws.",
    ),
    Event(
        "rcl_lifecycle_state_machine_init",
        _I,
        (_NODE, handle("state_machine", "rcl_lifecycle_state_machine_t")),
        "A lifecycle node got its state machine.",
    ),
    Event(
        "rcl_lifecycle_transition",
        _R,
        (
            handle("state_machine", "rcl_lifecycle_state_machine_t"),
            Field("start_label", Kind.STRING, "state before"),
            Field("goal_label", Kind.STRING, "state after"),
        ),
        "A lifecycle node changed its state.",
    ),
    Event(
        "rclcpp_executor_get_next_ready",
        _R,
        (),
        "The executor looks for ready work; the first one after wait_for_work ends the wait.",
    ),
    Event(
        "rclcpp_executor_wait_for_work",
        _R,
        (Field("timeout", Kind.INT, "ns; negative waits for ever"),),
        "The executor begins to wait.",
    ),
    Event(
        "rclcpp_executor_execute",
        _R,
        (handle("handle", "rcl handle of the timer or subscription that was picked"),),
        "The executor picked an entity; not emitted for services, clients and waitables.",
    ),
    Event(
        "rclcpp_ipb_to_subscription",
        _I,
        (
            handle("ipb", "intra-process buffer"),
            handle("subscription", "rclcpp intra-process subscription"),
        ),
        "An intra-process buffer was assigned to a subscription.",
        since="iron",
    ),
    Event(
        "rclcpp_buffer_to_ipb",
        _I,
        (_BUFFER, handle("ipb", "intra-process buffer")),
        "A ring buffer was assigned to an intra-process buffer.",
        since="iron",
    ),
    Event(
        "rclcpp_construct_ring_buffer",
        _I,
        (_BUFFER, Field("capacity", Kind.UINT, "messages that it can hold")),
        "A ring buffer was created.",
        since="iron",
    ),
    Event(
        "rclcpp_ring_buffer_enqueue",
        _R,
        (
            _BUFFER,
            _INDEX,
            Field("size", Kind.UINT, "messages in the buffer, this one included"),
            Field("overwritten", Kind.FLAG, "1 when an older message was lost"),
        ),
        "An intra-process message was stored.",
        since="iron",
    ),
    Event(
        "rclcpp_ring_buffer_dequeue",
        _R,
        (_BUFFER, _INDEX, Field("size", Kind.UINT, "messages left")),
        "An intra-process message was taken out.",
        since="iron",
    ),
    Event(
        "rclcpp_ring_buffer_clear",
        _R,
        (_BUFFER,),
        "A ring buffer was emptied.",
        since="iron",
    ),
    Event(
        "message_link_periodic_async",
        _I,
        (_SUBSCRIPTIONS, _PUBLISHERS),
        "A node declares that it publishes from the newest messages of its inputs, as on a timer.",
        since="lyrical",
    ),
    Event(
        "message_link_partial_sync",
        _I,
        (_SUBSCRIPTIONS, _PUBLISHERS),
        "A node declares that it publishes once it has messages from its inputs.",
        since="lyrical",
    ),
)
