# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Foreign results in a campaign's directory (`strata campaign import`), as rows beside ours."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

DIRECTORY = "imported"
SAMPLES = "samples.parquet"


def imported_rows(directory: Path, study: str, measure: str) -> list[pd.DataFrame]:
    """Return the imported values of a measure in a study, one frame an import.

    A frame has `value` in the measure's unit, `number`, `origin` and the columns of factors that
    the import was given.
    """
    found = []
    for path in sorted((directory / DIRECTORY).glob(f"*/{SAMPLES}")):
        rows = pd.read_parquet(path)
        chosen = rows["measure"] == measure
        if "study" in rows.columns:
            chosen &= rows["study"].eq(study)
        rows = rows[chosen].drop(columns=["study", "measure"], errors="ignore")
        if "origin" not in rows.columns:
            rows["origin"] = path.parent.name
        if len(rows):
            found.append(rows)
    return found
