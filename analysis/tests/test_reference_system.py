# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The Autoware reference system: 24 nodes in one executor that is full, against its own output."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from page_reader import read
from rich.console import Console

import strata
from strata.analysis import Analysis
from strata.read.links import read_links
from strata.schema.events import INTERNAL_TOPICS
from strata.show.document.analysis import document
from strata.show.html import render_page
from strata.show.terminal.analysis import print_analysis

LINKS = Path(__file__).parent / "traces" / "ref_multi_full-links.yaml"
NAME = "ref_multi_full"


@pytest.fixture(scope="module")
def path(sample: Callable[[str], Path]) -> Path:
    return sample(NAME)


@pytest.fixture(scope="module")
def analysis(path: Path) -> Analysis:
    return strata.analyze(path, links=read_links(LINKS))


def printed_ms(path: Path, sink: str) -> list[float]:
    """The latencies that the program printed for the samples that reached a sink, in order."""
    found, current = [], ""
    for line in (path / "truth.stdout").read_text(errors="replace").splitlines():
        head = re.match(r"sample path: \((\w+)\)", line)
        current = head[1] if head else current
        value = re.match(r"  latency: +([\d.]+)ms", line)
        if value and current == sink:
            found.append(float(value[1]))
    return found


def sink_ms(analysis: Analysis, sink: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Chains that end at a sink, in order of time: from the first publish to its callback's start.

    Several of a message where it has several causes.
    """
    ends = analysis.chain_instances.merge(
        analysis.messages[["message_id", "subscription_node", "callback_start_ns"]],
        on="message_id",
    ).sort_values("callback_start_ns", kind="stable")
    own = ends[ends["subscription_node"] == f"/{sink}"]
    return np.asarray((own["callback_start_ns"] - own["begin_ns"]).to_numpy(np.float64) / 1e6)


def test_its_nodes_hops_and_chains_are_found(analysis: Analysis) -> None:
    (process,) = analysis.trace.processes
    assert len(process.nodes) == 24
    assert len(analysis.hops[~analysis.hops["topic"].isin(INTERNAL_TOPICS)]) == 29
    assert len(analysis.chains) == 51


def test_latencies_are_those_that_the_program_printed(path: Path, analysis: Analysis) -> None:
    """The program reads its clock in the callback, so its figures are a little larger.

    It prints fewer samples than there are, all of them in order.
    """
    printed = printed_ms(path, "IntersectionOutput")
    found = sink_ms(analysis, "IntersectionOutput")
    nearest = [int(np.abs(found - value).argmin()) for value in printed]
    assert len(printed) == 42
    assert (np.diff(nearest) > 0).all()
    difference = np.asarray(printed) - found[nearest]
    assert (difference > 0).all() and difference.max() < 0.02


def test_ways_over_fan_in_are_among_those_that_the_program_printed(
    path: Path, analysis: Analysis
) -> None:
    """The program follows one of the causes of each message; Strata has a chain for each."""
    printed = np.asarray(printed_ms(path, "VehicleDBWSystem"))
    found = sink_ms(analysis, "VehicleDBWSystem")
    apart = np.abs(printed[:, None] - found[None, :]).min(axis=1)
    assert (apart < 0.06).sum() >= 39
    assert len(printed) == 41
    assert printed.max() == 1837.87
    assert apart[printed.argmax()] < 0.01


def test_one_sentence_says_that_the_executor_is_full_and_with_what(analysis: Analysis) -> None:
    assert analysis.system.stands_out
    first = analysis.system_causes.iloc[0]
    assert (first["kind"], first["layer"]) == ("executor", "executor wait")
    assert first["busy"] > 0.97
    assert 0.8 < first["share"] < 0.9
    text = analysis.system.text
    assert text.startswith("The executor of 24 nodes (threads 171, 190) is full: ")
    assert "97 % of its time" in text and "waits for work for 1.3 %" in text
    assert "filled by the 100 ms timer of /BehaviorPlanner (12 %)" in text
    # No other cause has a third of the time: nobody else is named.
    assert analysis.system_causes["stands_out"].sum() == 1


def test_what_fills_the_executor_is_all_that_its_threads_ran(analysis: Analysis) -> None:
    load, threads = analysis.executor_load, analysis.executor_threads
    ran = load.loc[load["work"] == "callback", "duration_ns"].sum()
    assert ran == threads["executing_ns"].sum()
    assert load["rank"].tolist() == list(range(1, len(load) + 1))
    assert (load["duration_ns"].diff().dropna() <= 0).all()


def test_chains_are_shown_in_groups(analysis: Analysis) -> None:
    groups = analysis.chain_groups
    assert groups["chains"].tolist() == [12, 12, 10, 8, 6, 2, 1]
    assert groups["nodes"].iloc[0] == "/FrontLidarDriver -> ... -> /VehicleDBWSystem"
    assert groups["count"].sum() == analysis.chains["count"].sum()
    for group in groups.to_dict("records"):
        members = analysis.chain_group_members
        own = members.loc[members["group_id"] == group["group_id"], "chain_id"]
        medians = analysis.chains.set_index("chain_id").loc[own, "latency_p50_ns"]
        assert (medians.min(), medians.max()) == (group["p50_low_ns"], group["p50_high_ns"])
        assert medians[group["chain_id"]] == medians.max()


def test_the_text_is_read_in_a_terminal_of_80_columns(analysis: Analysis) -> None:
    out = io.StringIO()
    print_analysis(analysis, Console(file=out, width=80))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    # 51 chains of up to 11 hops.
    assert len(lines) <= 40
    assert "BOTTLENECK  executor of 24 nodes is full: busy 98 %, threads 171, 190" in lines[:3]
    # It is in sight also where only the last lines are.
    assert "executor of 24 nodes is full" in "".join(lines[-4:])
    heads = [line for line in lines if " chains /" in line]
    assert [int(line.split()[0]) for line in heads] == [10, 12, 12, 8, 6, 2]
    assert heads[1].split("p50 ")[1] == "998 ms to 1.92 s"


def test_the_layers_are_shown_by_groups(analysis: Analysis) -> None:
    out = io.StringIO()
    print_analysis(analysis, Console(file=out, width=80), sections=("causes", "layers"))
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    assert text.index("System: The executor of 24 nodes") < text.index("chains, in groups")
    assert "12 chains of 7 to 11 hops, 488 messages" in text
    assert "... and 44 more chains (--all)" in text


def test_the_page_begins_with_the_system(analysis: Analysis) -> None:
    page = read(render_page(analysis, title="reference"))
    first = page.every("main")[0].every("section")[0]
    assert first.attributes["id"] == "overview"
    verdict = first.every("p")[0].words
    assert "executor of 24 nodes is full: busy 98 %, threads 171, 190" in verdict.replace(
        "\xa0", " "
    )
    system = next(one for one in page.every("section") if one.attributes.get("id") == "system")
    load, groups, causes = system.every("table")
    first_row = load.every("tbody")[0].every("tr")[0]
    cells = [cell.words for cell in first_row.every("td")]
    assert cells == ["/BehaviorPlanner", "100 ms", "callback", "", "12 %", "88"]
    assert [row.words.split()[0] for row in groups.every("tr")][:2] == [
        "/FrontLidarDriver",
        "/RearLidarDriver",
    ]
    assert "executor wait" in causes.words
    # One chain of each group has a section; no two are of one group.
    shown = {int(item.attributes["id"][6:]) for item in page.every("section", "chain")}
    members = analysis.chain_group_members.set_index("chain_id")["group_id"]
    assert len(shown) == len(set(members[list(shown)])) == 6


def test_the_document_has_the_system(analysis: Analysis) -> None:
    made = document(analysis)
    assert made["system"]["text"] == analysis.system.text
    assert made["system"]["causes"][0]["kind"] == "executor"
    assert made["executors"][0]["load"][0]["node"] == "/BehaviorPlanner"
    groups = made["chain_groups"]
    assert sorted(at for group in groups for at in group["chains"]) == list(range(51))
    assert made["chains"][groups[0]["slowest"]]["latency_ns"]["p50"] == groups[0]["p50_ns"][1]
