# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is measured in a cell, against what its nodes wrote themselves."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.errors import OutputError
from strata.schema.layers import CALLBACK, HOP_LAYERS
from strata.schema.tables.measured import CHAIN_LAYERS
from strata.study.cell_tables import CONTENTS, SUBDIRECTORY, CellTables, HopSelection, measure
from strata.study.cell_transfers import agree, fate

WARM_UP = 5
RELAY = HopSelection("/chain_*", warm_up=WARM_UP)
LIDAR = HopSelection("/points", "perf_node", WARM_UP)
IMAGES = 600
LOST = 57
"""Of cyc_img720p30, as its README says."""


@pytest.fixture
def relay(own_sample: Callable[[str], Path]) -> Path:
    """A session of relay_chain with one relay: 60 messages."""
    return own_sample("cell_relay")


@pytest.fixture
def lidar(own_sample: Callable[[str], Path]) -> Path:
    """A session of lidar_512x10: 28 clouds, of which perf_node left out 3."""
    return own_sample("cell_lidar")


def stamps(session: Path, node: str) -> pd.DataFrame:
    rows = pd.read_csv(session / "scenario" / "results" / f"{node}.csv")
    return rows[rows["event"] == "cb_start"]


def test_messages_are_numbered_as_their_source_numbers_them(relay: Path) -> None:
    transfers = measure(relay, RELAY).read("transfers")
    assert len(transfers) == 120
    for hop, rows in transfers.groupby("hop"):
        own = stamps(relay, str(hop).rsplit("/", 1)[-1])
        assert rows["number"].tolist() == own["seq"].tolist()
        # One constant lies between the clocks; the node stamps just after its callback began.
        offset = rows["end_ns"].to_numpy(np.int64) - own["t_mono_ns"].to_numpy(np.int64)
        assert np.ptp(offset) < 5_000_000
    published = measure(relay, RELAY).read("publications")
    for rows in (transfers, published):
        assert (rows["warm_up"] == (rows["number"] < WARM_UP)).all()


def total(frame: pd.DataFrame, columns: list[str]) -> pd.Series[int]:
    return sum((frame[column].fillna(0) for column in columns), start=pd.Series(0, frame.index))


def test_layers_add_up_to_the_nanosecond_on_every_row(relay: Path, lidar: Path) -> None:
    for session, wanted in ((relay, RELAY), (lidar, LIDAR)):
        measured = measure(session, wanted)
        for table, layers in (("transfers", HOP_LAYERS), ("chains", CHAIN_LAYERS)):
            rows = measured.read(table)
            columns = [layer.column for layer in layers]
            assert len(rows) > 20
            assert (total(rows, columns) == rows["whole_ns"]).all()
            columns.remove(CALLBACK.column)
            assert (total(rows, columns) == rows["latency_ns"]).all()
            assert (rows["end_ns"] - rows["begin_ns"] == rows["latency_ns"]).all()
        assert not measured.read("findings")["code"].str.startswith("inexact").any()


def test_a_chain_goes_from_the_first_publish_to_the_last_callback(relay: Path) -> None:
    measured = measure(relay, RELAY)
    chains, transfers = measured.read("chains"), measured.read("transfers")
    assert chains["chain"].unique().tolist() == ["/chain_0 -> /chain_1"]
    assert chains["number"].tolist() == list(range(60))
    ends = transfers[transfers["topic"] == "/chain_1"].set_index("number")["end_ns"]
    begins = transfers[transfers["topic"] == "/chain_0"].set_index("number")["begin_ns"]
    assert (chains.set_index("number")["latency_ns"] == ends - begins).all()
    assert measured.line == "110 messages over 2 hops, 55 chains, 0 lost, 10 warm-up"


def test_a_perf_nodes_stamps_are_kept_and_its_warm_up_is_the_traces(lidar: Path) -> None:
    measured = measure(lidar, LIDAR)
    file = pd.read_csv(lidar / "scenario" / "results" / "perf_points.csv")
    rows = measured.read("stamps")
    assert rows["recv_ns"].tolist() == file["recv_stamp"].tolist()
    assert rows["msg_ns"].tolist() == file["msg_stamp"].tolist()
    assert rows["warm_up"].sum() == WARM_UP
    assert set(rows["topic"]) == {"/points"}
    hop = measured.read("hops").iloc[0]
    # 3 of 28 were perf_node's own warm-up, which it does not count.
    assert (hop["own_received"], hop["matched_received"], hop["received"]) == (25, 25, 23)


