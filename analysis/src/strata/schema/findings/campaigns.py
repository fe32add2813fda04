# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Findings about a campaign's measured cells."""

from __future__ import annotations

from strata.schema.diagnostic import Diagnostic, Severity

CAMPAIGNS = (
    Diagnostic(
        "inexact_transfers",
        Severity.WARNING,
        "{count} measured {message has|messages have} layers that do not add up to {its|their} "
        "latency; this is an error of Strata, please report it.",
    ),
    Diagnostic(
        "inexact_calls",
        Severity.WARNING,
        "{count} measured {call has|calls have} layers that do not add up to {its|their} latency; "
        "this is an error of Strata, please report it.",
    ),
    Diagnostic(
        "inexact_chains",
        Severity.WARNING,
        "{count} measured {chain has|chains have} layers that do not add up to {its|their} "
        "latency; this is an error of Strata, please report it.",
    ),
    Diagnostic(
        "foreign_processes",
        Severity.WARNING,
        "{count} traced {process does|processes do} not belong to the scenario and {was|were} left "
        "out; {it|they} may have disturbed the measurement.",
    ),
    Diagnostic(
        "loss_disagreements",
        Severity.WARNING,
        "On {count} measured {hop|hops}, the loss that the node counted by sequence numbers "
        "differs from the loss in the trace; the table of losses has both.",
    ),
    Diagnostic(
        "unmeasured_cells",
        Severity.LOSS,
        "In {count} {cell|cells}, no message of the measured hops was taken after the warm-up.",
    ),
    Diagnostic(
        "unreadable_own_files",
        Severity.WARNING,
        "{count} result {file|files} of the nodes could not be read; the measures that need "
        "{it|them} are missing.",
    ),
)
