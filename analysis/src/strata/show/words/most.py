# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of a table in the order in which they are shown."""

from __future__ import annotations

from typing import Any

import numpy as np

from strata.schema.rows import Rows


def most_first(rows: Rows, column: str) -> list[dict[str, Any]]:
    """Return the rows with the greatest number in a column first, of equals in their order."""
    return list(rows.take(np.argsort(-rows[column], kind="stable")).records())
