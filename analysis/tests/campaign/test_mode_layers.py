# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which layer makes a slow mode slow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from strata.study.mode_answers import modes_answer
from strata.study.mode_layers import slower_by
from strata.study.report_contents import Study
from strata.study.tables.table import Column, Table

STUDY = Study("modes", "Where do the modes come from?", "relay_chain", (), ())


def messages(count: int) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Every other message is slow: by 200 us in its wake-up, and 20 us faster in its take."""
    rng = np.random.default_rng(3)
    slow = np.arange(count) % 2
    wake_up = rng.normal(50_000, 2_000, count).astype(np.int64) + 200_000 * slow
    take = np.full(count, 30_000) - 20_000 * slow
    keys = {"cell": "a", "hop": "/x: a -> b", "number": np.arange(count)}
    layers = pd.DataFrame({**keys, "wake-up": wake_up, "take": take})
    own = pd.DataFrame({**keys, "value": wake_up + take})
    return own, layers, slow


def test_the_layer_that_differs_most_is_named_with_its_share() -> None:
    own, layers, slow = messages(400)
    found = slower_by(own, slow, layers)
    assert set(found) == {1}
    assert found[1].layer == "wake-up"
    assert found[1].by_ns == pytest.approx(200_000, rel=0.01)
    assert found[1].share == pytest.approx(200 / 180, rel=0.01)


def test_outliers_of_a_mode_do_not_decide() -> None:
    own, layers, slow = messages(400)
    at = np.flatnonzero(slow)[:10]
    layers.loc[at, "take"] += 50_000_000
    own.loc[at, "value"] += 50_000_000
    assert slower_by(own, slow, layers)[1].layer == "wake-up"


def test_layers_of_other_cells_are_left_out_before_they_are_joined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own, layers, slow = messages(100)
    study = pd.concat([layers, *(layers.assign(cell=f"other {at}") for at in range(50))])
    joined: list[int] = []
    merge = pd.DataFrame.merge

    def counted(left: pd.DataFrame, right: pd.DataFrame, **how: object) -> pd.DataFrame:
        joined.append(len(right))
        return merge(left, right, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(pd.DataFrame, "merge", counted)
    assert slower_by(own, slow, study)[1].layer == "wake-up"
    assert joined == [len(layers)]


def test_messages_without_layers_have_no_reason() -> None:
    own, layers, slow = messages(100)
    assert slower_by(own, slow, None) == {}
    assert slower_by(own, np.zeros_like(slow), layers) == {}
    imported = own.assign(cell="elsewhere")
    assert slower_by(imported, slow, layers) == {}


def test_the_answer_says_where_modes_are_and_what_makes_the_slow_one_slow() -> None:
    columns = (
        Column("rate", "rate", of="rate", texts={"10.0": "10 Hz"}),
        *(Column(name, name) for name in ("modes", "mode", "share")),
        Column("p50", "median", "ns", "number"),
        *(Column(name, name) for name in ("slower_layer", "slower_share")),
    )
    rows = [
        ("10.0", 2, 1, 0.25, 80_000.0, None, None),
        ("10.0", 2, 2, 0.75, 270_000.0, "wake-up", 1.01),
        ("100.0", 1, 1, 1.0, 75_000.0, None, None),
    ]
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    table = Table("modes", "modes", columns, frame, of="hop_latency")
    assert modes_answer(STUDY, table, frame) == [
        "hop latency has several modes in 1 of 2 groups: 80.0 µs (25 %) and 270 µs (75 %) at rate "
        "10 Hz, the slow one slower in wake-up (101 % of the difference)",
    ]
    assert modes_answer(STUDY, table, frame[2:]) == []


def test_the_answer_names_at_each_rate_the_changes_with_one_mode() -> None:
    columns = (
        Column("rate", "rate", of="rate", texts={"10": "10 Hz", "100": "100 Hz", "1000": "1 kHz"}),
        Column("change", "change", of="change", texts={"events": "executor of events"}),
        *(Column(name, name) for name in ("modes", "mode", "share")),
        Column("p50", "median", "ns", "number"),
    )
    rows = [
        ("10", "none", 2, 1, 0.25, 80_000.0),
        ("10", "none", 2, 2, 0.75, 270_000.0),
        ("10", "awake", 1, 1, 1.0, 75_000.0),
        ("10", "events", 1, 1, 1.0, 75_000.0),
        # Too few values for a search.
        ("10", "few", 0, 1, 1.0, 75_000.0),
        ("100", "none", 2, 1, 0.5, 80_000.0),
        ("100", "none", 2, 2, 0.5, 270_000.0),
        ("1000", "none", 1, 1, 1.0, 80_000.0),
        ("1000", "awake", 1, 1, 1.0, 80_000.0),
    ]
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    first, *more = modes_answer(STUDY, Table("modes", "modes", columns, frame, of="latency"), frame)
    assert first.startswith("latency has several modes in 2 of 7 groups: ")
    assert more == [
        "at rate 10 Hz, latency has one mode with change awake, executor of events",
        "at rate 100 Hz, latency has one mode with no change",
    ]
