# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether an executor is saturated: what is asked of it, and the verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measured_campaign import make_campaign

from strata.campaign.model import Figure
from strata.study.campaign_results import Results
from strata.study.cell_executors import union_ns
from strata.study.cell_tables import CellTables, HopSelection, measure
from strata.study.executor_saturation import Growth, Saturation, growth, saturations
from strata.study.gather_report import gather
from strata.study.long_frames import long_frame
from strata.study.saturation_answers import deciding
from strata.study.tables import table_of
from strata.study.tables.saturation import verdict_words

WORK_MS = 4.0
WORKING = ["relay_0", "relay_1", "listener_0_0", "listener_1_0", "listener_2_0"]
WORK = """\
question: How much work?
studies:
  work:
    question: How much work?
    scenario: relay_work
    set: {relays: 2, fan_out: 2, losses: count}
    duration: 100
    warm_up: 5
    nominal_hz: rate
    chain: true
    measured: {topic: '/chain_[0-9]*'}
    factors:
      rate: {set: rate, unit: Hz, levels: [10.0, 100.0]}
    figures:
      - {kind: saturation, rows: rate}
"""
QUIET = Saturation(
    nodes="/a",
    threads=1,
    parallel=1,
    work_ns=1e6,
    demanded=0.1,
    busiest_node="/a",
    busiest=0.1,
    executing=0.1,
    busy=0.15,
    received_hz=100.0,
    asked_hz=100.0,
    loss=0.0,
    growth=None,
    largest_hz=1000.0,
)


