# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What makes the difference between two modes, and how reports say it; from a made relay chain."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from made_analysis import Relay, make
from page_reader import read
from table_rows import frame_of

from strata.analysis import Analysis, Bottleneck
from strata.cli.console import make_console
from strata.schema import tables
from strata.schema.rows import Coded, Rows
from strata.show.document.analysis import document
from strata.show.html import render_page
from strata.show.terminal.analysis import print_analysis
from strata.show.terminal.sparkline import sparkline
from strata.stats.bottleneck import find_bottlenecks
from strata.stats.causes import Causes
from strata.stats.chain_facts import ChainFacts, chain_facts
from strata.stats.mode_tables import mode_tables
from strata.stats.segments import Segments

BLOCKED_NS = 30_000_000


@pytest.fixture(scope="module")
def blocked() -> Analysis:
    """Every tenth message waits 30 ms behind the callback `blocker` on its last hop."""
    return make(Relay(messages=2_000, blocked_ns=BLOCKED_NS))


def facts_of(analysis: Analysis) -> Mapping[int, ChainFacts]:
    return chain_facts(
        Rows.of_frame(tables.CHAINS, analysis.chains),
        Rows.of_frame(tables.CHAIN_INSTANCES, analysis.chain_instances),
        Segments.of_rows(Rows.of_frame(tables.CHAIN_SEGMENTS, analysis.chain_segments)),
        Rows.of_frame(tables.MESSAGES, analysis.messages),
        Rows.of_frame(tables.HOPS, analysis.hops),
    )


def of_chains(analysis: Analysis) -> pd.DataFrame:
    return analysis.modes[analysis.modes["chain_id"].notna()]


def test_the_cause_that_differs_is_named_with_its_share(blocked: Analysis) -> None:
    fast, slow = of_chains(blocked).to_dict("records")
    assert (fast["count"], slow["count"]) == (1_800, 200)
    assert pd.isna(fast["layer"])
    assert (slow["layer"], slow["where"]) == (
        "executor wait",
        "behind blocker [/slow] (/distractor)",
    )
    assert slow["slower_ns"] == pytest.approx(BLOCKED_NS, rel=0.01)
    assert slow["cause_share"] == pytest.approx(1, abs=0.01)
    assert slow["layer_share"] == pytest.approx(slow["cause_share"], abs=0.01)


def test_only_the_hop_that_waits_has_two_modes(blocked: Analysis) -> None:
    assert blocked.hops["modes"].tolist() == [1, 1, 1, 2]
    of_hops = blocked.modes[blocked.modes["hop_id"].notna()]
    assert of_hops["hop_id"].tolist() == [3, 3]
    assert of_hops["layer"].isna().all()


def test_a_layer_that_is_spread_over_the_hops_is_told_as_a_whole() -> None:
    relay = Relay(messages=1_200)
    usual, slow = make(relay), make(replace(relay, seed=8))
    # On all four hops of every third message the middleware takes 2 ms more.
    late = slow.chain_segments["layer"].eq("middleware") & (
        slow.chain_segments["chain_instance_id"] % 3 == 0
    )
    segments = slow.chain_segments.assign(
        duration_ns=slow.chain_segments["duration_ns"] + np.where(late, 2_000_000, 0)
    )
    sums = segments.groupby("chain_instance_id")["duration_ns"].sum()
    instances = slow.chain_instances.assign(latency_ns=sums.to_numpy())
    modes = _modes_of(usual, instances, segments)
    assert modes["share"].round(3).tolist() == [0.667, 0.333]
    assert modes["slower_ns"].iloc[1] == pytest.approx(8e6, rel=0.02)
    assert modes["cause_share"].iloc[1] == pytest.approx(0.25, abs=0.02)
    assert modes["layer_share"].iloc[1] == pytest.approx(1, abs=0.02)
    (bottleneck,) = _judged(usual.chains, usual.blame, modes, facts_of(usual))
    assert "2 modes: " in bottleneck.text
    assert "(middleware of all hops together: all)" in bottleneck.text


def _modes_of(analysis: Analysis, instances: pd.DataFrame, segments: pd.DataFrame) -> pd.DataFrame:
    def by_hop(rows: Rows) -> Causes:
        nothing = np.zeros(len(rows), np.int64)
        return Causes(
            rows["chain_id"],
            rows["chain_instance_id"],
            rows["message_id"],
            rows.words("layer"),
            Coded.of(f"hop {hop}" for hop in rows["hop"].tolist()),
            rows["duration_ns"],
            nothing,
            nothing,
            nothing.astype(bool),
        )

    found = mode_tables(
        Rows.of_frame(tables.CHAINS, analysis.chains),
        Rows.of_frame(tables.CHAIN_INSTANCES, instances),
        Segments.of_rows(Rows.of_frame(tables.CHAIN_SEGMENTS, segments)),
        Rows.of_frame(tables.HOPS, analysis.hops),
        Rows.of_frame(tables.MESSAGES, analysis.messages),
        by_hop,
    )
    modes = frame_of(found.modes)
    return modes[modes["chain_id"].notna()]


