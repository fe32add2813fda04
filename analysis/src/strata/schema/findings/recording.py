# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Findings about the recording, from its manifest: they are listed before all others."""

from __future__ import annotations

from strata.schema.diagnostic import Diagnostic, Severity

RECORDING = (
    Diagnostic(
        "incomplete_recording",
        Severity.LOSS,
        "The recording is incomplete: {detail}. Something that is missing from it may still have "
        "happened.",
    ),
    Diagnostic(
        "stopped_early",
        Severity.LOSS,
        "The recording stopped early: {detail}. Nothing after that is in it.",
    ),
    Diagnostic(
        "unanalyzed_chunks",
        Severity.LOSS,
        "{count} {part|parts} of the recording {was|were} not analyzed: {detail}.",
    ),
    Diagnostic(
        "results_incomplete",
        Severity.WARNING,
        "The results go until {detail}: the recording goes on, or its analysis was stopped "
        "(`strata results` continues it).",
    ),
    Diagnostic(
        "discarded_unknown",
        Severity.LOSS,
        "LTTng did not report how many events it discarded: some may be missing, and nothing in "
        "the recording would show that.",
    ),
    Diagnostic(
        "damaged_manifest",
        Severity.LOSS,
        "{count} {manifest|manifests} cannot be read, so it is not known whether the recording "
        "is complete: {detail}.",
    ),
    Diagnostic(
        "recording_problems",
        Severity.WARNING,
        "The recording is complete, but had {count} {problem|problems}: {detail}.",
    ),
)
