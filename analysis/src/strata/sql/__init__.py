# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""SQL over the declared tables of a trace and its raw events."""

from __future__ import annotations

from strata.sql.session import Opened, open  # noqa: A004

__all__ = ["Opened", "open"]
