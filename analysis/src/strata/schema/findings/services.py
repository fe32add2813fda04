# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Findings about service calls."""

from __future__ import annotations

from strata.schema.diagnostic import Diagnostic, Severity

SERVICES = (
    Diagnostic(
        "service_calls_unseen",
        Severity.INFO,
        "{count} {execution|executions} of service callbacks in processes whose requests and "
        "responses are not in the trace: {it is|they are} listed among the callbacks, but the "
        "calls are not known. Before Kilted, ROS 2 traces no requests or responses; the "
        "middleware hooks do (record with trace_configs/full.yaml).",
    ),
    Diagnostic(
        "untaken_requests",
        Severity.WARNING,
        "{count} {request was|requests were} taken by no service and not answered in the trace (no "
        "service, a full queue, a service outside the trace, or the trace ended first).",
    ),
    Diagnostic(
        "unanswered_requests",
        Severity.WARNING,
        "{count} {request was|requests were} taken by a service that sent no response in the "
        "trace.",
    ),
    Diagnostic(
        "untaken_responses",
        Severity.INFO,
        "{count} {response was|responses were} not taken by {its|their} client in the trace.",
    ),
    Diagnostic(
        "unmatched_requests",
        Severity.INFO,
        "{count} taken {request has|requests have} no send event in the trace (a client outside "
        "the trace, or sent before it began).",
    ),
    Diagnostic(
        "unmatched_responses",
        Severity.WARNING,
        "{count} taken {response belongs|responses belong} to no request or response whose send "
        "event is in the trace.",
    ),
    Diagnostic(
        "calls_of_unseen_services",
        Severity.INFO,
        "{count} {call was|calls were} answered by a service that is not in the trace.",
    ),
    Diagnostic(
        "ambiguous_service_events",
        Severity.WARNING,
        "{count} {request or response|requests and responses} could belong to several calls (an "
        "init event is missing, or a GID was reused); {it was|they were} not matched.",
    ),
    Diagnostic(
        "inferred_calls",
        Severity.WARNING,
        "{count} service {call was|calls were} matched although the client's init event is "
        "missing: its GID was deduced from the timestamps of responses.",
    ),
    Diagnostic(
        "calls_by_thread_order",
        Severity.INFO,
        "{count} service {call was|calls were} matched by the order on the service's thread: "
        "each response is assigned to the request that the thread took last. Hooks that emit "
        "dds:write_related make this exact.",
    ),
    Diagnostic(
        "requests_taken_by_several",
        Severity.WARNING,
        "{count} {time|times} a request was taken by a further service than the one whose "
        "response counts (several services with one name).",
    ),
    Diagnostic(
        "requests_without_callback",
        Severity.INFO,
        "{count} taken {request|requests} started no callback that was recorded.",
    ),
    Diagnostic(
        "empty_service_takes",
        Severity.INFO,
        "{count} {take|takes} of a request or response found nothing.",
    ),
    Diagnostic(
        "late_request_events",
        Severity.INFO,
        "{count} {request was|requests were} taken before {its|their} send event, which Fast DDS "
        "emits after the write: {its call begins|their calls begin} with the take. The "
        "middleware events show more (trace_configs/full.yaml).",
    ),
    Diagnostic(
        "goals_by_order",
        Severity.WARNING,
        "{count} action {goal was|goals were} matched to {its result|their results} by the order "
        "in which goals ended or were answered (method last end or order): several goals of one "
        "client were active, and no event carries a goal's id.",
    ),
    Diagnostic(
        "feedback_of_unknown_goals",
        Severity.WARNING,
        "{count} action feedback {message|messages} could belong to several active goals; "
        "{it is|they are} not counted for any goal.",
    ),
    Diagnostic(
        "disordered_service_checkpoints",
        Severity.WARNING,
        "{count} service {call has|calls have} checkpoints after the take of the response; those "
        "were not used.",
    ),
    Diagnostic(
        "unsynchronised_calls",
        Severity.WARNING,
        "{count} service {call|calls} went between hosts whose clocks are not synchronised: the "
        "layers of request and response also contain the offset between the clocks. Receiver "
        "time minus sender time: {detail}.",
    ),
    Diagnostic(
        "calls_before_sending",
        Severity.WARNING,
        "In {count} service {call|calls} between hosts the request or the response was received "
        "before it was sent, by the clocks of the hosts: that layer is negative.",
    ),
)
