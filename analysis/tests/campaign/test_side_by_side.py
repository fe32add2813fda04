# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table that sets levels side by side, with a winner only where intervals are apart."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from measured_campaign import RELAY, make_campaign

from strata.campaign.model import Figure
from strata.cli.campaign_import import command
from strata.stats.shares import share_interval
from strata.study.campaign_results import Results, open_results
from strata.study.clock_logs import logs_of
from strata.study.imported_results import Import, imported_frame, read_imports
from strata.study.long_frames import long_frame
from strata.study.source_shortfall import NOT_REACHED
from strata.study.tables import Table, table_of
from strata.study.tables.imported_means import with_imported_means
from strata.study.tables.side_by_side import NO_CLEAR_WINNER, Known, winner_at, winner_of

CRITERIA = ("loss", "latency")
# Two middlewares of another machine: of each second the mean of so many messages.
PERFORMANCE = """Experiment id: 1
Performance Test Version: 1.3.3
RMW Implementation: {rmw}
Publishing rate: 100
Msg name: Array1k


---EXPERIMENT-START---
T_experiment,T_loop,received,sent,lost,relative_loss,data_received,latency_min (ms),\
latency_max (ms),latency_mean (ms),latency_variance (ms)
{rows}
"""


def entry(loss: Known | None, latency: Known | None) -> dict[str, Known]:
    named = {"loss": loss, "latency": latency}
    return {name: known for name, known in named.items() if known is not None}


NONE_LOST, SOME_LOST = Known(0.0, 0.0, 0.1), Known(7.0, 6.0, 8.0)
FAST, SLOW, VAGUE = Known(1e6, 9e5, 1.1e6), Known(2e6, 1.9e6, 2.1e6), Known(1.5e6, 1e6, 2e6)


@pytest.mark.parametrize(
    ("first", "second", "winner"),
    [
        (entry(NONE_LOST, SLOW), entry(SOME_LOST, FAST), ("a", "loss")),
        (entry(NONE_LOST, SLOW), entry(NONE_LOST, FAST), ("b", "latency")),
        (entry(NONE_LOST, FAST), entry(NONE_LOST, VAGUE), (NO_CLEAR_WINNER, None)),
        # Without an interval nothing can be said to be apart.
        (entry(NONE_LOST, FAST), entry(NONE_LOST, Known(9e9)), (NO_CLEAR_WINNER, None)),
        # What was not measured of both does not decide.
        (entry(None, FAST), entry(SOME_LOST, SLOW), ("a", "latency")),
        (entry(NONE_LOST, FAST), {}, (None, None)),
    ],
)
def test_a_winner_is_apart_from_all_others(
    first: dict[str, Known], second: dict[str, Known], winner: tuple[str | None, str | None]
) -> None:
    assert winner_of({"a": first, "b": second}, CRITERIA) == winner


KEPT, BARELY = Known(0.1, 0.0, 0.2), Known(4.0, 1.0, 9.0)
SHORT, BY_HALF = Known(6.0, 5.5, 6.5), Known(50.0, 49.0, 51.0)


def with_shortfall(loss: Known, latency: Known, shortfall: Known) -> dict[str, Known]:
    return {**entry(loss, latency), "shortfall": shortfall}


def test_a_level_whose_source_fell_short_does_not_win() -> None:
    entries = {
        "a": with_shortfall(NONE_LOST, FAST, BY_HALF),
        "b": with_shortfall(NONE_LOST, SLOW, KEPT),
        "c": with_shortfall(SOME_LOST, FAST, KEPT),
    }
    assert winner_at(entries, CRITERIA) == ("b", "loss")
    # Alone it reached the rate.
    two = {name: entries[name] for name in ("a", "b")}
    assert winner_at(two, CRITERIA) == ("b", "shortfall")
    two["b"] = with_shortfall(NONE_LOST, SLOW, BARELY)
    two["a"] = with_shortfall(NONE_LOST, FAST, SHORT)
    assert winner_at(two, CRITERIA) == (NO_CLEAR_WINNER, None)
    two["b"] = with_shortfall(NONE_LOST, SLOW, SHORT)
    assert winner_at(two, CRITERIA) == (NOT_REACHED, None)
    del two["a"]
    assert winner_at(two, CRITERIA) == (None, None)


