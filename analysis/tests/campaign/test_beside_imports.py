# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A campaign that has imports, with other machines beside it; and one of a lidar's stamps."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from measured_campaign import LIDAR, RELAY, make_campaign
from test_camera_imports import run_text

from strata.campaign.model import Figure
from strata.cli.campaign_import import command as import_command
from strata.cli.campaign_report import command as report_command
from strata.show.document.campaign_markdown import markdown
from strata.study.beside_campaigns import with_beside
from strata.study.campaign_results import Results, open_results
from strata.study.gather_report import gather, measured_results
from strata.study.tables import Table, table_of

FIGURES = """\
    figures:
      - {kind: loss, rows: [reliability, durability]}
      - {kind: boundaries, of: loss, over: durability, by: reliability}
      - {kind: findings, over: durability, by: reliability}
      - {kind: side_by_side, rows: durability, over: reliability}
  chains:
"""
TEXT = RELAY.replace("  chains:\n", FIGURES, 1)
LATENCIES = {"reliable": 1.0, "best_effort": 3.0}


def add_import(campaign: Path, name: str) -> None:
    """Add a run of another machine to each level of reliability; the reliable one is faster."""
    words = [str(campaign)]
    for level, mean in LATENCIES.items():
        file = campaign.parent / level / f"{level}_720p30.csv"
        file.parent.mkdir()
        file.write_text(run_text("720p30", (), mean))
        words.append(str(file))
    words += ["--as", "qos:reliability={directory},durability=volatile"]
    done = CliRunner().invoke(import_command, [*words, "--name", name])
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="module")
def machines(
    sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """A machine with an import, and one with another import, without the chain of 10 Hz."""
    session = sample("cell_relay")
    out = {}
    for name, chains in (("desk", "chains/"), ("server", "chains/100.0")):
        sessions = {"qos/": session, chains: session}
        out[name] = make_campaign(tmp_path_factory.mktemp(name), TEXT, sessions).directory.path
        add_import(out[name], f"import_of_{name}")
    return out


@pytest.fixture(scope="module")
def results(machines: dict[str, Path]) -> Results:
    beside = [("server", machines["server"])]
    return measured_results(with_beside(open_results(machines["desk"]), beside))


def table(results: Results, kind: str, **asked: object) -> Table:
    return table_of(results, "qos", Figure.model_validate({"kind": kind, **asked}))


@pytest.mark.parametrize("kind", ["loss", "boundaries", "findings"])
def test_imports_keep_their_name_beside_other_machines(results: Results, kind: str) -> None:
    asked = {
        "loss": {"rows": ["reliability", "durability"]},
        "boundaries": {"of": "loss", "over": "durability", "by": "reliability"},
        "findings": {"over": "durability", "by": "reliability"},
    }[kind]
    made = table(results, kind, **asked)
    assert [column.name for column in made.columns].count("origin") == 1
    assert not made.frame.columns.duplicated().any()
    assert made.frame["origin"].unique().tolist() == ["here", "import_of_desk", "server"]
    alone = table_of(open_results(results.directory.path), "qos", Figure(kind=kind, **asked))  # type: ignore[arg-type]
    own = made.frame[made.frame["origin"] != "server"]
    for name in alone.frame:
        assert own[name].astype(str).tolist() == alone.frame[name].astype(str).tolist()


def test_findings_name_the_machine_whose_winner_it_is(results: Results) -> None:
    made = table(results, "findings", over="durability", by="reliability").frame
    winners = made[made["about"] == "winner"]
    counts = winners["origin"].value_counts().to_dict()
    assert counts == {"here": 2, "server": 2, "import_of_desk": 1}
    (theirs,) = winners.loc[winners["origin"] == "import_of_desk", "text"]
    assert "reliable" in theirs
    assert (
        not winners.loc[winners["origin"] == "server", "text"].str.contains("reliable wins").any()
    )


def test_without_imports_each_machine_has_findings_of_its_own(
    machines: dict[str, Path], tmp_path: Path
) -> None:
    desk = tmp_path / "desk"
    shutil.copytree(machines["desk"], desk, ignore=shutil.ignore_patterns("imported"))
    both = measured_results(with_beside(open_results(desk), [("server", machines["server"])]))
    made = table(both, "findings", over="durability", by="reliability").frame
    ours, theirs = (made[made["origin"] == name] for name in ("here", "server"))
    assert len(ours) + len(theirs) == len(made)
    # Of the same sessions.
    assert ours[["about", "subject", "text"]].to_numpy().tolist() == (
        theirs[["about", "subject", "text"]].to_numpy().tolist()
    )


def test_only_imports_are_columns_of_published_figures(results: Results) -> None:
    figure = Figure(kind="published", file="relay.csv")
    made = table_of(results, "chains", figure)
    assert not made.empty and "here" in made.frame
    labels = [column.label for column in made.columns]
    assert not any(label.startswith("imported") for label in labels), labels


def test_the_whole_report_can_be_made(machines: dict[str, Path], tmp_path: Path) -> None:
    run, beside = CliRunner(), ["--beside", f"server={machines['server']}"]
    for form in ("html", "text", "markdown", "json", "csv"):
        where = [] if form == "text" else ["-o", str(tmp_path / form)]
        done = run.invoke(
            report_command, [str(machines["desk"]), "--format", form, *where, *beside]
        )
        assert done.exit_code == 0, (form, done.output, done.exception)
    text = (tmp_path / "markdown").read_text()
    assert "in what the machines differ" in text.lower()
    alone = run.invoke(
        report_command,
        [str(machines["desk"]), "--format", "markdown", "--table", "machines", *beside],
    )
    assert alone.exit_code == 0, alone.output
    assert alone.stdout in text
    document = json.loads((tmp_path / "json").read_text())
    (report,) = [one for one in document["commands"] if "campaign report" in one]
    assert report.endswith(f"--beside server={machines['server']}")


def test_cells_of_a_machine_without_values_are_a_finding(
    machines: dict[str, Path], tmp_path: Path
) -> None:
    server = tmp_path / "server"
    shutil.copytree(machines["server"], server)
    broken = open_results(server).study("qos").finished[0]
    cell = broken.id
    # Neither its tables nor its trace are there any more.
    shutil.rmtree(broken.directory / "measured")
    shutil.rmtree(broken.directory / "trace")
    contents = gather(machines["desk"], beside=[("server", server)])
    (found,) = [one for one in contents.findings if one.code == "unfinished_beside"]
    assert (found.cells, found.most) == (3, cell)
    assert found.text.startswith("cells of server have no values: 1 failed, 2 not run yet")
    assert "cannot be measured" in found.text


def test_levels_that_the_file_has_no_more_do_not_end_a_table(
    machines: dict[str, Path], tmp_path: Path
) -> None:
    campaign = tmp_path / "campaign"
    shutil.copytree(machines["desk"], campaign)
    file = campaign / "imported" / "import_of_desk" / "import.json"
    file.write_text(file.read_text().replace('"best_effort"', '"of_old"'))
    made = table_of(
        open_results(campaign), "qos", Figure(kind="loss", rows=["reliability", "durability"])
    )
    theirs = made.frame[made.frame["origin"] == "import_of_desk"]
    assert theirs["reliability"].tolist()[-1] == "of_old"


def lidar(place: Path, session: Path) -> Path:
    """A campaign with a cell that noted the times of two columns of each scan."""
    text = LIDAR + "    figures:\n      - {kind: ages, rows: test_case}\n"
    path = make_campaign(place, text, {"test_cases/tc2": session}).directory.path
    cell = lidar_cell(path)
    node = cell / "scenario" / "results"
    scans = len(pd.read_csv(node / "perf_points.csv"))
    lines = [f"{scan},{one},{one * 195_312}" for scan in range(scans) for one in (0, 511)]
    (node / "perf_points_columns.csv").write_text("\n".join(["scan,column,t_ns", *lines]) + "\n")
    shutil.rmtree(cell / "measured")
    return path


def lidar_cell(campaign: Path) -> Path:
    (cell,) = open_results(campaign).study("test_cases").finished
    return cell.directory


def test_ages_of_points_of_several_machines(
    sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    session = sample("cell_lidar")
    paths = [lidar(tmp_path_factory.mktemp(name), session) for name in ("desk", "server", "third")]
    # Stamps of the third allow no age.
    manifest = lidar_cell(paths[2]) / "manifest.json"
    document = json.loads(manifest.read_text())
    document["scenario"]["settings"]["timestamp_mode"] = "TIME_FROM_INTERNAL_OSC"
    manifest.write_text(json.dumps(document))
    contents = gather(paths[0], beside=[("server", paths[1]), ("third", paths[2])])
    (part,) = contents.studies
    ages = next(one for one in part.parts if isinstance(one, Table) and one.kind == "ages")
    frame = ages.frame
    assert frame["origin"].tolist() == ["here", "server", "third"]
    assert frame["mode"].tolist() == ["PTP_1588", "PTP_1588", "INTERNAL_OSC"]
    assert frame["count"].iloc[0] == frame["count"].iloc[1] > 0
    assert frame["why"].isna().tolist() == [True, True, False]


def test_the_answer_states_the_ages_of_this_machine_alone(
    sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    paths = [lidar(tmp_path_factory.mktemp(name), sample("cell_lidar")) for name in ("a", "b")]
    older = lidar_cell(paths[1]) / "scenario" / "results" / "perf_points_columns.csv"
    rows = pd.read_csv(older)
    # The columns of the other were measured a second before.
    rows.assign(t_ns=rows["t_ns"] - 10**9).to_csv(older, index=False)
    alone, both = (
        next(text for text in gather(paths[0], beside=beside).studies[0].answer if "point" in text)
        for beside in ([], [("b", paths[1])])
    )
    assert both == alone


def test_every_start_further_hosts_and_changes_are_in_markdown(
    machines: dict[str, Path], tmp_path: Path
) -> None:
    campaign = tmp_path / "campaign"
    shutil.copytree(machines["desk"], campaign)
    document = json.loads((campaign / "campaign.json").read_text())
    document["environments"] = [
        {
            "at_utc": f"2026-11-2{day}",
            "host": {"kernel": f"6.{day}", "boot_id": "passes"},
            "hosts": {"b": {"address": "robot", "host": {"cpu_model": "an ARM"}, "uname": "long"}},
        }
        for day in (7, 8)
    ]
    (campaign / "campaign.json").write_text(json.dumps(document))
    contents = gather(campaign)
    lines = markdown(contents).splitlines()
    assert "| machine | 2026-11-27 | 2026-11-28 |" in lines
    assert "| host.kernel | 6.7 | 6.8 |" in lines
    assert "| hosts.b.host.cpu_model | an ARM | an ARM |" in lines
    assert not [line for line in lines if "uname" in line or "boot_id" in line]
    assert "Changed between the starts: host.kernel." in lines
    # The cells ran without, so the address is that of the description.
    assert " --host b=robot" in contents.commands[0]


def test_commands_name_the_hosts_of_cells(machines: dict[str, Path], tmp_path: Path) -> None:
    campaign = tmp_path / "campaign"
    shutil.copytree(machines["desk"], campaign)
    for file in campaign.rglob("cell.json"):
        state = json.loads(file.read_text())
        state["command"] = ["strata", "run", "relay", "--host", "b=me@robot:/opt/str ata"]
        file.write_text(json.dumps(state))
    contents = gather(campaign)
    assert " --host 'b=me@robot:/opt/str ata'" in contents.commands[0]
    assert "--host" not in contents.commands[-1]
