# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata campaign report` for machines, and with gaps: every table, and one sentence per gap."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result
from measured_campaign import RELAY, make_campaign

from strata.campaign.model import Figure
from strata.cli.campaign_report import command
from strata.errors import CampaignError
from strata.show.document.campaign_markdown import markdown
from strata.study.campaign_results import Results, open_results
from strata.study.gather_report import gather
from strata.study.tables import table_of

FIGURES = """\
    figures:
      - {kind: summary, of: latency, rows: [reliability, durability]}
      - {kind: boxplot, of: latency, x: durability}
      - {kind: loss, rows: reliability, classes: true}
      - {kind: layers, rows: reliability}
      - {kind: anova, of: latency, factors: [reliability, durability]}
      - {kind: pairs, of: latency, over: reliability}
      - {kind: side_by_side, rows: durability, over: reliability}
  chains:
"""
TEXT = RELAY.replace("  chains:\n", FIGURES, 1)
CELL = "qos/reliable+volatile/r1"


@pytest.fixture(scope="module")
def made(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Four finished cells of one study, none of the other."""
    place = tmp_path_factory.mktemp("report")
    return make_campaign(place, TEXT, {"qos/": sample("cell_relay")})


@pytest.fixture
def copy(made: Results, tmp_path: Path) -> Path:
    """A copy of the campaign's directory, to be damaged."""
    return Path(shutil.copytree(made.directory.path, tmp_path / "copy"))


def report(*arguments: object) -> Result:
    return CliRunner().invoke(command, list(map(str, arguments)))


@pytest.fixture(scope="module")
def document(made: Results) -> dict[str, Any]:
    done = report(made.directory.path, "--format", "json")
    assert done.exit_code == 0, done.output
    return dict(json.loads(done.stdout))


def test_the_document_has_every_cell_answer_and_table(
    made: Results, document: dict[str, Any]
) -> None:
    assert (document["schema"], document["name"]) == (1, "made")
    assert document["counts"] == {"finished": 4, "failed": 0, "skipped": 0, "not run yet": 4}
    assert [cell["id"] for cell in document["cells"]] == [one.id for one in made.outcomes]
    qos, chains = document["studies"]
    assert [table["name"] for table in qos["tables"]] == [
        "qos.1_summary_latency",
        "qos.2_loss",
        "qos.3_layers_layer",
        "qos.4_anova_latency",
        "qos.5_pairs_latency",
        "qos.6_side_by_side",
    ]
    assert [figure["kind"] for figure in qos["figures"]] == ["boxplot"]
    contents = gather(made.directory.path)
    assert len(qos["answers"]) == len(contents.studies[0].answer) > 1
    assert chains["answers"] == ["No cell of this study has finished: its cells have not run yet."]
    assert document["original"]["corrections"] == ["one", "two"]


def test_rows_are_the_tables_with_durations_in_ns(made: Results, document: dict[str, Any]) -> None:
    (summary, *_) = document["studies"][0]["tables"]
    figure = Figure(kind="summary", of="latency", rows=["reliability", "durability"])
    frame = table_of(made, "qos", figure).frame
    units = {column["name"]: column["unit"] for column in summary["columns"]}
    assert (units["p50"], units["count"]) == ("ns", None)
    assert [row["p50"] for row in summary["rows"]] == frame["p50"].tolist()
    assert all(type(row["count"]) is int for row in summary["rows"])
    assert 1e5 < summary["rows"][0]["p50"] < 1e8
    assert [column["name"] for column in summary["columns"]] == list(summary["rows"][0])


def test_each_table_is_a_file_and_none_is_replaced(
    made: Results, document: dict[str, Any], tmp_path: Path
) -> None:
    target = tmp_path / "tables"
    arguments = (made.directory.path, "--format", "csv", "-o", target)
    done = report(*arguments)
    assert done.exit_code == 0, done.output
    tables = [table for study in document["studies"] for table in study["tables"]]
    names = {"cells", "answers", "findings", "machine", *(table["name"] for table in tables)}
    assert {file.stem for file in target.iterdir()} == names
    for table in tables:
        with (target / f"{table['name']}.csv").open() as file:
            head, *rows = csv.reader(file)
        assert len(head) == len(table["columns"]) and len(rows) == len(table["rows"])
    summary = pd.read_csv(target / "qos.1_summary_latency.csv")
    assert summary["p50_ns"].tolist() == [row["p50"] for row in tables[0]["rows"]]
    answers = pd.read_csv(target / "answers.csv")
    assert answers["answer"].tolist() == [
        text for study in document["studies"] for text in study["answers"]
    ]
    again = report(*arguments)
    assert again.exit_code == 1 and "the file exists" in str(again.exception)
    assert report(*arguments, "--force").exit_code == 0


def escaped(text: str) -> str:
    return re.sub(r"([\\`*\[\]<|])", r"\\\1", text)


def test_markdown_has_every_answer_and_table(
    made: Results, document: dict[str, Any], tmp_path: Path
) -> None:
    target = tmp_path / "report.md"
    done = report(made.directory.path, "--format", "markdown", "-o", target)
    assert (done.exit_code, done.stdout) == (0, "")
    lines = target.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Made"
    assert [line[3:] for line in lines if line.startswith("## ")][:2] == ["qos", "chains"]
    for study in document["studies"]:
        assert [f"* {escaped(text)}" in lines for text in study["answers"]].count(False) == 0
        for table in study["tables"]:
            at = next(at for at, line in enumerate(lines) if f"(`{table['name']}`)" in line)
            rows = list(takewhile(lambda line: line.startswith("|"), lines[at + 2 :]))
            assert len(rows) == (2 + len(table["rows"]) if table["rows"] else 0)
            assert {row.replace(r"\|", "").count("|") for row in rows} <= {
                len(table["columns"]) + 1
            }
    again = report(made.directory.path, "--format", "markdown", "-o", target)
    assert again.exit_code != 0
    table = report(made.directory.path, "--format", "markdown", "--table", "qos.1_summary_latency")
    assert table.stdout.splitlines()[0] == "**Latency (ms)** (`qos.1_summary_latency`)"
    assert table.stdout in target.read_text(encoding="utf-8")


def test_markdown_shows_text_as_it_is(made: Results) -> None:
    contents = gather(made.directory.path)
    text = markdown(replace(contents, question="a | b <img src=x> *c* `d` [e](f) \x1b[31m"))
    line = text.splitlines()[2]
    assert line.startswith(r"a \| b \<img src=x> \*c\* \`d\` \[e\](f) ")
    assert "\x1b" not in text


def test_one_table_goes_to_standard_output(made: Results) -> None:
    path = made.directory.path
    done = report(path, "--format", "csv", "--table", "qos.2_loss")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0].startswith("reliability,published,")
    assert len(done.stdout.splitlines()) == 3
    assert "--table qos.2_loss" in report(path, "--format", "text").stdout
    unknown = report(path, "--format", "csv", "--table", "qos.9")
    assert isinstance(unknown.exception, CampaignError)
    assert "Use one of cells, answers, findings, machine, qos.1_summary_latency, " in str(
        unknown.exception
    )
    assert report(path, "--format", "csv").exit_code == 2
    assert report(path, "--table", "cells").exit_code == 2