def test_imports_that_know_no_loss_are_compared_by_their_shortfall() -> None:
    entries = {"a": {"shortfall": BY_HALF}, "b": {"shortfall": SHORT}}
    assert winner_at(entries, CRITERIA, "theirs") == ("b", "shortfall")
    entries = {name: {**known, "loss": NONE_LOST} for name, known in entries.items()}
    assert winner_at(entries, CRITERIA, "theirs") == (NOT_REACHED, None)


def test_larger_throughput_is_better() -> None:
    flows = {"a": {"throughput": Known(10.0, 9.0, 11.0)}, "b": {"throughput": Known(5.0, 4.0, 6.0)}}
    assert winner_of(flows, ("throughput", *CRITERIA)) == ("a", "throughput")


def test_of_three_the_last_criterion_decides_among_those_that_are_left() -> None:
    three = {
        "a": entry(NONE_LOST, SLOW),
        "b": entry(NONE_LOST, FAST),
        "c": entry(SOME_LOST, Known(1e5, 9e4, 1.1e5)),
    }
    assert winner_of(three, CRITERIA) == ("b", "latency")


def test_the_interval_of_a_share_is_exact() -> None:
    low, high = share_interval(0, 110)
    assert (low, high) == (0.0, pytest.approx(1 - 0.025 ** (1 / 110)))
    with pytest.raises(ValueError, match="Cannot make an interval of 0 of 0"):
        share_interval(0, 0)


