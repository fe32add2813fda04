# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of a campaign's report as data."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from measured_campaign import LIDAR, RELAY, make_campaign

from strata.campaign.load import load_campaign
from strata.campaign.model import Figure
from strata.errors import CampaignError
from strata.record.places import project_root
from strata.show.words.campaign_tables import cell_text, table_part
from strata.study.campaign_results import Results, open_results
from strata.study.long_frames import long_frame
from strata.study.tables import TABLES, Table, printed_figures, table_of
from strata.study.tables.loss_classes import TOO_FEW, Boundary, Loss, boundary_of, loss_class
from strata.study.tables.losses import TIE, best_of
from strata.study.tables.table import Column, first_ones

WARM_UP = 5
PUBLISHED = Path(str(project_root())) / "trace_configs" / "campaigns" / "published"


@pytest.fixture(scope="module")
def relay(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Results:
    """All four cells of one study, two of four of the other."""
    session = sample("cell_relay")
    sessions = {"qos/": session, "chains/100.0": session}
    return make_campaign(tmp_path_factory.mktemp("relay"), RELAY, sessions)


@pytest.fixture(scope="module")
def lidar(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Results:
    """One of two cells."""
    sessions = {"test_cases/tc2": sample("cell_lidar")}
    return make_campaign(tmp_path_factory.mktemp("lidar"), LIDAR, sessions)


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


def made(results: Results, study: str, kind: str, **asked: object) -> Table:
    table = table_of(results, study, Figure.model_validate({"kind": kind, **asked}))
    assert table.frame.columns.tolist() == [column.name for column in table.columns]
    assert bool(table.empty) == (not len(table.frame))
    return table


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
    assert "Missing: tc3 (not run yet)." in table.notes


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


def test_one_run_a_group_has_no_analysis_of_runs(relay: Results) -> None:
    factors = ["reliability", "durability"]
    table = made(relay, "qos", "anova", of="latency", factors=factors)
    assert "runs_p" not in table.frame
    assert any(note.startswith("With one run per group") for note in table.notes)


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


def test_losses_stand_beside_what_the_nodes_counted(relay: Results) -> None:
    rows = ["reliability", "durability"]
    table = made(relay, "qos", "loss", rows=rows, classes=True)
    assert table.frame["reliability"].tolist() == ["reliable"] * 2 + ["best_effort"] * 2
    for row in table.frame.to_dict("records"):
        assert (row["published"], row["left_out"], row["received"]) == (120, 10, 110)
        assert (row["lost"], row["own_lost"], row["loss"]) == (0, 0, 0.0)
        assert row["matched_lost"] == 0
        assert (row["class"], row["best"]) == ("moderate", TIE)


def test_what_nodes_count_is_held_against_the_same_messages(relay: Results) -> None:
    cell = relay.study("chains").finished[0]
    path = cell.directory / "measured" / "hops.parquet"
    rows = pd.read_parquet(path)
    try:
        # Of two hops the nodes tell of one; of the five that it lost three were in the warm-up.
        told = rows.assign(lost=[2, 4], own_lost=pd.array([5, None], "Int64"), matched_lost=[5, 9])
        told.to_parquet(path, index=False)
        where = {"executor": cell.cell.levels["executor"]}
        again = open_results(relay.directory.path)
        (row,) = made(again, "chains", "loss", where=where).frame.to_dict("records")
        assert (row["lost"], row["matched_lost"], row["own_lost"]) == (6, 5, 5)
    finally:
        rows.to_parquet(path, index=False)


def test_names_and_levels_are_written_as_in_figures(relay: Results) -> None:
    for kind in ("summary", "intervals", "modes"):
        table = made(relay, "chains", kind, of="hop_latency", rows=["rate", "executor"])
        part = table_part(table, "")
        assert "_" not in part.title and "op latency" in part.title
        assert part.rows[0][0] == "100 Hz"
        assert table.frame["rate"].iloc[0] == "100.0"
    pairs = table_part(made(relay, "chains", "pairs", of="hop_latency", over="executor"), "")
    assert pairs.title == "Hop latency: pairs of executor (ms)"


def test_a_share_that_rounds_to_nothing_has_no_sign() -> None:
    percent = Column("shortfall", "shortfall", "%", "percent")
    assert [cell_text(value, percent) for value in (-0.04, -0.06, 0.04)] == ["0", "-0.1", "< 0.1"]


def test_names_are_folded_to_a_count() -> None:
    assert first_ones(list("abcd")) == "a, b, c, d"
    assert first_ones(list("abcdef")) == "a, b, c, d and 2 more"


def test_what_was_no_loss_stands_apart(relay: Results, lidar: Results) -> None:
    (row,) = made(relay, "qos", "loss").frame.to_dict("records")
    short = long_frame(relay, "qos", "shortfall")["value"]
    assert row["shortfall"] == pytest.approx(short.mean())
    assert "dropped" not in row
    (row,) = made(lidar, "test_cases", "loss").frame.to_dict("records")
    sources = lidar.measured(lidar.study("test_cases").finished[0]).read("sources")
    assert (row["dropped"], row["missing"]) == (sources["dropped"].sum(), sources["missing"].sum())


@pytest.mark.parametrize(
    ("percent", "name"),
    [
        (0.0, "excellent"),
        (0.0999, "excellent"),
        (0.1, "good"),
        (0.999, "good"),
        (1.0, "moderate"),
        (5.0, "moderate"),
        (5.001, "severe"),
        (None, None),
    ],
)
def test_classes_of_loss(percent: float | None, name: str | None) -> None:
    assert loss_class(percent) == name


def rates(*lost: int, of: int) -> list[dict[str, object]]:
    return [
        {"m": chr(97 + at), "lost": n, "received": of - n, "loss": 100 * n / of}
        for at, n in enumerate(lost)
    ]


def test_the_best_lost_least_and_not_by_chance() -> None:
    assert best_of(rates(50, 0, of=1000), "m") == "b"
    assert best_of(rates(3, 0, of=1000), "m") == TIE, "3 of 1000 are chance"
    assert best_of(rates(50, 0, 1, of=1000), "m") == TIE, "the next is as good"
    assert best_of(rates(90, 0, of=1_000_000), "m") == TIE, "0.009 percentage points are nothing"
    assert best_of(rates(5, of=1000), "m") is None


@pytest.mark.parametrize(
    ("lost", "of", "at_most", "name", "to_tell"),
    [
        # 1 - 0.05 ** (1 / 110) is 2.69 %; below 0.1 % it takes log(0.05) / log(0.999).
        (0, 110, 2.69, "moderate", 2995),
        (0, 299, 0.997, "good", 2995),
        (0, 2994, 0.10001, "good", 2995),
        (0, 2995, 0.09998, "excellent", None),
        (0, 20, 13.9, TOO_FEW, 2995),
        (90, 1000, 10.6, "severe", None),
    ],
)
def test_a_class_is_of_what_the_loss_is_at_most(
    lost: int, of: int, at_most: float, name: str, to_tell: int | None
) -> None:
    loss = Loss(lost, of)
    assert loss.at_most == pytest.approx(at_most, rel=5e-3)
    assert (loss.class_name, loss.to_tell) == (name, to_tell)
    assert (Loss(0, 0).at_most, Loss(0, 0).class_name, Loss(0, 0).to_tell) == (None, None, None)


def test_more_messages_tell_a_loss_near_its_bound() -> None:
    needed = Loss(8, 1000).to_tell
    assert needed is not None
    assert Loss(round(0.008 * needed), needed).class_name == "good"
    assert Loss(8, 1000).class_name == "moderate"


def test_loss_begins_with_the_first_level_that_has_it() -> None:
    million = 1_000_000
    shares = {"a": 0, "b": 900, "c": 1100, "d": 5000, "e": 11000}
    losses = {name: Loss(lost, million) for name, lost in shares.items()}
    # Of "f" nothing was counted; "g" comes after a level that is out, and counts no more.
    losses |= {"f": Loss(0, 0), "g": Loss(0, million)}
    found = {bound: boundary_of(losses, bound) for bound in (0.05, 0.1, 1.0, 5.0)}
    assert [one.up_to for one in found.values()] == ["a", "b", "d", "g"]
    assert [one.next_out for one in found.values()] == ["b", "c", "e", None]
    assert [one.seen_up_to for one in found.values()] == ["a", "b", "d", "g"]
    assert {one.undecided for one in found.values()} == {()}


def test_a_boundary_names_what_too_few_messages_leave_open() -> None:
    lossy, few, many = Loss(70, 1000), Loss(0, 55), Loss(0, 1000)
    assert boundary_of({"a": lossy, "b": many}, 5.0) == Boundary(None, "a", (), None)
    assert boundary_of({"a": few}, 5.0) == Boundary(None, None, ("a",), "a")
    losses = {"a": many, "b": few, "c": many, "d": lossy, "e": few}
    # "c" is known to be below, so "b" is passed over: its data rate is lower.
    assert boundary_of(losses, 5.0) == Boundary("c", "d", ("b",), "c")
    assert boundary_of({"a": few, "b": many, "c": few}, 5.0) == Boundary("b", None, ("a", "c"), "c")
    # 4 of 100 lost may be less than 5 %, or more.
    assert (Loss(4, 100).is_below(5.0), Loss(0, 0).is_below(5.0)) == (None, None)
    assert Loss(4, 100).at_least == pytest.approx(1.3785, abs=1e-3)


def test_a_boundary_ends_before_what_the_source_did_not_reach() -> None:
    lossy, few, many = Loss(70, 1000), Loss(0, 55), Loss(0, 1000)
    losses = {"a": many, "b": many, "c": many, "d": lossy}
    assert boundary_of(losses, 5.0, {"b"}) == Boundary("a", "d", (), "a", ("b",))
    assert boundary_of(losses, 5.0, {"a"}) == Boundary(None, "d", (), None, ("a",))
    # A loss that is too large at the lower rate is not smaller at the one that was asked for.
    assert boundary_of(losses, 5.0, {"c", "d"}) == Boundary("b", "d", (), "b", ("c",))
    # Whether it decides or not, it is of another rate.
    assert boundary_of({"a": many, "b": few}, 5.0, {"b"}) == Boundary("a", None, (), "a", ("b",))
    # Of "b" nothing was counted.
    nothing = {"a": many, "b": Loss(0, 0), "c": many}
    assert boundary_of(nothing, 5.0, {"b"}) == Boundary("a", None, (), "a", ("b",))


def test_where_loss_begins(relay: Results) -> None:
    table = made(relay, "qos", "boundaries", of="loss", over="durability", by="reliability")
    frame = table.frame
    assert frame["class"].tolist() == ["excellent", "good", "moderate"] * 2
    # 110 messages a cell: below 5 %, and no more can be told of them.
    moderate, excellent = (frame[frame["class"] == one] for one in ("moderate", "excellent"))
    assert moderate["undecided"].isna().all()
    assert moderate["up_to"].notna().all()
    assert excellent["up_to"].isna().all()
    assert {len(one.split(", ")) for one in excellent["undecided"]} == {2}
    # As observed, none lost any.
    assert (frame["seen_up_to"] == moderate["up_to"].iloc[0]).all()


def test_a_class_says_how_many_messages_it_takes(relay: Results) -> None:
    table = made(relay, "qos", "loss", rows="reliability", classes=True)
    for row in table.frame.to_dict("records"):
        assert row["lost"] == 0
        assert row["at_most"] == pytest.approx(100 * (1 - 0.05 ** (1 / row["received"])))
        assert (row["class"], row["to_tell"]) == ("moderate", 2995)
    assert any("2,995 for excellent, 299 for good, 59 for moderate" in n for n in table.notes)


def test_layers_add_up_to_the_latency(relay: Results) -> None:
    for study, rows in (("qos", "reliability"), ("chains", "executor")):
        frame = made(relay, study, "layers", rows=rows).frame
        for _, own in frame.groupby(rows):
            latency = own[own["layer"] == "latency"]["mean"].iloc[0]
            parts = own[~own["layer"].isin(["latency", "callback"])]
            assert np.isclose(parts["mean"].sum(), latency, rtol=1e-12)
            assert np.isclose(parts["share"].sum(), 1.0)
    frame = made(relay, "qos", "layers", where={"reliability": "reliable"}).frame
    transfers = relay.measured(relay.study("qos").finished[0]).read("transfers")
    kept = transfers[~transfers["warm_up"]]["client_publish_ns"].to_numpy(np.float64)
    # Both cells of the level are the same session: quantiles of two are nearly those of one.
    layer = frame.set_index("layer").loc["client publish"]
    assert layer["count"] == 2 * len(kept)
    assert layer["mean"] == pytest.approx(kept.mean())
    assert layer["p99"] == pytest.approx(np.quantile(np.repeat(kept, 2), 0.99))


def test_published_figures_stand_beside_ours_as_another_machines(lidar: Results) -> None:
    table = made(lidar, "test_cases", "published", file="ouster-test-cases.csv")
    assert any("another machine: a laptop" in note for note in table.notes)
    row = table.frame.set_index(["test_case", "measure", "statistic"])
    least = row.loc[("tc2", "period", "min")]
    assert (least["printed"], least["right"]) == ("81.97", "81.976")
    period = long_frame(lidar, "test_cases", "period")["value"]
    assert np.isclose(least["here"], period.min() / 1e6)
    assert pd.isna(row.loc[("tc3", "period", "min"), "here"])
    assert row.loc[("tc3", "stamp_latency", "p50"), "printed"] == "131.483"


def test_a_relays_published_figures_are_in_its_own_unit(relay: Results) -> None:
    frame = made(relay, "chains", "published", file="relay.csv").frame
    row = frame.set_index(["rate", "executor", "statistic"]).loc[("100.0", "single", "p50")]
    assert row["printed"] == "52"
    own = long_frame(relay, "chains", "hop_latency", where={"executor": "single"})
    assert np.isclose(row["here"], own["value"].median() / 1e3)


def test_figures_beside_those_of_another_client_library_say_so(
    relay: Results, lidar: Results
) -> None:
    table = made(relay, "chains", "published", file="relay.csv")
    assert table.notes[0] == (
        "Printed figures are of another machine: another, its nodes in rclcpp. Ours are of rclpy, "
        "the printed ones of rclcpp: they differ by the client library, too."
    )
    texts = {column.name: column.text for column in table.columns}
    assert texts["here"] == "this machine, rclpy"
    # One that does not say what its nodes were is not said to be of another.
    unknown = made(lidar, "test_cases", "published", file="ouster-test-cases.csv")
    assert "differ by the client" not in " ".join(unknown.notes)


def test_a_chain_divided_by_its_hops_is_the_originals_and_named_so(relay: Results) -> None:
    asked = {"file": "relay.csv", "of": "hop_latency", "rows": ["executor", "rate"]}
    table = made(relay, "chains", "published", **asked)
    assert [column.label for column in table.columns] == [
        "executor",
        "rate",
        "statistic",
        "printed",
        "printed, Ryzen 5975WX",
        "printed, AGX Orin",
        "hop, here",
        "chain, here",
        "chain / 2, the original's definition",
        "n here",
    ]
    assert table.title == "as published (another machine), hop latency, us: The original"
    row = table.frame.set_index(["executor", "rate", "statistic"]).loc[("single", "100.0", "p90")]
    chain = long_frame(relay, "chains", "latency", where={"executor": "single"})["value"]
    assert np.isclose(row["further_0"], chain.quantile(0.9) / 1e3)
    assert np.isclose(row["further_1"], chain.quantile(0.9) / 1e3 / 2)
    other = made(relay, "chains", "published", file="relay.csv", of="latency")
    assert other.empty == "relay.csv has no latency: it has hop latency, request latency"
    assert made(relay, "chains", "published", file="relay.csv", rows="rate").frame.shape == (21, 6)


def test_published_figures_stand_alone_where_nothing_ran(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    asked = {"file": "relay.csv", "of": "hop_latency", "rows": ["executor", "rate"]}
    for place, sessions in (("none", {}), ("other", {"qos/": sample("cell_relay")})):
        (tmp_path / place).mkdir()
        results = make_campaign(tmp_path / place, RELAY, sessions)
        table = made(results, "chains", "published", **asked)
        assert set(table.frame["printed"].dropna()) >= {"52", "818"}
        assert table.frame["here"].isna().all()


CAMERA_LIKE = """\
question: Does a loss beside a shortfall have its name?
original: {title: an original, machine: a laptop}
studies:
  middleware:
    question: What is lost?
    scenario: relay_one_process
    nominal_hz: 200
    measured: {topic: /chain_1}
    factors:
      configuration: {levels: {480p15: {}}}
      middleware: {levels: {zenoh: {}}}
"""


def test_an_originals_loss_stands_beside_our_shortfall(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    results = make_campaign(tmp_path, CAMERA_LIKE, {"middleware/": sample("cell_relay")})
    asked = {"file": "camera-rmw.csv", "of": "shortfall"}
    table = made(results, "middleware", "published", **asked)
    row = table.frame[table.frame["middleware"] == "zenoh"].iloc[0]
    short = long_frame(results, "middleware", "shortfall")["value"].mean()
    assert (row["printed"], row["here"], row["further_0"]) == ("0.00", short, 0.0)
    assert short > 1
    assert [one.label for one in table.columns if one.name == "further_0"] == ["loss, here"]
    rates = made(results, "middleware", "published", **{**asked, "of": "throughput"})
    here = long_frame(results, "middleware", "throughput")["value"].mean()
    assert "throughput, mean, MiB/s" in rates.title
    assert np.isclose(rates.frame["here"].dropna(), here * 1e6 / 2**20)


def test_a_level_that_names_its_transport_has_the_figures_printed_without_it(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    text = CAMERA_LIKE.replace("{zenoh: {}}", "{zenoh_shm_512m: {also: [zenoh]}}")
    results = make_campaign(tmp_path, text, {"middleware/": sample("cell_relay")})
    table = made(results, "middleware", "published", file="camera-rmw.csv", of="shortfall")
    row = table.frame.set_index(["middleware", "configuration"])
    assert row.loc[("zenoh_shm_512m", "480p15"), "printed"] == "0.00"
    assert row.loc[("zenoh_shm_512m", "480p15"), "here"] > 1
    assert "zenoh" not in set(table.frame["middleware"])


def test_every_level_of_a_shipped_middleware_names_its_transport() -> None:
    for path in PUBLISHED.parent.glob("*.yaml"):
        for study in load_campaign(path.stem).campaign.studies.values():
            for factor in ("middleware", "transport"):
                if factor in study.factors:
                    assert not {"cyclonedds", "zenoh"} & set(study.factors[factor].names)


def test_the_table_of_pools_is_that_of_the_study() -> None:
    figures = printed_figures.camera_pools(PUBLISHED / "camera-pools.csv")
    pools = load_campaign("camera").campaign.studies["pools"]
    for name in figures.factors:
        assert set(figures.frame[name]) <= set(pools.factors[name].names)
    printed = figures.frame.set_index(["configuration", "pool"])["printed"]
    assert printed[("2160p60", "zenoh_256m")] == "17.69"
    # The main table is the run of 512 MB.
    main = printed_figures.camera_rmw(PUBLISHED / "camera-rmw.csv").frame
    zenoh = main[(main["middleware"] == "zenoh") & (main["measure"] == "shortfall")]
    of_main = zenoh.set_index("configuration")["printed"]
    for configuration in ("2160p45", "2160p60"):
        assert printed[(configuration, "zenoh_512m")] == of_main[configuration]


def test_a_published_file_of_other_factors_is_shown_as_it_is(relay: Results) -> None:
    table = made(relay, "qos", "published", file="relay.csv")
    assert table.frame.shape == (21, 6)
    missing = made(relay, "qos", "published", file="none.csv")
    assert "none.csv is neither beside" in missing.empty


def test_a_published_file_of_other_columns_is_shown_as_it_is(relay: Results) -> None:
    place = Path(str(relay.directory.document["file"])).parent / "published"
    place.mkdir()
    try:
        (place / "relay.csv").write_text("executor,rate_hz,p50_us\nmulti,10,818\n")
        table = made(relay, "chains", "published", of="latency", file="relay.csv")
        assert table.frame.to_dict("records") == [
            {"executor": "multi", "rate_hz": "10", "p50_us": "818"}
        ]
    finally:
        shutil.rmtree(place)


def test_every_wrong_digit_has_a_printed_figure() -> None:
    printed = printed_figures.ouster_test_cases(PUBLISHED / "ouster-test-cases.csv").frame
    wrong = pd.read_csv(PUBLISHED / "ouster-corrections.csv", dtype=str)
    corrected = printed[printed["right"].notna()]
    assert sorted(corrected["printed"]) == sorted(wrong["printed_ms"])
    for row in corrected.to_dict("records"):
        digits = len(row["printed"].partition(".")[2])
        assert round(float(row["right"]), digits) != float(row["printed"])


def test_published_rates_are_mib_and_an_interval_is_in_ms() -> None:
    camera = printed_figures.camera_rmw(PUBLISHED / "camera-rmw.csv").frame
    rate = camera[(camera["measure"] == "throughput") & (camera["configuration"] == "2160p60")]
    assert set(rate["printed"]) == {"1424"}
    assert set(rate["unit"]) == {"MiB/s"}
    mean = printed_figures.ci_of_mean(PUBLISHED / "ci-of-mean.csv").frame.set_index("statistic")
    assert mean.loc["mean, high, 0.98", "printed"] == "0.97916"
    terms = printed_figures.anova_terms(PUBLISHED / "dds-anova.csv")
    assert round(terms["size"]["eta_sq"] or 0, 3) == 0.826
    assert round(terms["middleware"]["eta_sq"] or 0, 4) == 0.0032


def test_corrections_are_those_of_the_file(relay: Results) -> None:
    assert made(relay, "qos", "corrections").frame["text"].tolist() == ["one", "two"]


def test_what_did_not_run_is_named_in_every_table(relay: Results) -> None:
    for kind in sorted(set(TABLES) - {"corrections", "published", "anova", "pairs"}):
        figure = {"rows": "rate", "over": "rate", "by": "executor"}
        notes = made(relay, "chains", kind, **figure).notes
        (told,) = [note for note in notes if note.startswith("Missing:")]
        assert told == "Missing: 10 Hz + single, 10 Hz + multi (not run yet)."
    empty = made(relay, "chains", "summary", rows="rate", where={"rate": "10.0"})
    assert empty.empty == "its cells have not run yet"


def test_a_kind_that_is_no_table_is_refused(relay: Results) -> None:
    with pytest.raises(CampaignError, match="Cannot make a table of curve"):
        table_of(relay, "qos", Figure(kind="curve"))


def test_a_failed_and_a_skipped_cell_are_told_with_their_reasons(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    text = RELAY.replace(
        "durability: {set: durability, levels: [volatile, transient_local]}",
        "durability: {set: durability, levels: [volatile, transient_local]}\n"
        "    except: [{when: {reliability: reliable, durability: volatile}, because: we know}]",
        1,
    )
    results = make_campaign(tmp_path, text, {"qos/best_effort+volatile": sample("cell_relay")})
    path = next(one.directory for one in results.outcomes if one.status == "finished") / "cell.json"
    path.write_text(
        json.dumps({**json.loads(path.read_text()), "status": "failed", "reason": "exit status 1"})
    )
    study = open_results(results.directory.path).study("qos")
    lines = {one.id: one.line for one in study.outcomes}
    assert lines["qos/reliable+volatile/r1"] == "skipped: we know"
    assert lines["qos/best_effort+volatile/r1"] == "failed: exit status 1"
    assert lines["qos/reliable+transient_local/r1"] == "not run yet"
    assert study.why_empty({"durability": "volatile"}) in (
        "skipped: we know; failed: exit status 1",
        "failed: exit status 1; skipped: we know",
    )
