# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A campaign's directory becomes the contents of its report."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import pytest
from measured_campaign import RELAY, make_campaign
from rich.console import Console

from strata.campaign.cells import Variant, expand, on_machines
from strata.campaign.directory import make_directory
from strata.campaign.load import load_campaign
from strata.show.html.campaign.figure_parts import figure_part
from strata.show.html.campaign.page import render_page
from strata.show.terminal.campaign import print_contents
from strata.study.gather_report import gather
from strata.study.report_contents import Chart, Contents
from strata.study.tables.table import Table

FIGURES = """\
    figures:
      - {kind: boxplot, of: latency, x: durability, where: {reliability: reliable}}
      - {kind: boxplot, of: latency, x: durability}
      - {kind: loss, rows: reliability}
  chains:
"""
MANY, FEW = 5, 3


@pytest.fixture(scope="module")
def contents(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Contents:
    """Four finished cells; two of them have a warning, the later one more of it."""
    text = RELAY.replace("  chains:\n", FIGURES, 1)
    results = make_campaign(tmp_path_factory.mktemp("r"), text, {"qos/": sample("cell_relay")})
    cells = sorted(results.study("qos").finished, key=lambda one: one.id)
    for outcome, count in zip(cells, (FEW, MANY), strict=False):
        path = outcome.directory / "measured" / "findings.parquet"
        rows = pd.read_parquet(path)
        told = {"code": "lost_messages", "severity": "warning", "count": count}
        row = pd.DataFrame([{**told, "text": f"{count} messages were lost."}])
        pd.concat([rows, row.reindex(columns=rows.columns)]).to_parquet(path, index=False)
    return gather(results.directory.path)


def test_findings_of_cells_are_told_by_the_cell_that_has_most(contents: Contents) -> None:
    (found,) = (one for one in contents.findings if "messages were lost" in one.text)
    assert (found.severity, found.text, found.cells) == ("warning", "5 messages were lost.", 2)
    ids = sorted(cell.cell_id for cell in contents.cells if cell.status == "finished")
    assert found.where == f"{ids[1]}; 2 cells in all"


def test_a_study_names_its_client_library(contents: Contents) -> None:
    ran, not_run = contents.studies
    assert (ran.study.client, not_run.study.client) == ("rclpy", "")
    told = "Measured here with the client library"
    assert render_page(contents).count(told) == 1
    out = io.StringIO()
    print_contents(contents, Console(file=out, width=200))
    assert "measured here with the client library rclpy" in out.getvalue()


def test_figures_of_a_study_keep_the_cells_that_they_ask_for(contents: Contents) -> None:
    (part, _) = contents.studies
    some, every, table = part.parts
    assert isinstance(some, Chart) and isinstance(every, Chart) and isinstance(table, Table)
    captions = [figure_part(chart, part.study, "").caption[0] for chart in (some, every)]
    assert [text.split(" of ")[1].split(" (")[0] for text in captions] == ["2 cells", "4 cells"]
    assert table.frame["reliability"].tolist() == ["reliable", "best_effort"]
    assert contents.count("finished") == 4 and contents.count("not run yet") == 4
    assert not contents.has_imports
    assert part.answer[-1] == (
        "No message of the measured hops was lost (4 cells, 440 messages: the loss is 0.7 % at "
        "most, 95 % sure)"
    )


@pytest.mark.parametrize("names", [(), ("b",)])
def test_the_limit_of_a_link_is_not_that_of_machines(tmp_path: Path, names: Sequence[str]) -> None:
    loaded, variant = load_campaign("sizes"), Variant(seed=1, quick=True)
    cells = on_machines(expand(loaded, variant), names)
    cells = [one for one in cells if one.study == "two_hosts_throughput"]
    directory = make_directory(tmp_path / "campaign", loaded, variant, cells)
    directory.path.mkdir()
    directory.write()
    part = next(
        one for one in gather(directory.path).studies if one.study.name == "two_hosts_throughput"
    )
    limits = [one.request.limit for one in part.parts if isinstance(one, Chart)]
    assert [limit[0] for limit in limits if limit] == ([] if names else [118])