def test_processes_have_what_the_runner_noted(lidar: Path) -> None:
    measured = measure(lidar, LIDAR)
    outcome = json.loads((lidar / "scenario" / "outcome.json").read_text())["processes"]
    rows = measured.read("processes").set_index("process")
    for process in outcome:
        usage = process["usage"]
        used = usage["cpu_user_ns"] + usage["cpu_system_ns"]
        assert rows.loc[process["name"], "cpu_ns"] == used
        assert rows.loc[process["name"], "rss_max_bytes"] == usage["rss_max_bytes"]
    samples = measured.read("resources")
    hop = measured.read("hops").iloc[0]
    assert samples["at_ns"].between(hop["first_ns"], hop["last_ns"]).sum() > 4


def test_a_session_without_a_runners_notes_measures_its_messages(relay: Path) -> None:
    for name in ("outcome.json", "resources.csv"):
        (relay / "scenario" / name).unlink()
    measured = measure(relay, RELAY)
    assert len(measured.read("transfers")) == 120
    assert measured.read("processes").empty
    assert measured.read("resources").empty


def test_only_the_scenarios_own_processes_are_measured(relay: Path) -> None:
    path = relay / "scenario" / "outcome.json"
    outcome = json.loads(path.read_text())
    path.write_text(json.dumps(outcome | {"others": [1]}))
    whole = measure(relay, RELAY)
    assert whole.counts["received"] == 110
    assert "foreign_processes" not in set(whole.read("findings")["code"])
    former = whole.read("transfers")
    former = former[former["subscription_node"] == "/relay_0"].reset_index(drop=True)
    # As if the sink were of another program that listens to the same topics.
    (sink,) = [one["pid"] for one in outcome["processes"] if one["name"] == "sink"]
    path.write_text(json.dumps(outcome | {"others": [1, sink]}))
    measured = measure(relay, RELAY)
    assert measured.read("hops")["subscription_node"].tolist() == ["/relay_0"]
    assert measured.read("transfers").equals(former)
    assert measured.counts["lost"] == 0
    assert set(measured.read("chains")["hops"]) == {1}
    findings = measured.read("findings").set_index("code")
    assert findings.loc["foreign_processes", "count"] == 1


@pytest.fixture
def images(sample: Callable[[str], Path], tmp_path: Path) -> Path:
    """A session of 600 images of which 57 are lost; with the subscriber's own stamps."""
    source, cell = sample("cyc_img720p30"), tmp_path / "cell"
    results = cell / "scenario" / "results"
    results.mkdir(parents=True)
    shutil.copytree(source / "ust", cell / "trace")
    for path in (source / "truth").glob("*.csv"):
        rows = pd.read_csv(path)
        if (rows["event"] == "cb_start").any():
            rows[["node", "event", "seq", "t_mono_ns", "src_mono_ns"]].to_csv(
                results / path.name, index=False
            )
    return cell


def lossy(measured: CellTables) -> pd.Series[int]:
    hops = measured.read("hops")
    return hops[hops["published"] == IMAGES].iloc[0]


def test_loss_by_matches_is_that_of_the_nodes_sequence_numbers(images: Path) -> None:
    measured = measure(images, HopSelection("*img*"))
    if measured.read("hops").empty:
        measured = measure(images, HopSelection())
    hop = lossy(measured)
    assert hop["lost"] + hop["before_first"] + hop["after_last"] == LOST
    assert hop["received"] == hop["own_received"] == IMAGES - LOST
    assert hop["lost"] == hop["own_lost"] == hop["matched_lost"]
    assert "loss_disagreements" not in set(measured.read("findings")["code"])


