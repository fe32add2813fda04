# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of entities: each lives from its init event until its handle is new again."""

from __future__ import annotations

INT = "int64_t"

_PROCESS = ("process", INT, "row of the processes")
_HANDLE = ("handle", INT, "address of the rcl object")
_RMW_HANDLE = ("rmw_handle", INT, "address of the rmw object")
_NODE = ("node", INT, "row of the nodes")
_BEGIN = ("begin_ns", INT, "init event")
_ENDPOINT = (
    _PROCESS,
    _HANDLE,
    _RMW_HANDLE,
    _NODE,
    ("topic", INT, "number of the topic's name among the texts"),
    ("queue_depth", INT, "depth of its queue"),
    _BEGIN,
)

ENTITY_ROWS = (
    (
        "nodes",
        (_PROCESS, _HANDLE, ("name", INT, "number of its full name among the texts"), _BEGIN),
        "Nodes, in the order of their init events.",
    ),
    ("publishers", _ENDPOINT, "Publishers, in the order of their init events."),
    ("subscriptions", _ENDPOINT, "Subscriptions, in the order of their init events."),
    (
        "timers",
        (_PROCESS, _HANDLE, ("period_ns", INT, "its period"), _NODE, _BEGIN),
        "Timers that a callback or a node was announced for.",
    ),
    (
        "callbacks",
        (
            _PROCESS,
            ("address", INT, "address of the callback"),
            ("symbol", INT, "number of its name among the texts, as it was recorded"),
            ("kind", INT, "CallbackKind: whose it is"),
            ("trigger", INT, "number of the topic's or service's name among the texts"),
            ("subscription", INT, "row of the subscriptions"),
            ("timer", INT, "row of the timers"),
            _NODE,
            ("begin_ns", INT, "when it was registered, given to its owner or ran first"),
        ),
        "Callbacks: those that were registered in that order, then those that only ran or were "
        "given to an owner, by process and address.",
    ),
)
