# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`analyze`: from a path to an `Analysis`. The stages of Strata, in order."""

from __future__ import annotations

from strata.pipeline.run import analyze

__all__ = ["analyze"]