@pytest.fixture(scope="module")
def results(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A cell of 100 Hz that is saturated, and one of which nothing ran."""
    place = tmp_path_factory.mktemp("work")
    return make_campaign(place, WORK, {"work/100.0": sample("cell_work")})


def test_the_work_of_callbacks_is_what_the_nodes_stamped(own_sample: Callable[[str], Path]) -> None:
    session = own_sample("cell_work")
    work = measure(session, HopSelection("/chain_[0-9]*")).read("work")
    work = work[work["is_traffic"]].set_index("node")
    assert set(work.index) == {*(f"/{name}" for name in WORKING), "/sink"}
    for name in WORKING:
        rows = pd.read_csv(session / "scenario" / "results" / f"{name}.csv")
        begun, ended = (
            rows[rows["event"] == event]["t_mono_ns"].to_numpy(np.int64)
            for event in ("cb_start", "cb_end")
        )
        row = work.loc[f"/{name}"]
        assert row["count"] == len(begun)
        own = float((ended - begun).sum())
        # Between the two stamps of each callback lies its work; outside of them next to nothing.
        assert own >= len(begun) * WORK_MS * 1e6
        assert own < row["callback_ns"] < own + len(begun) * 2e6


def test_an_executor_that_is_asked_too_much_is_saturated(results: Results) -> None:
    table = table_of(results, "work", Figure(kind="saturation", rows="rate"))
    row = table.frame.iloc[0]
    assert (row["rate"], row["verdict"], row["threads"]) == ("100.0", "saturated", 1)
    # Five callbacks of 4 ms for each message, and no more than what they took.
    assert row["work"] >= 5 * WORK_MS * 1e6
    assert row["demanded"] == pytest.approx(row["work"] * 100 / 1e9, rel=0.01)
    assert row["largest"] == pytest.approx(1e9 / row["work"])
    assert row["largest"] < 50
    assert row["busy"] > 0.95
    assert row["received"] < 50
    assert row["loss"] > 0.1
    assert "Missing: rate 10 Hz" in " ".join(table.notes)


def test_each_executor_is_judged_once_for_table_and_answer(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def counted(measured: CellTables, latency: pd.DataFrame, *more: Any) -> list[Saturation]:
        seen.append(len(latency))
        return saturations(measured, latency, *more)

    # The package has a function of that name, too.
    module = import_module("strata.study.tables.saturation")
    monkeypatch.setattr(module, "saturations", counted)
    part = gather(results.directory.path).studies[0]
    assert any("saturated" in text for text in part.answer)
    (cell,) = results.study("work").finished
    frame = long_frame(results, "work", "latency", imports=False)
    assert seen == [int((frame["cell"] == cell.id).sum())]


def test_the_report_says_that_it_is(results: Results) -> None:
    part = gather(results.directory.path).studies[0]
    assert "Saturation: of 1 cell 1 is saturated and 0 near it" in part.answer


def test_the_answer_names_what_every_rate_saturates(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    text = WORK.replace("[10.0, 100.0]", "[10.0, 100.0, 200.0]").replace(
        "    figures:", "      executor: {set: executor, levels: [single, multi]}\n    figures:"
    )
    much, little = sample("cell_work"), sample("cell_relay")
    sessions = {"work/10.0+single": little, "work/100.0": much, "work/200.0+multi": much}
    made = make_campaign(tmp_path, text, sessions)
    first, always, *mixed = gather(made.directory.path).studies[0].answer[-3:]
    assert first == "Saturation: of 4 cells 3 are saturated and 0 near it"
    assert always == "Saturated at every rate that was measured (100 Hz, 200 Hz): executor multi"
    (single,) = mixed
    assert single.startswith("a chain of 2 relays with executor single saturates one thread from ")
    assert "Measured: not saturated at 10 Hz, saturated at 100 Hz (there its threads" in single


def test_a_cell_is_saturated_when_one_of_its_executors_is() -> None:
    full = replace(QUIET, busy=0.99)
    behind = replace(QUIET, nodes="/b", busy=0.96, received_hz=50.0)
    assert [full.verdict, behind.verdict] == ["near", "saturated"]
    assert deciding([full, behind]) is behind
    assert deciding([QUIET, full]) is full
    assert deciding([]) is None


def test_a_message_that_asks_for_little_does_not_saturate(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    text = WORK.replace("relay_work", "relay_chain").replace("fan_out: 2", "fan_out: 1")
    relay = make_campaign(tmp_path, text, {"work/100.0": sample("cell_relay")})
    frame = table_of(relay, "work", Figure(kind="saturation", rows="rate")).frame
    assert frame["nodes"].tolist() == ["/relay_0", "/sink"]
    assert set(frame["verdict"]) == {"not"}
    assert (frame["largest"] > 300).all()


def test_the_verdict_follows_the_rule() -> None:
    rising = Growth(1e6, 5e5, 2e6, rises=True)
    cases = [
        (QUIET, "not"),
        (replace(QUIET, busy=0.85), "near"),
        (replace(QUIET, busy=None, executing=0.85), "near"),
        (replace(QUIET, demanded=1.2), "near"),
        (replace(QUIET, demanded=1.2, received_hz=80.0), "saturated"),
        (replace(QUIET, demanded=1.2, received_hz=None), "saturated"),
        (replace(QUIET, busy=0.99, growth=rising), "saturated"),
        (replace(QUIET, growth=rising), "not"),
        (replace(QUIET, demanded=1.2, parallel=2, busiest=0.6), "not"),
        (replace(QUIET, busiest=1.1, parallel=2, received_hz=50.0), "saturated"),
    ]
    assert [one.verdict for one, _ in cases] == [expected for _, expected in cases]
    assert verdict_words(["near", "saturated", "near"]) == "saturated in 1, near in 2"
    assert verdict_words(["not", "not"]) == "not"


def latencies(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> pd.DataFrame:
    return pd.DataFrame({"value": values, "t_ns": np.arange(len(values)) * 10_000_000})


def test_a_latency_rises_when_it_grows_by_more_than_chance_and_by_much() -> None:
    noise = np.random.default_rng(1).normal(0, 100_000, 300)
    steady = growth(latencies(2e6 + noise))
    slow = growth(latencies(2e6 + noise + np.linspace(0, 400_000, 300)))
    rising = growth(latencies(2e6 + noise + np.linspace(0, 50e6, 300)))
    assert steady and slow and rising
    assert not steady.rises
    # Found, and less than a millisecond.
    assert slow.low > 0
    assert not slow.rises
    assert rising.rises
    assert rising.slope == pytest.approx(50e6 / 2.99, rel=0.05)
    assert growth(latencies(noise[:5])) is None


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=20))
def test_the_time_that_intervals_cover_is_counted_once(pairs: list[tuple[int, int]]) -> None:
    spans = sorted((begin, begin + length) for begin, length in pairs)
    covered = {at for begin, end in spans for at in range(begin, end)}
    start = np.array([begin for begin, _ in spans], np.int64)
    until = np.array([end for _, end in spans], np.int64)
    assert union_ns(start, until) == len(covered)
