# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of services and their clients, of what they sent and took, and of calls."""

from __future__ import annotations

INT, SHORT, FLAG = "int64_t", "int32_t", "uint8_t"

_PROCESS = ("process", INT, "row of the processes")
_RMW_HANDLE = ("rmw_handle", INT, "address of the rmw object")
_HANDLE = ("handle", INT, "address of the rcl object")
_NODE = ("node", INT, "row of the nodes")
_NAME = ("name", INT, "number of the service's name among the texts")
_NAMELESS = (_PROCESS, _RMW_HANDLE)

SERVICE_ROWS = (
    (
        "services",
        (_PROCESS, _HANDLE, _RMW_HANDLE, _NODE, _NAME, ("begin_ns", INT, "init event")),
        "Services, in the order of their init events.",
    ),
    (
        "clients",
        (
            _PROCESS,
            _HANDLE,
            _RMW_HANDLE,
            _NODE,
            _NAME,
            ("gid", SHORT, "number of its GUID among the bytes"),
            ("begin_ns", INT, "its first init event"),
        ),
        "Clients: those of rmw_client_init, then of rcl_client_init alone, each in order of time.",
    ),
    (
        "nameless_services",
        _NAMELESS,
        "Services without an init event; as owners they come after all services.",
    ),
    (
        "nameless_clients",
        _NAMELESS,
        "Clients without an init event; as owners they come after all clients.",
    ),
    (
        "service_steps",
        (
            ("kind", FLAG, "StepKind: request sent or taken, response sent or taken"),
            ("told", FLAG, "StepRule: by what it is known; 0: its event was recorded"),
            ("thread", SHORT, "row of the threads"),
            ("owner", SHORT, "row of the clients or services, then of the nameless ones"),
            ("gid", SHORT, "number of the client's GUID among the bytes"),
            ("ns", INT, "when"),
            ("at", INT, "place in the order of events; of a told one that of what it is told by"),
            ("sequence", INT, "number of the request"),
            ("stamp", INT, "source timestamp of the response"),
            (
                "execution",
                SHORT,
                "row of the execution: that a request was sent in, by its first piece, or that "
                "what was taken started",
            ),
            ("before_ns", INT, "a request began to be written; or its executor picked it"),
            ("publish", SHORT, "row of the publishes: the next that a response's thread did"),
            ("goal_execution", SHORT, "execution of the goal that was announced after a response"),
        ),
        "Requests and responses that were sent and taken, in order of time.",
    ),
    (
        "feedback_takes",
        (
            ("at", INT, "place of a take in the order of events"),
            ("execution", SHORT, "row of the execution that began next, if it may be the take's"),
        ),
        "Takes of the feedback of actions, in order.",
    ),
    (
        "service_calls",
        (
            ("request", SHORT, "step that sent the request"),
            ("taken", SHORT, "step that took it"),
            ("response", SHORT, "step that sent the response"),
            ("taken_response", SHORT, "step that took it"),
            ("client", SHORT, "as `owner` of the steps"),
            ("service", SHORT, "as `owner` of the steps"),
            ("gid", SHORT, "number of the client's GUID among the bytes"),
            ("method", FLAG, "CallMethod: what decided; 255: only one side was seen"),
            ("further", FLAG, "1: what another service of the name did with the same request"),
        ),
        "Calls, in order of their first steps.",
    ),
)
