# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of findings, by what they are about."""

from __future__ import annotations

from strata.schema.diagnostic import Diagnostic
from strata.schema.findings.campaigns import CAMPAIGNS
from strata.schema.findings.driver import DRIVER
from strata.schema.findings.entities import ENTITIES
from strata.schema.findings.kernel import KERNEL
from strata.schema.findings.messages import MESSAGES
from strata.schema.findings.middleware import MIDDLEWARE
from strata.schema.findings.recording import RECORDING
from strata.schema.findings.services import SERVICES
from strata.schema.findings.trace import TRACE

FINDINGS: tuple[Diagnostic, ...] = (
    *RECORDING,
    *TRACE,
    *MESSAGES,
    *MIDDLEWARE,
    *DRIVER,
    *ENTITIES,
    *SERVICES,
    *KERNEL,
    *CAMPAIGNS,
)
