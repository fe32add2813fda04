# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From a trace directory to declared event tables."""

from __future__ import annotations

from strata.read.losses import Loss
from strata.read.trace import Trace, open_trace

__all__ = ["Loss", "Trace", "open_trace"]
