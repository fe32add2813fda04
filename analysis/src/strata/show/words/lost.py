# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What became of the messages of a hop that were not received, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from strata.schema.fates import FATES, IN_FLIGHT, LOST
from strata.units import format_ns

_TEXTS = {fate.cause: fate.text for fate in FATES}


def loss_sentences(losses: Iterable[Mapping[Any, Any]], published: int, begin_ns: int) -> list[str]:
    """Return a sentence for each row of a hop's `hop_losses`; what was in flight is no loss.

    `begin_ns` is that of the trace, from which times are told.
    """
    return [_sentence(row, published, begin_ns) for row in losses if row["outcome"] != IN_FLIGHT]


def _sentence(row: Mapping[Any, Any], published: int, begin_ns: int) -> str:
    outcome = "lost" if row["outcome"] == LOST else "not known"
    text = f"{row['count']:,} of {published:,} {outcome}: {_TEXTS[row['cause']]}"
    if row["since_ns"] is not None:
        text += f" after {_at(row['since_ns'], begin_ns)}"
    first, last = (_at(row[name], begin_ns) for name in ("begin_ns", "end_ns"))
    return f"{text} (published at {first})" if first == last else f"{text} ({first} to {last})"


def _at(ns: int, begin_ns: int) -> str:
    return f"+{format_ns(int(ns) - begin_ns)}"
