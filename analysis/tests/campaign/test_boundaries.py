# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Boundaries of each series by its own data rates, and what the source did not reach.

Every cell has a session of 100 Hz. Of the rates that cells ask for, 10 and 100 Hz were reached, and
200 Hz were not: the shortfall is 50 %.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from measured_campaign import make_campaign

from strata.campaign.model import Figure
from strata.study.campaign_results import Results
from strata.study.long_frames import long_frame
from strata.study.report_answers import SHORT_PERCENT
from strata.study.source_shortfall import NOT_REACHED, mean_shortfalls
from strata.study.tables import Table, table_of
from strata.study.tables.data_rates import data_rates
from strata.study.tables.side_by_side import NO_CLEAR_WINNER
from strata.units import format_ns

LARGE = 100
"""How many times as large the messages of the larger payload are."""

RATES = """\
question: Up to which rate?
studies:
  rates:
    question: Up to which rate?
    scenario: relay_chain
    set: {relays: 1}
    duration: 60
    warm_up: 5
    nominal_hz: rate
    measured: {topic: /chain_*}
    factors:
      reliability: {set: reliability, levels: [reliable, best_effort]}
      payload: {set: payload, unit: B, levels: [1024, 102400]}
      rate: {set: rate, unit: Hz, levels: [200.0, 10.0, 100.0]}
"""


@pytest.fixture(scope="module")
def results(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Results:
    made = make_campaign(tmp_path_factory.mktemp("rates"), RATES, {"rates/": sample("cell_relay")})
    for one in made.study("rates").finished:
        if one.cell.levels["payload"] == "102400":
            place = one.directory / "measured" / "hops.parquet"
            hops = pd.read_parquet(place)
            hops["payload_bytes"] *= LARGE
            hops.to_parquet(place, index=False)
    return made


def table(results: Results, kind: str, **asked: object) -> Table:
    return table_of(results, "rates", Figure.model_validate({"kind": kind, **asked}))


def payload_mb(results: Results) -> float:
    cell = next(one for one in results.study("rates").finished if "+1024+" in one.id)
    return float(results.measured(cell).read("hops")["payload_bytes"].max()) / 1e6


def test_each_series_has_its_own_data_rates(results: Results) -> None:
    figure = Figure(kind="boundaries", of="loss", over="rate", by="reliability", panels="payload")
    frame = table_of(results, "rates", figure).frame
    assert len(frame) == 2 * 2 * 3
    moderate = frame[frame["class"] == "moderate"]
    assert moderate["up_to"].tolist() == ["100.0"] * 4
    small = 100 * payload_mb(results)
    for row in moderate.to_dict("records"):
        times = LARGE if row["payload"] == "102400" else 1
        assert row["up_to_rate"] == pytest.approx(small * times)
    rates = data_rates(results, "rates", "rate", ["reliability", "payload"], figure)
    # 100 Hz are no one data rate.
    assert rates.every == {}
    assert list(rates.of({"reliability": "reliable", "payload": "1024"})) == [
        "10.0",
        "100.0",
        "200.0",
    ]


def test_what_all_series_share_has_one_data_rate(results: Results) -> None:
    small = {"payload": "1024"}
    figure = Figure(kind="boundaries", of="loss", over="rate", by="reliability", where=small)
    rates = data_rates(results, "rates", "rate", ["reliability"], figure)
    assert list(rates.every) == ["10.0", "100.0", "200.0"]
    # A series without a value of its own has that of the others.
    assert rates.of({"reliability": "another"}) == rates.every


def test_a_level_that_the_source_did_not_reach_ends_the_boundary(results: Results) -> None:
    found = mean_shortfalls(results, "rates", ["rate"])
    assert found["200.0",] == pytest.approx(50.0, abs=5.0)
    assert found["100.0",] < SHORT_PERCENT
    made = table(results, "boundaries", of="loss", over="rate", by="reliability", panels="payload")
    frame = made.frame
    assert set(frame["not_reached"]) == {"200 Hz"}
    assert frame["next"].isna().all()
    # Nothing was lost, and still it is not reliable at 200 Hz.
    assert set(frame["seen_up_to"]) == {"100.0"}
    assert any("the source published over 5 % less often" in note for note in made.notes)


def test_findings_say_what_the_source_did_not_reach(results: Results) -> None:
    small = {"payload": "1024"}
    made = table(results, "findings", over="rate", by="reliability", where=small).frame
    by_about = {about: own["text"].tolist() for about, own in made.groupby("about")}
    assert len(by_about["not reached"]) == 2
    for text in by_about["not reached"]:
        assert text.startswith(f"{NOT_REACHED}, which published over 5 % less often")
        assert text.endswith(" less")
    assert all("200 Hz" not in text for text in by_about["classes"])
    reliable = [text for text in by_about["reliable up to"] if text.startswith("moderate")]
    assert all(f"(100 Hz); {NOT_REACHED}: 200 Hz (" in text for text in reliable)
    latency = long_frame(results, "rates", "latency", where=small)
    own = latency[(latency["reliability"] == "reliable") & (latency["rate"] == "100.0")]["value"]
    told = f"at 100 Hz: loss 0 %, mean latency {format_ns(own.mean())}, largest "
    assert reliable[0].endswith(f"; {told}{format_ns(own.max())}")
    winners = made[made["about"] == "winner"].set_index("subject")["text"]
    (at_200,) = [text for subject, text in winners.items() if subject.startswith("200 Hz")]
    assert at_200.startswith(f"none, {NOT_REACHED} with any: reliable: loss 0 %")
    assert "shortfall " in at_200
    (recommended,) = by_about["recommended"]
    assert recommended == (
        f"none: {NO_CLEAR_WINNER} at any of 2 rates; {NOT_REACHED} with any: 200 Hz"
    )


def test_nobody_wins_or_lost_least_where_the_rate_was_not_reached(results: Results) -> None:
    side = table(results, "side_by_side", rows=["payload", "rate"], over="reliability").frame
    at_200 = side["rate"] == "200.0"
    assert set(side.loc[at_200, "winner"]) == {NOT_REACHED}
    assert set(side.loc[~at_200, "winner"]) == {NO_CLEAR_WINNER}
    rows = ["payload", "rate", "reliability"]
    loss = table(results, "loss", rows=rows, over="reliability", classes=True).frame
    at_200 = loss["rate"] == "200.0"
    assert loss.loc[at_200, "lost_least"].isna().all()
    assert set(loss.loc[~at_200, "lost_least"]) == {"tie"}
