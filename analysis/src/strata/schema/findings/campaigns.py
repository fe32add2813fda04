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
        "inexact_chains",
        Severity.WARNING,
        "{count} measured {chain has|chains have} layers that do not add up to {its|their} "
        "latency; this is an error of Strata, please report it.",
    ),
    Diagnostic(
        "foreign_processes",
        Severity.WARNING,
        "{count} traced {process was|processes were} none of the scenario's, and left out; "
        "{it|they} may have disturbed it.",
    ),
    Diagnostic(
        "loss_disagreements",
        Severity.WARNING,
        "{count} measured {hop|hops}: the loss by the node's sequence numbers is not that of the "
        "trace's matches; both are in the table of losses.",
    ),
    Diagnostic(
        "unmeasured_cells",
        Severity.LOSS,
        "{count} {cell|cells}: no message of the measured hops was taken.",
    ),
    Diagnostic(
        "unreadable_own_files",
        Severity.WARNING,
        "{count} {file|files} of the nodes' own results could not be read; the measures that are "
        "made of them are missing.",
    ),
)
