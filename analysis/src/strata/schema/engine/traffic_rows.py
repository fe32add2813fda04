# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of what was published and taken through the middleware."""

from __future__ import annotations

INT, SHORT, FLAG = "int64_t", "int32_t", "uint8_t"

TRAFFIC_ROWS = (
    (
        "publishes",
        (
            ("thread", SHORT, "row of the threads"),
            ("ns", INT, "rmw_publish"),
            ("at", INT, "its place in the order of events"),
            ("publisher", SHORT, "row of the publishers"),
            ("procname", SHORT, "number of the thread's name among the texts"),
            ("rmw_handle", INT, "address of the rmw publisher"),
            ("stamp", INT, "source timestamp"),
            ("client_ns", INT, "when publish() was called"),
            ("open_execution", SHORT, "innermost execution that had begun, and was not over"),
            ("execution", SHORT, "row of the execution that it was made in, by its first piece"),
            ("has_client", FLAG, "an event of the client library or rcl is of this call"),
            ("of_application", FLAG, "not one of the middleware's own (graph topics)"),
        ),
        "Every rmw_publish, in order of time.",
        ("open_execution",),
    ),
    (
        "takes",
        (
            ("thread", SHORT, "row of the threads"),
            ("ns", INT, "rmw_take; of a loaned message take_end"),
            ("at", INT, "its place in the order of events"),
            ("subscription", SHORT, "row of the subscriptions"),
            ("rmw_handle", INT, "address of the rmw subscription"),
            ("stamp", INT, "source timestamp"),
            ("picked_ns", INT, "when the executor picked it"),
            ("execution", SHORT, "row of the execution that it started"),
            ("loaned", FLAG, "the middleware lent the message, without an rmw_take"),
        ),
        "Messages that were taken from the middleware.",
    ),
    (
        "loans",
        (
            ("thread", SHORT, "row of the threads"),
            ("ns", INT, "take_end"),
            ("at", INT, "its place in the order of events"),
            ("stamp", INT, "source timestamp"),
            ("picked", SHORT, "row of the subscription that was picked before"),
            ("picked_ns", INT, "when that was"),
            ("execution", SHORT, "row of the execution that began next"),
            ("since_ns", INT, "what the thread did before"),
            ("until_ns", INT, "what the thread did next"),
        ),
        "Takes within the middleware that no event of a take follows: of loaned messages, maybe.",
    ),
    (
        "matches",
        (
            ("publish", SHORT, "row of the publishes"),
            ("take", SHORT, "row of the takes"),
            ("method", FLAG, "MatchMethod: what decided"),
        ),
        "Which publication each take took, in the order of the takes.",
    ),
    (
        "doubtful_takes",
        (
            ("take", SHORT, "row of the takes"),
            ("publish", SHORT, "a publication that it may be of"),
        ),
        "Takes that several publications may be of, or of which two rules contradict each other.",
    ),
)