def failed(path: Path) -> str:
    """The reason of the one cell that is failed, with the rest of the report as it was."""
    contents = gather(path)
    assert contents.count("finished") == 3
    (cell,) = (cell for cell in contents.cells if cell.status == "failed")
    assert cell.cell_id == CELL
    assert not contents.studies[0].tables["qos.1_summary_latency"].frame.empty
    return cell.reason


def test_a_cell_without_a_trace_is_one_gap(copy: Path) -> None:
    for name in ("trace", "measured"):
        shutil.rmtree(copy / "cells" / CELL / name)
    reason = failed(copy)
    assert reason.startswith("it ran, and cannot be measured: Cannot ")
    done = report(copy, "--format", "text")
    assert done.exit_code == 0 and "1 failed" in done.stdout


def test_a_damaged_table_is_one_gap(copy: Path) -> None:
    table = copy / "cells" / CELL / "measured" / "hops.parquet"
    table.write_bytes(table.read_bytes()[:100])
    assert "hops.parquet: it is damaged. Remove " in failed(copy)


def test_a_cell_that_was_interrupted_is_not_run_yet(copy: Path) -> None:
    (copy / "cells" / CELL / "cell.json").write_text('{"id": ')
    contents = gather(copy)
    assert (contents.count("finished"), contents.count("not run yet")) == (3, 5)


def test_cells_of_a_study_or_level_that_is_gone_are_counted(copy: Path) -> None:
    file = copy / "campaign.yaml"
    file.write_text(
        file.read_text()
        .split("  chains:\n")[0]
        .replace("levels: [volatile, transient_local]", "levels: [volatile]")
    )
    contents = gather(copy)
    (found,) = (one for one in contents.findings if one.code == "unknown_cells")
    assert found.cells == 6 and "no such study or level" in found.text
    assert len(contents.cells) == 2
    assert report(copy, "--format", "text").exit_code == 0


def test_a_campaign_without_cells_is_reported(made: Results, tmp_path: Path) -> None:
    path = shutil.copytree(made.directory.path, tmp_path / "empty", ignore=lambda *_: ["cells"])
    plan = json.loads((path / "campaign.json").read_text())
    (path / "campaign.json").write_text(json.dumps({**plan, "cells": []}))
    for form in ("text", "json"):
        done = report(path, "--format", form)
        assert done.exit_code == 0, done.output
    assert "0 cells" in report(path, "--format", "text").stdout
    page = report(path, "-o", tmp_path / "page.html")
    assert page.exit_code == 0, page.output


@pytest.mark.parametrize(
    ("removed", "says"),
    [("campaign.json", "No such file or directory"), ("campaign.yaml", "Cannot read campaign")],
)
def test_what_is_no_campaign_is_one_sentence(copy: Path, removed: str, says: str) -> None:
    (copy / removed).unlink()
    done = report(copy)
    assert isinstance(done.exception, CampaignError)
    assert says in str(done.exception) and "\n" not in str(done.exception)
    with pytest.raises(CampaignError):
        open_results(copy)
