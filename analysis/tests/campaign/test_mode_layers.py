# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which layer makes a slow mode slow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from strata.study.campaign_results import Factor
from strata.study.mode_answers import modes_answer
from strata.study.mode_layers import slower_by
from strata.study.mode_origins import mostly_of
from strata.study.report_contents import Study
from strata.study.tables.table import Column, Table

FACTORS = (
    Factor("rate", ("10", "100", "1000"), "Hz", (10.0, 100.0, 1000.0)),
    Factor("change", ("none", "awake", "events", "few")),
)
STUDY = Study("modes", "Where do the modes come from?", "relay_chain", FACTORS, ())


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
        Column("rate", "rate", of="rate"),
        *(Column(name, name) for name in ("modes", "mode", "share")),
        Column("p50", "median", "ns", "number"),
        *(Column(name, name) for name in ("slower_layer", "slower_share")),
    )
    rows = [
        ("10", 2, 1, 0.25, 80_000.0, None, None),
        ("10", 2, 2, 0.75, 270_000.0, "wake-up", 1.01),
        ("100", 1, 1, 1.0, 75_000.0, None, None),
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
        Column("rate", "rate", of="rate"),
        Column("change", "change", of="change"),
        Column("origin", "origin", of="origin"),
        *(Column(name, name) for name in ("modes", "mode", "share")),
        Column("p50", "median", "ns", "number"),
    )
    rows = [
        ("10", "none", "here", 2, 1, 0.25, 80_000.0),
        ("10", "none", "here", 2, 2, 0.75, 270_000.0),
        ("10", "awake", "here", 1, 1, 1.0, 75_000.0),
        ("10", "events", "here", 1, 1, 1.0, 75_000.0),
        # Too few values for a search.
        ("10", "few", "here", 0, 1, 1.0, 75_000.0),
        ("100", "none", "here", 2, 1, 0.5, 80_000.0),
        ("100", "none", "here", 2, 2, 0.5, 270_000.0),
        ("1000", "none", "here", 1, 1, 1.0, 80_000.0),
        ("1000", "awake", "here", 1, 1, 1.0, 80_000.0),
    ]
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    first, *more = modes_answer(STUDY, Table("modes", "modes", columns, frame, of="latency"), frame)
    assert first.startswith("latency has several modes in 2 of 7 groups: ")
    assert more == [
        "at rate 10 Hz, latency has one mode with change awake, events",
        "at rate 100 Hz, latency has one mode with no change",
    ]


def test_runs_that_differ_are_not_said_to_be_modes() -> None:
    columns = (
        Column("rate", "rate", of="rate"),
        Column("change", "change", of="change"),
        *(Column(name, name) for name in ("modes", "mode", "share")),
        Column("p50", "median", "ns", "number"),
        Column("mostly", "mostly of"),
    )
    rows = [
        ("10", "none", 2, 1, 0.25, 80_000.0, None),
        ("10", "none", 2, 2, 0.75, 270_000.0, None),
        ("10", "awake", 2, 1, 0.6, 75_000.0, None),
        ("10", "awake", 2, 2, 0.4, 275_000.0, "run 2"),
        ("10", "events", 1, 1, 1.0, 75_000.0, None),
        ("100", "none", 2, 1, 0.6, 75_000.0, "2 of 4 runs"),
        ("100", "none", 2, 2, 0.4, 275_000.0, "2 of 4 runs"),
        ("100", "awake", 1, 1, 1.0, 75_000.0, None),
    ]
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    table = Table("modes", "modes", columns, frame, of="latency")
    assert modes_answer(STUDY, table, frame) == [
        "latency has several modes in 1 of 5 groups: 80.0 µs (25 %) and 270 µs (75 %) at rate "
        "10 Hz, change none",
        "at rate 10 Hz, latency has one mode with change events",
        "latency differs between runs or hops in 2 of 5 groups, which only looks like several "
        "modes where these are put together: 75.0 µs (60 %) and 275 µs (40 %, mostly of run 2) at "
        "rate 10 Hz, change awake; 75.0 µs (60 %, mostly of 2 of 4 runs) and 275 µs (40 %, mostly "
        "of 2 of 4 runs) at rate 100 Hz, change none",
    ]
    (only,) = modes_answer(STUDY, table, frame.iloc[5:])
    assert only.startswith("latency differs between runs or hops in 1 of 2 groups")


def pooled(*shares: float) -> tuple[pd.DataFrame, np.ndarray]:
    """Runs of 100 messages each, of which so many are in the mode."""
    runs = np.repeat(np.arange(len(shares)), 100)
    inside = np.concatenate([np.arange(100) < round(100 * share) for share in shares])
    return pd.DataFrame({"cell": [f"a/{run}" for run in runs], "repetition": runs + 1}), inside


@pytest.mark.parametrize(
    ("shares", "name"),
    [
        ((0.0, 1.0), "run 2"),
        ((0.05, 0.9, 0.0), "run 2"),
        # Each run has both modes.
        ((0.5, 0.4, 0.6), None),
        # Two of three runs are more than half: the other mode is the one that is of a run.
        ((1.0, 0.0, 1.0), None),
        ((1.0, 0.0, 1.0, 0.0), "2 of 4 runs"),
        # A few values may be of one run by chance.
        ((0.0, 0.15, 0.0), None),
        ((0.0, 0.0), None),
        ((1.0,), None),
    ],
)
def test_a_mode_that_is_mostly_of_some_runs_says_so(
    shares: tuple[float, ...], name: str | None
) -> None:
    own, inside = pooled(*shares)
    assert mostly_of(own, inside) == name
    # The same of hops, of one run.
    hops = own.assign(hop=own["cell"], cell="a", repetition=1)
    of_hops = name and name.replace("run 2", "hop a/1").replace("runs", "hops")
    assert mostly_of(hops, inside) == of_hops
    # Cells of several levels have the same repetition.
    levels = own.assign(repetition=1)
    assert mostly_of(levels, inside) == (name and name.replace("run 2", "run a/1"))


def test_a_mode_that_most_hops_have_by_chance_is_of_none_of_them() -> None:
    random = np.random.default_rng(4)
    own = pd.DataFrame({"cell": "a", "repetition": 1, "hop": np.repeat(np.arange(21), 30)})
    for share in (0.05, 0.2, 0.5):
        assert mostly_of(own, random.random(len(own)) < share) is None