@pytest.fixture(scope="module")
def results(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A campaign with two measured levels of reliability, and an import of each."""
    session = sample("cell_relay")
    made = make_campaign(
        tmp_path_factory.mktemp("side"),
        RELAY,
        {"qos/reliable+volatile": session, "qos/best_effort+volatile": session},
    )
    path = made.directory.path
    words = [str(path)]
    for level, rmw, mean, lost in (("reliable", "one", 1.0, 0), ("best_effort", "other", 3.0, 2)):
        rows = "\n".join(
            f"{at}.0,1.0,{30 + at},{30 + at},{lost},0.0,30720,0.5,9.5,{mean + at % 3 / 100},0.1"
            for at in range(12)
        )
        file = path.parent / f"{level}.csv"
        file.write_text(PERFORMANCE.format(rmw=rmw, rows=rows))
        words.append(str(file))
    for level in ("reliable", "best_effort"):
        words += ["--as", f"qos:reliability={level},durability=volatile"]
    done = CliRunner().invoke(command, [*words, "--name", "theirs"])
    assert done.exit_code == 0, done.output
    return open_results(path)


def table(results: Results) -> Table:
    asked = Figure(kind="side_by_side", rows="durability", over="reliability")
    return table_of(results, "qos", asked)


def test_imported_results_stand_beside_ours_with_a_winner_of_their_own(results: Results) -> None:
    made = table(results)
    assert list(made.frame["origin"]) == ["here", "here", "theirs", "theirs"]
    ours, theirs = made.frame[:2], made.frame[2:]
    # Both cells are one session: nothing tells them apart.
    assert set(ours["winner"]) == {NO_CLEAR_WINNER}
    assert set(theirs["winner"]) == {"reliable"}
    assert set(theirs["winner_by"]) == {"loss"}
    assert any("another machine" in note for note in made.notes)
    units = {column.name: column.unit for column in made.columns}
    assert (units["latency"], units["throughput"], units["loss"]) == ("ns", "MB/s", "%")


def test_imports_without_a_clock_log_are_not_read_for_one(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Import) -> pd.DataFrame:
        raise AssertionError(f"{self.name} was read")

    monkeypatch.setattr(Import, "samples", refused)
    assert logs_of(results, "qos") == []


def test_a_measure_without_imported_means_is_not_copied_as_text(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = long_frame(results, "qos", "latency", imports=False)
    many = pd.concat([few] * 200, ignore_index=True)
    monkeypatch.setattr("strata.study.tables.imported_means.long_frame", lambda *_, **__: many)
    # Of the CPUs' use nothing is imported; what reading the files takes does not count.
    imports = read_imports(results.directory.path)
    nothing = imported_frame(imports, results.campaign, "qos", "cpu_all", ("run_mean",))
    assert nothing.empty
    module = "strata.study.tables.imported_means"
    monkeypatch.setattr(f"{module}.read_imports", lambda _: imports)
    monkeypatch.setattr(f"{module}.imported_frame", lambda *_: nothing.copy())
    tracemalloc.start()
    try:
        made = with_imported_means(results, "qos", "cpu_all", {})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert made["value"].tolist() == many["value"].tolist()
    assert set(made["origin"].astype(str)) == {"here"}
    # A copy of the frame; text and tuples of each row would take several times as much.
    assert peak < 3 * many.memory_usage(deep=False).sum(), peak / len(many)


def test_a_winner_among_imports_is_a_finding_with_their_name(results: Results) -> None:
    """Imports have sentences of their own, by the losses that their files count."""
    asked = Figure(kind="findings", over="durability", by="reliability")
    made = table_of(results, "qos", asked).frame
    winners = made[made["about"] == "winner"]
    assert winners["origin"].tolist() == ["here", "theirs"]
    classes = made[made["about"] == "classes"]
    assert set(classes["origin"]) == {"here", "theirs"}
    assert classes["text"].str.startswith("loss ").all()


def test_imports_that_count_losses_have_rows_of_losses(results: Results) -> None:
    asked = Figure(kind="loss", rows=["durability", "reliability"], classes=True)
    made = table_of(results, "qos", asked)
    frame = made.frame[made.frame["origin"] == "theirs"].set_index("reliability")
    assert set(frame["class_of"]) == {"loss"}
    # Of twelve seconds 30 to 41 messages came; of one file each second lost two.
    received = sum(30 + at for at in range(12))
    assert frame["received"].tolist() == [received, received]
    assert frame["lost"].to_dict() == {"reliable": 0, "best_effort": 24}
    share = 100 * 24 / (received + 24)
    assert frame.loc["best_effort", "loss"] == pytest.approx(share)
    assert frame.loc["best_effort", "at_most"] > share
    assert frame.loc["best_effort", "seen"] == "severe"
    assert set(frame["lost_least"]) == {"reliable"}
    assert any("gaps in sequence numbers" in note for note in made.notes)
    assert not any("count what was asked for" in note for note in made.notes)
    edges = table_of(results, "qos", Figure(kind="boundaries", of="loss", over="durability"))
    assert set(edges.frame["of"]) == {"loss"}


def test_what_it_states_is_what_was_measured(results: Results) -> None:
    row = table(results).frame.iloc[0]
    hops = results.measured(results.study("qos").finished[0]).read("hops")
    transfers = results.measured(results.study("qos").finished[0]).read("transfers")
    kept = transfers[~transfers["warm_up"]]["latency_ns"]
    assert row["latency"] == pytest.approx(kept.mean())
    assert row["latency_low"] < row["latency"] < row["latency_high"]
    expected = int(hops["received"].sum() + hops["lost"].sum())
    assert row["loss"] == 0.0
    assert row["loss_high"] == pytest.approx(100 * share_interval(0, expected)[1])
    seconds = (hops["last_ns"] - hops["first_ns"]) / 1e9
    flow = (hops["received"] - 1) * hops["payload_bytes"] / seconds / 1e6
    assert row["throughput"] == pytest.approx(flow.mean())
    # One run has no interval over runs.
    assert pd.isna(row.get("throughput_low"))


def test_imported_means_weigh_as_their_messages(results: Results) -> None:
    row = table(results).frame.iloc[2]
    counts = np.arange(30, 42)
    means = 1.0 + np.arange(12) % 3 / 100
    assert row["latency"] == pytest.approx(1e6 * np.average(means, weights=counts), rel=1e-9)


def test_the_quick_variant_of_a_study_without_cells_says_why(tmp_path: Path) -> None:
    made = table(make_campaign(tmp_path, RELAY, {}))
    assert made.frame.empty and made.empty == "its cells have not run yet"
