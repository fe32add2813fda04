# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""CPU use in words: of rows with the columns `cpu_share` and `cpu_confidence`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from strata.schema.confidence import ESTIMATED
from strata.schema.rows import Rows
from strata.units import as_float, format_share

NOTE = (
    "CPU: of the time, as far as it is known, the part in which the thread had a CPU; "
    "~: estimated from samples"
)


def any_known(rows: Rows) -> bool:
    """Tell whether the CPU use of any row is known."""
    return bool((~np.isnan(rows["cpu_share"])).any())


def cpu_text(row: Mapping[Any, Any]) -> str:
    """Return the share of the time with a CPU: ``34 %``, estimated ``~34 %``, unknown ``-``."""
    share = as_float(row["cpu_share"])
    mark = "~" if share is not None and row["cpu_confidence"] == ESTIMATED else ""
    return f"{mark}{format_share(share)}"
