# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a trace is called on a page or in a table."""

from __future__ import annotations

from strata.read.manifest import title_of

__all__ = ["title_of"]
