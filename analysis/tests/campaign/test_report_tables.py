# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of a campaign's report as data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from measured_campaign import RELAY, made, make_campaign

from strata.campaign.model import Figure
from strata.errors import CampaignError
from strata.show.words.campaign_tables import cell_text, table_part, unfinished_cells
from strata.study.campaign_results import Results, open_results
from strata.study.long_frames import long_frame
from strata.study.report_contents import FAILED, OPEN, CellRow
from strata.study.tables import TABLES, table_of
from strata.study.tables.loss_classes import TOO_FEW, Boundary, Loss, boundary_of, loss_class
from strata.study.tables.losses import TIE, least_of
from strata.study.tables.table import Column, first_ones


def test_losses_stand_beside_what_the_nodes_counted(relay: Results) -> None:
    rows = ["reliability", "durability"]
    table = made(relay, "qos", "loss", rows=rows, classes=True)
    assert table.frame["reliability"].tolist() == ["reliable"] * 2 + ["best_effort"] * 2
    for row in table.frame.to_dict("records"):
        assert (row["published"], row["left_out"], row["received"]) == (120, 10, 110)
        assert (row["lost"], row["own_lost"], row["loss"]) == (0, 0, 0.0)
        assert row["matched_lost"] == 0
        assert (row["class"], row["lost_least"]) == ("moderate", TIE)


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


@pytest.mark.parametrize(
    ("status", "count", "which"),
    [
        (OPEN, 2, "qos/0/r1, qos/1/r1, chains/0/r1"),
        (OPEN, 20, "20 of qos, 1 of chains"),
        (FAILED, 13, ", ".join([*(f"qos/{level}/r1" for level in range(13)), "chains/0/r1"])),
    ],
)
def test_of_many_cells_that_have_not_run_those_of_each_study_are_counted(
    status: str, count: int, which: str
) -> None:
    cells = [("qos", level) for level in range(count)] + [("chains", 0)]
    rows = [CellRow(f"{study}/{level}/r1", study, {}, 1, status) for study, level in cells]
    (made_of,) = unfinished_cells(rows)
    assert made_of.which == which


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
    assert least_of(rates(50, 0, of=1000), "m") == "b"
    assert least_of(rates(3, 0, of=1000), "m") == TIE, "3 of 1000 are chance"
    assert least_of(rates(50, 0, 1, of=1000), "m") == TIE, "the next is as good"
    assert least_of(rates(90, 0, of=1_000_000), "m") == TIE, "0.009 percentage points are nothing"
    assert least_of(rates(5, of=1000), "m") is None


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


def test_what_did_not_run_is_named_in_every_table(relay: Results) -> None:
    for kind in sorted(set(TABLES) - {"corrections", "published", "anova", "pairs"}):
        figure = {"rows": "rate", "over": "rate", "by": "executor"}
        notes = made(relay, "chains", kind, **figure).notes
        (told,) = [note for note in notes if note.startswith("Missing:")]
        assert told == (
            "Missing: rate 10 Hz + executor single, rate 10 Hz + executor multi (not run yet)."
        )
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
