# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What `strata.compare` returns: a summary, a frame, and the comparison itself."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strata.api.text import Text

if TYPE_CHECKING:
    import pandas as pd

    from strata.comparison.comparison import Block, Comparison, Row
    from strata.comparison.sides import Side

_COLUMNS = {
    "kind": "object",
    "name": "object",
    "where": "object",
    "layer": "object",
    "count_a": "Int64",
    "count_b": "Int64",
    "p50_a_ns": "float64",
    "p50_b_ns": "float64",
    "p99_a_ns": "float64",
    "p99_b_ns": "float64",
    "shift_ns": "float64",
    "shift_low_ns": "float64",
    "shift_high_ns": "float64",
    "p": "float64",
    "mean_difference_ns": "float64",
    "verdict": "object",
}


class Compared:
    """B compared with A; `strata.compare` makes it.

    ::

        found = strata.compare("sessions/before", "sessions/after")
        found                # what `strata compare` prints
        found.differences    # a pandas DataFrame

    `comparison` holds everything, as objects (strata.comparison.comparison.Comparison).
    """

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    def summary(self, *, width: int = 80) -> Text:
        """Return what `strata compare` prints, in lines of at most `width` columns."""
        from strata.show.terminal.as_text import comparison_text

        return Text(comparison_text(self.comparison, width))

    @cached_property
    def differences(self) -> pd.DataFrame:
        """One row per chain, hop, service and callback that both sides have, and per layer of it.

        `layer` is None for the whole latency; `where` names the nodes, and of a layer its place.
        `shift_ns` is how much slower B is (Hodges and Lehmann), with its 95 % interval; null where
        a side has too few values. `p` is corrected for the number of tests (Holm).
        `mean_difference_ns` is what the row adds to the mean latency in B less that in A: of the
        layers of one row they add up to that of the whole. The other columns are null where a side
        does not have the layer. `verdict` is in words.
        """
        import pandas as pd

        rows = [record for block in self.comparison.blocks for record in _records(block)]
        return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)

    def __repr__(self) -> str:
        return str(self.summary())


def _records(block: Block) -> list[dict[str, Any]]:
    return [_record(block, row) for row in block.rows]


def _record(block: Block, row: Row) -> dict[str, Any]:
    shift = row.difference.shift if row.difference else None
    figures = {"a": row.a, "b": row.b}
    return {
        "kind": block.subject.kind,
        "name": block.subject.name,
        "where": row.place or block.subject.where,
        "layer": row.layer,
        **{f"count_{side}": one.count if one else None for side, one in figures.items()},
        **{f"p50_{side}_ns": one.p50 if one else None for side, one in figures.items()},
        **{f"p99_{side}_ns": one.p99 if one else None for side, one in figures.items()},
        "shift_ns": shift.value if shift else None,
        "shift_low_ns": shift.low if shift else None,
        "shift_high_ns": shift.high if shift else None,
        "p": row.p,
        "mean_difference_ns": row.mean_ns,
        "verdict": row.verdict.value,
    }


def side_of(given: Any, **options: Any) -> Side:
    """Return a side of a comparison: an analysis, or the runs at a path."""
    from strata.analysis import Analysis
    from strata.comparison.runs import measure_run
    from strata.comparison.sides import Side
    from strata.pipeline import analyze
    from strata.read.manifest import title_of
    from strata.read.sessions import sessions_in, warm_up_of

    if isinstance(given, Analysis):
        path = Path(given.trace.path)
        return Side(title_of(path), (measure_run(given, title_of(path), warm_up_of(path)),))
    runs = [
        measure_run(analyze(session, **options), title_of(session), warm_up_of(session))
        for session in sessions_in(Path(given))
    ]
    return Side(title_of(Path(given)), tuple(runs))
