# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Findings about the recording as its manifest tells of it: they are said before all others."""

from __future__ import annotations

from strata.schema.diagnostic import Diagnostic, Severity

RECORDING = (
    Diagnostic(
        "incomplete_recording",
        Severity.LOSS,
        "The recording is incomplete: {detail}. What is not in it may have happened all the same.",
    ),
    Diagnostic(
        "stopped_early",
        Severity.LOSS,
        "The recording stopped before its command ended: {detail}. What came later is not in it.",
    ),
    Diagnostic(
        "discarded_unknown",
        Severity.LOSS,
        "LTTng did not say how many events it discarded: the recording may lack some, and nothing "
        "in it would show that.",
    ),
    Diagnostic(
        "damaged_manifest",
        Severity.LOSS,
        "{count} {manifest|manifests} cannot be read, so that nothing tells whether the recording "
        "is complete: {detail}.",
    ),
    Diagnostic(
        "recording_problems",
        Severity.WARNING,
        "The recording is complete, and had {count} {problem|problems}: {detail}.",
    ),
)
