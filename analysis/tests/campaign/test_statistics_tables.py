# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of statistics, intervals, pairs, variances and modes of measured cells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from measured_campaign import RELAY, made, make_campaign

from strata.campaign.model import Figure
from strata.cli.campaign_import import command as import_command
from strata.study.campaign_results import Results, open_results
from strata.study.gather_report import gather
from strata.study.long_frames import long_frame
from strata.study.tables.anova import anova

WARM_UP = 5


@pytest.fixture(scope="module")
def lossy(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Results:
    """One cell of a relay, of which the last hop lost the messages 20, 21 and 40."""
    place = tmp_path_factory.mktemp("lossy")
    results = make_campaign(place, RELAY, {"chains/100.0+single": sample("cell_relay")})
    measured = results.study("chains").finished[0].directory / "measured"
    gone = [20, 21, 40]
    for table, topic in (("transfers", "/chain_1"), ("chains", None)):
        rows = pd.read_parquet(measured / f"{table}.parquet")
        missed = rows["number"].isin(gone) & ((rows["topic"] == topic) if topic else True)
        rows[~missed].to_parquet(measured / f"{table}.parquet", index=False)
    hops = pd.read_parquet(measured / "hops.parquet")
    hops.loc[hops["topic"] == "/chain_1", "received"] -= len(gone)
    hops.loc[hops["topic"] == "/chain_1", "lost"] += len(gone)
    hops.to_parquet(measured / "hops.parquet", index=False)
    return results


def test_a_summary_has_the_statistics_of_each_group(lidar: Results) -> None:
    table = made(lidar, "test_cases", "summary", of="stamp_latency", rows="test_case")
    (row,) = table.frame.to_dict("records")
    values = long_frame(lidar, "test_cases", "stamp_latency")["value"].to_numpy()
    assert row["test_case"] == "tc2"
    assert (row["count"], row["left_out"], row["lost"]) == (23, 5, 0)
    assert np.isclose(row["p50"], np.median(values))
    assert np.isclose(row["mad"], np.median(np.abs(values - np.median(values))))
    assert np.isclose(row["std"], values.std(ddof=1))
    assert (row["min"], row["max"]) == (values.min(), values.max())
    assert np.allclose([row["p25"], row["p75"]], np.quantile(values, [0.25, 0.75]))
    units = {column.name: column.unit for column in table.columns}
    assert units["p50"] == "ns"
    assert "Missing: test case tc3 (not run yet)." in table.notes


def test_intervals_enclose_the_estimate_at_each_confidence(relay: Results) -> None:
    table = made(
        relay, "qos", "intervals", of="latency", rows="reliability", confidence=[0.8, 0.98]
    )
    frame = table.frame
    assert len(frame) == 2 * 4 * 2
    mean = frame[(frame["statistic"] == "mean") & (frame["reliability"] == "reliable")]
    narrow, wide = mean.to_dict("records")
    assert wide["low"] < narrow["low"] < narrow["estimate"] < narrow["high"] < wide["high"]
    # Both runs of a level are one session here.
    assert np.allclose(mean["run_low"], mean["estimate"])
    assert np.allclose(mean["run_high"], mean["estimate"])


def test_equal_cells_have_no_shift_and_no_variance_between(relay: Results) -> None:
    pairs = made(relay, "qos", "pairs", of="latency", over="reliability", within="durability")
    assert len(pairs.frame) == 2
    assert np.allclose(pairs.frame["shift"], 0)
    assert (pairs.frame["p"] > 0.9).all()
    assert np.allclose(pairs.frame["mean_difference"], 0)
    anova = made(relay, "qos", "anova", of="latency", factors=["reliability", "durability"])
    terms = anova.frame.set_index("term")
    assert terms.index.tolist() == [
        "reliability",
        "durability",
        "reliability:durability",
        "Residual",
    ]
    assert (terms["eta_sq"].iloc[:3] < 1e-9).all()
    assert any("Variances do not show a difference" in note for note in anova.notes)


def with_means(results: Results, means: dict[str, list[float]]) -> Results:
    """Give the cells of qos latencies about these means in ms, by level and repetition."""
    for outcome in results.study("qos").finished:
        mean = means[outcome.cell.levels["reliability"]][outcome.cell.repetition - 1]
        path = outcome.directory / "measured" / "transfers.parquet"
        rows = pd.read_parquet(path)
        noise = np.random.default_rng(outcome.cell.order).normal(0, 0.1, len(rows))
        rows["latency_ns"] = np.rint((mean + noise) * 1e6).astype(np.int64)
        rows.to_parquet(path, index=False)
    return results


def test_runs_that_differ_are_no_levels_that_differ(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    text = RELAY.replace("duration: 60", "duration: 60\n    repetitions: 2", 1)
    made_of = make_campaign(tmp_path, text, {"qos/": sample("cell_relay")})
    results = with_means(made_of, {"reliable": [5.0, 7.0], "best_effort": [5.5, 7.5]})
    factors = ["reliability", "durability"]
    table = made(results, "qos", "anova", of="latency", factors=factors)
    row = table.frame.set_index("term").loc["reliability"]
    # Of 880 messages the half millisecond is certain; of 8 runs it is less than they differ by.
    assert row["p"] < 1e-10
    assert table.frame["runs_df"].tolist() == [1, 1, 1, 4]
    assert row["runs_F"] == pytest.approx(0.25, rel=0.1)
    assert row["runs_p"] > 0.3
    assert any(note.startswith("Of runs: 8 cells") for note in table.notes)
    summary = made(results, "qos", "summary", of="latency", rows="reliability")
    assert "Each row combines all repetitions of its cells." in summary.notes
    assert "Each row combines all levels of durability of its cells." in summary.notes
    where = {"reliability": "reliable"}
    intervals = made(results, "qos", "intervals", of="latency", where=where)
    mean = intervals.frame[intervals.frame["statistic"] == "mean"].iloc[0]
    assert (mean["run_low"], mean["run_high"]) == pytest.approx((5e6, 7e6), abs=5e4)
    pair = made(results, "qos", "pairs", of="latency", over="reliability", within="durability")
    first = pair.frame.iloc[0]
    assert (first["a"], first["b"], first["runs"]) == ("reliable", "best_effort", "2 and 2")
    assert first["shift"] == pytest.approx(5e5, abs=5e4)
    assert first["mean_difference"] == pytest.approx(5e5, abs=5e4)
    assert first["effect"] == pytest.approx(0.5, abs=0.05)
    assert first["relative"] == pytest.approx(0.5 / 6, rel=0.2)
    assert first["low"] < first["shift"] < first["high"]
    assert first["mean_low"] < first["mean_difference"] < first["mean_high"]
    losses = made(results, "qos", "loss", rows=["reliability", "repetition"])
    assert losses.frame["repetition"].tolist() == ["1", "2"] * 2
    assert (losses.frame["published"] == 2 * 120).all()


def test_modes_of_runs_that_differ_name_the_run_and_are_no_modes(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    text = RELAY.replace("duration: 60", "duration: 60\n    repetitions: 3", 1)
    text = text.replace("[reliable, best_effort]}", "[reliable]}").replace(
        ", transient_local]", "]"
    )
    text = text.replace(
        "\n  chains:", "\n    figures:\n      - {kind: modes, of: latency}\n  chains:", 1
    )
    made_of = make_campaign(tmp_path, text, {"qos/": sample("cell_relay")})
    results = with_means(made_of, {"reliable": [5.0, 9.0, 5.0]})
    table = made(results, "qos", "modes", of="latency")
    fast, slow = table.frame.to_dict("records")
    assert (fast["share"], slow["share"]) == pytest.approx((2 / 3, 1 / 3))
    assert pd.isna(fast["mostly"])
    assert slow["mostly"] == "run 2"
    assert any(note.startswith("Mostly of: ") for note in table.notes)
    said = " ".join(gather(results.directory.path).studies[0].answer)
    assert "latency differs between runs or hops, which only looks like several modes" in said
    assert " ms (33 %, mostly of run 2)" in said
    assert "has several modes" not in said


def test_one_run_a_group_has_no_analysis_of_runs(relay: Results) -> None:
    factors = ["reliability", "durability"]
    table = made(relay, "qos", "anova", of="latency", factors=factors)
    assert "runs_p" not in table.frame
    assert any(note.startswith("With one run per group") for note in table.notes)


def test_an_import_with_values_of_messages_has_an_analysis_of_its_own(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    results = make_campaign(tmp_path, RELAY, {"qos/": sample("cell_relay")})
    path, random = results.directory.path, np.random.default_rng(1)
    words = [str(path)]
    places = []
    for number, reliability in enumerate(("reliable", "best_effort")):
        for durability in ("volatile", "transient_local"):
            file = tmp_path / f"{reliability}_{durability}.txt"
            values = random.normal(1e-3 + number * 5e-4, 1e-4, 50)
            file.write_text("".join(f"{value:.9f}\n" for value in values))
            words.append(str(file))
            places += ["--as", f"qos:reliability={reliability},durability={durability}"]
    done = CliRunner().invoke(import_command, [*words, *places, "--name", "theirs"])
    assert done.exit_code == 0, done.output
    factors = ["reliability", "durability"]
    table = made(open_results(path), "qos", "anova", of="latency", factors=factors)
    assert table.frame.groupby("origin", sort=False).size().to_dict() == {"here": 4, "theirs": 4}
    terms = table.frame.set_index(["origin", "term"])
    # Two levels of 100 values each, half a millisecond apart, with a deviation of a tenth.
    assert terms.loc[("theirs", "reliability"), "p"] < 1e-30
    assert terms.loc[("theirs", "durability"), "p"] > 1e-3
    assert terms.loc[("theirs", "Residual"), "df"] == 196
    apart = terms.loc[("theirs", "reliability"), "sum_sq"]
    assert apart == pytest.approx(200 * (2.5e5) ** 2, rel=0.2)
    # What is of this machine alone stays as it was.
    asked = Figure(kind="anova", of="latency", factors=factors)
    alone = anova(open_results(path), "qos", asked, imports=False).frame
    here = table.frame[table.frame["origin"] == "here"].drop(columns="origin")
    pd.testing.assert_frame_equal(here[list(alone)], alone, check_dtype=False)
    assert all(note.startswith(("here: ", "theirs: ")) for note in table.notes if "Welch" in note)


def test_a_row_of_one_hop_has_its_own_losses(lossy: Results) -> None:
    rows = made(lossy, "chains", "summary", of="hop_latency", rows="hop").frame
    assert rows["hop"].tolist() == ["/chain_0: /source -> /relay_0", "/chain_1: /relay_0 -> /sink"]
    assert rows["lost"].tolist() == [0, 3]
    assert rows["left_out"].tolist() == [WARM_UP] * 2
    chain = made(lossy, "chains", "summary", of="latency", rows="hop").frame
    assert not {"lost", "left_out"} & set(chain), "a column without any value is left out"


def test_a_chain_loses_what_any_of_its_hops_lost(lossy: Results) -> None:
    (row,) = made(lossy, "chains", "loss", rows="rate").frame.to_dict("records")
    assert (row["received"], row["lost"]) == (2 * 55 - 3, 3)
    assert row["loss"] == pytest.approx(100 * 3 / 110)
    assert (row["chains"], row["chains_lost"]) == (52, 3)
    assert row["chain_loss"] == pytest.approx(100 * 3 / 55)


def test_a_finished_cell_without_a_value_is_told(relay: Results) -> None:
    cell = relay.study("chains").finished[0]
    path = cell.directory / "measured" / "transfers.parquet"
    rows = pd.read_parquet(path)
    try:
        rows.iloc[:0].to_parquet(path, index=False)
        again = open_results(relay.directory.path)
        notes = made(again, "chains", "summary", of="hop_latency", rows="rate").notes
        assert f"Cells without a value: {cell.id}." in notes
    finally:
        rows.to_parquet(path, index=False)


def test_an_analysis_of_variance_without_a_second_level_says_why(relay: Results) -> None:
    table = made(relay, "chains", "anova", of="latency", factors=["rate", "executor"])
    assert table.empty == "Cannot analyse latency by rate: it has 1 level. Vary it."


def test_modes_have_shares_that_add_up(relay: Results) -> None:
    table = made(relay, "qos", "modes", of="hop_latency", rows=["reliability", "durability"])
    shares = table.frame.groupby(["reliability", "durability"])["share"].sum()
    assert len(shares) == 4
    assert np.allclose(shares, 1)
    values = long_frame(relay, "qos", "hop_latency")["value"]
    assert table.frame["low"].min() == pytest.approx(values.min())
    assert table.frame["high"].max() == pytest.approx(values.max())
    assert (table.frame["low"] <= table.frame["p50"]).all()
    assert (table.frame["p50"] <= table.frame["high"]).all()