def _judged(
    chains: pd.DataFrame,
    blame: pd.DataFrame,
    modes: pd.DataFrame,
    facts: Mapping[int, ChainFacts],
) -> tuple[Bottleneck, ...]:
    return find_bottlenecks(
        Rows.of_frame(tables.CHAINS, chains),
        Rows.of_frame(tables.BLAME, blame),
        Rows.of_frame(tables.MODES, modes),
        facts,
    )


def test_a_chain_of_one_mode_says_nothing_of_modes() -> None:
    analysis = make(Relay(messages=500))
    assert analysis.chains["modes"].tolist() == [1]
    assert analysis.modes.empty
    assert "modes" not in analysis.bottlenecks[0].text
    assert document(analysis)["chains"][0]["modes"] == []


def test_few_messages_are_not_judged() -> None:
    chain = document(make(Relay(messages=20, blocked_ns=BLOCKED_NS)))["chains"][0]
    assert (chain["dip"], chain["dip_p"], chain["modes"]) == (None, None, [])


def test_the_bottleneck_tells_the_modes(blocked: Analysis) -> None:
    (bottleneck,) = blocked.bottlenecks
    fast, slow = of_chains(blocked)["p50_ns"]
    assert f"2 modes: {fast / 1e6:.2f} ms (90%) and {slow / 1e6:.1f} ms (10%); the slow one is" in (
        bottleneck.text
    )
    assert "all of it executor wait behind blocker [/slow] (/distractor). " in bottleneck.text


def test_the_document_has_the_modes_of_chains_and_hops(blocked: Analysis) -> None:
    made = document(blocked)
    slow = made["chains"][0]["modes"][1]
    assert slow["mode"] == 1
    assert slow["share"] == 0.1
    assert slow["low_ns"] > BLOCKED_NS
    assert slow["layer"] == "executor wait"
    assert [len(hop["modes"]) for hop in made["hops"]] == [0, 0, 0, 2]
    assert "layer" not in made["hops"][3]["modes"][0]
    assert list(made["bottlenecks"][0]["nodes"]) == made["chains"][0]["nodes"]


def test_the_page_names_the_modes(blocked: Analysis) -> None:
    section = read(render_page(blocked, title="made")).by_id("chain-0").words
    assert "2 modes: " in section
    assert "all of it executor wait behind blocker [/slow] (/distractor)" in section
    assert "modes" not in read(render_page(make(Relay()), title="made")).by_id("chain-0").words


def test_chains_of_one_name_are_told_apart_by_their_nodes() -> None:
    one = make(Relay(hops=1))
    chains = pd.concat(
        [one.chains, one.chains.assign(chain_id=1, nodes="/relay_0 -> /other")], ignore_index=True
    )
    frames = [
        pd.concat([frame, frame.assign(chain_id=1)], ignore_index=True)
        for frame in (one.chain_instances, one.chain_segments, one.chain_layers, one.blame)
    ]
    facts = dict.fromkeys((0, 1), facts_of(one)[0])
    bottlenecks = _judged(chains, frames[3], tables.MODES.empty(), facts)
    assert [item.nodes for item in bottlenecks] == [
        ("/relay_0", "/relay_1"),
        ("/relay_0", "/other"),
    ]
    assert bottlenecks[1].text.startswith("/relay_0 -> /other: ")
    both = one.replaced(
        chains=chains,
        chain_instances=frames[0],
        chain_segments=frames[1],
        chain_layers=frames[2],
        blame=frames[3],
        bottlenecks=bottlenecks,
    )
    text = _printed(both)
    assert "/chain_0 (/relay_0 -> /relay_1)" in text
    assert "/chain_0 (/relay_0 -> /other)" in text
    assert "/chain_0 (" not in _printed(one)


def _printed(analysis: Analysis) -> str:
    file = io.StringIO()
    console = make_console(file)
    console.width = 80
    print_analysis(analysis, console, sections=("layers",))
    assert max(map(len, file.getvalue().splitlines())) <= 80
    return file.getvalue()


def test_a_line_of_bars_stands_under_each_chain(blocked: Analysis) -> None:
    (line,) = (line for line in _printed(blocked).splitlines() if "█" in line and line[0].isdigit())
    chain = blocked.chains.iloc[0]
    assert line.startswith(f"{chain['latency_min_ns'] / 1e3:.0f} us ")
    assert line.rstrip().endswith("ms")


def test_bars_are_as_high_as_a_slice_has_values_and_blank_only_without() -> None:
    values = np.asarray([100] * 80 + [1_000] * 1 + [10_000] * 40)
    assert sparkline(values, 100, 10_000, 5) == "█ ▁ ▄"
    assert sparkline(values, 10, 1_000_000, 5) == " █▁▄ "
    assert sparkline(np.empty(0, np.int64), 1, 10, 4) == "    "
    assert sparkline(np.asarray([7, 7]), 7, 7, 3) == " █ "