def test_a_node_that_counts_otherwise_is_a_finding(images: Path) -> None:
    (path,) = [
        path
        for path in (images / "scenario" / "results").glob("*.csv")
        if (pd.read_csv(path)["event"] == "cb_start").sum() == IMAGES - LOST
    ]
    rows = pd.read_csv(path)
    rows.drop(rows.index[rows["seq"] == rows["seq"].iloc[len(rows) // 2]]).to_csv(path, index=False)
    measured = measure(images, HopSelection())
    findings = measured.read("findings").set_index("code")
    assert findings.loc["loss_disagreements", "count"] == 1
    assert lossy(measured)["own_received"] == IMAGES - LOST - 1


def test_what_a_relay_missed_is_not_lost_by_the_hop_after_it(relay: Path) -> None:
    path = relay / "scenario" / "results" / "sink.csv"
    rows = pd.read_csv(path)
    # As if the source's message 30 had been lost before the relay, and one more been sent.
    rows.loc[rows["seq"] >= 30, "seq"] += 1
    rows.to_csv(path, index=False)
    measured = measure(relay, RELAY)
    assert "loss_disagreements" not in set(measured.read("findings")["code"])
    hops = measured.read("hops").set_index("subscription_node")
    assert pd.isna(hops.loc["/sink", "own_lost"])
    assert hops.loc["/relay_0", "own_lost"] == 0


def test_a_broken_file_of_a_node_is_a_finding_and_no_end(relay: Path) -> None:
    (relay / "scenario" / "results" / "sink.json").write_text('{"lost": ')
    findings = measure(relay, RELAY).read("findings").set_index("code")
    assert findings.loc["unreadable_own_files", "count"] == 1


def test_broken_notes_of_the_runner_are_a_finding_and_no_end(relay: Path) -> None:
    (relay / "scenario" / "resources.csv").write_text("process,t_ns\n/sink,soon\n")
    measured = measure(relay, RELAY)
    assert measured.read("resources").empty
    findings = measured.read("findings").set_index("code")
    assert findings.loc["unreadable_own_files", "count"] == 1


def test_tables_are_made_once_and_again_when_they_do_not_hold(relay: Path) -> None:
    contents = relay / SUBDIRECTORY / CONTENTS

    def made(wanted: HopSelection = RELAY) -> int:
        measure(relay, wanted)
        return contents.stat().st_mtime_ns

    first = made()
    assert made() == first
    other = made(HopSelection("/chain_*", warm_up=7))
    assert other > first
    assert (
        measure(relay, HopSelection("/chain_*", warm_up=7)).read("transfers")["warm_up"].sum() == 14
    )
    (relay / SUBDIRECTORY / "hops.parquet").unlink()
    again = made(HopSelection("/chain_*", warm_up=7))
    assert again > other
    (relay / "scenario" / "results" / "sink.csv").touch()
    touched = made(HopSelection("/chain_*", warm_up=7))
    assert touched > again
    document = json.loads(contents.read_text())
    document["key"]["strata"] = "another version"
    contents.write_text(json.dumps(document))
    assert made(HopSelection("/chain_*", warm_up=7)) > touched


def test_only_the_columns_asked_for_are_read(relay: Path) -> None:
    rows = measure(relay, RELAY).read("transfers", ["number", "whole_ns"])
    assert rows.columns.tolist() == ["number", "whole_ns"]
    assert str(rows["whole_ns"].dtype) == "Int64"


def test_a_hop_over_which_nothing_came_lost_all(relay: Path) -> None:
    measured = measure(relay, HopSelection("/chain_9"))
    assert measured.line == "nothing measured: 0 published, none taken"
    assert "unmeasured_cells" in set(measured.read("findings")["code"])


def test_a_run_that_is_all_warm_up_says_so(relay: Path) -> None:
    published = int(measure(relay, RELAY).read("hops")["published"].sum())
    measured = measure(relay, HopSelection("/chain_*", warm_up=published))
    assert measured.line == f"nothing measured: {published} published, all are warm-up"


@given(st.integers(0, 40), st.sets(st.integers(0, 39)), st.integers(0, 45))
def test_every_publication_has_one_fate(count: int, taken: set[int], warm_up: int) -> None:
    taken = {number for number in taken if number < count}
    sent = pd.DataFrame({"number": range(count)})
    found = fate(sent, pd.DataFrame({"number": sorted(taken)}, dtype="int64"), warm_up)
    parts = ("left_out", "before_first", "received", "lost", "after_last")
    assert found["published"] == count == sum(found[part] for part in parts)
    counted = range(warm_up, count)
    assert found["received"] == len(taken & set(counted))
    if taken:
        # What lies between two that were taken is lost, whatever the warm-up.
        between = set(range(min(taken), max(taken) + 1))
        received = taken & set(counted)
        expected = between - taken if received else set()
        assert found["lost"] == len(expected & set(counted))
    else:
        assert found["lost"] == len(counted)


def test_a_node_may_know_of_losses_at_its_ends_and_of_no_others() -> None:
    seen = {"received": 10, "lost": 2, "before_first": 1, "after_last": 1}
    told = [lost for lost in range(7) if agree(10, lost, seen)]
    assert told == [2, 3, 4]
    assert agree(10, None, seen)
    # A node that knows a lower bound may know of fewer than the trace, and of no more.
    told = [lost for lost in range(7) if agree(10, lost, seen, is_lower_bound=True)]
    assert told == [0, 1, 2, 3, 4]
    assert not agree(9, 2, seen)


def test_only_tables_of_its_own_are_made_anew(relay: Path) -> None:
    measure(relay, RELAY)
    own = relay / SUBDIRECTORY
    (own / "notes.txt").write_text("mine")
    (relay / "scenario" / "outcome.json").touch()
    with pytest.raises(OutputError, match=r"notes\.txt was not written by Strata"):
        measure(relay, RELAY)
    assert (own / "notes.txt").read_text() == "mine"
