# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantiles that the user chose are those of the declared statistics, where these have them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from strata.analysis import Analysis
from strata.pipeline import analyze

DECLARED = {0.5: "p50", 0.9: "p90", 0.99: "p99", 0.999: "p999"}
TABLES = {
    "hop": ("hops", "hop_id", "latency_"),
    "hop layer": ("hop_layers", "hop_id", ""),
    "chain": ("chains", "chain_id", "latency_"),
    "chain layer": ("chain_layers", "chain_id", ""),
    "callback": ("callbacks", "callback_id", "duration_"),
}


@pytest.fixture
def chosen(sample: Callable[[str], Path]) -> Analysis:
    return analyze(sample("dds_jazzy_udp_resends"), quantiles=tuple(DECLARED))


@pytest.mark.parametrize("of", TABLES)
def test_they_are_those_of_the_statistics(chosen: Analysis, of: str) -> None:
    table, number, prefix = TABLES[of]
    found = chosen.quantiles[chosen.quantiles["of"] == of]
    wanted = []
    for row in chosen.rows(table).records():
        for fraction, name in DECLARED.items():
            value = row[f"{prefix}{name}_ns"]
            if value is not None and not np.isnan(value):
                wanted.append((row[number], row.get("hop"), row.get("layer"), fraction, value))
    columns = ["number", "hop", "layer", "quantile", "value_ns"]
    rows = found[columns].astype(object).where(found[columns].notna(), None)
    assert len(wanted) > 0
    assert sorted(map(str, rows.itertuples(index=False, name=None))) == sorted(map(str, wanted))


def test_counts_say_how_many_values_there_are(chosen: Analysis) -> None:
    found = chosen.quantiles[chosen.quantiles["of"] == "callback"]
    counts = dict(zip(found["number"], found["count"], strict=True))
    wanted = chosen.callbacks.set_index("callback_id")["duration_count"]
    assert counts == wanted[wanted > 0].to_dict()


def test_without_any_there_are_none(sample: Callable[[str], Path]) -> None:
    assert len(analyze(sample("dds_jazzy_udp_resends")).quantiles) == 0


@pytest.mark.parametrize("fraction", [-0.1, 1.1, float("nan")])
def test_a_fraction_that_is_none_is_refused(sample: Callable[[str], Path], fraction: float) -> None:
    with pytest.raises(ValueError, match="fractions of 1"):
        analyze(sample("dds_jazzy_udp_resends"), quantiles=[fraction])
