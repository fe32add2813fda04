# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Reports of a campaign with the same campaign of other machines beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from measured_campaign import RELAY, make_campaign

from strata.cli.campaign_report import command
from strata.errors import CampaignError
from strata.study.beside_campaigns import with_beside
from strata.study.campaign_results import Results, open_results
from strata.study.gather_report import gather, measured_results
from strata.study.long_frames import long_frame
from strata.study.report_contents import Chart
from strata.study.tables import Table

TEXT = RELAY.replace(
    "      durability: {set: durability, levels: [volatile, transient_local]}\n",
    "      durability: {set: durability, levels: [volatile, transient_local]}\n"
    "    figures:\n"
    "      - {kind: summary, of: latency, rows: [reliability, durability]}\n"
    "      - {kind: loss, rows: [reliability, durability]}\n"
    "      - {kind: boxplot, of: latency, x: reliability}\n",
    1,
)


@pytest.fixture(scope="module")
def machines(
    sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Directories of three machines; the third has one cell of the study alone."""
    sessions = {
        "desk": {"qos/": "cell_relay"},
        "server": {"qos/": "cell_relay"},
        "board": {"qos/best_effort+volatile": "cell_relay"},
    }
    out = {}
    for cpus, (name, wanted) in enumerate(sessions.items(), start=1):
        place = tmp_path_factory.mktemp(name)
        chosen = {begin: sample(one) for begin, one in wanted.items()}
        path = make_campaign(place, TEXT, chosen).directory.path
        document = json.loads((path / "campaign.json").read_text())
        host = {"cpu_model": f"model {cpus}", "cpu_count": cpus, "kernel": "6.8"}
        document["environments"] = [{"at_utc": "2026-11-28", "host": host, "turbo": True}]
        (path / "campaign.json").write_text(json.dumps(document))
        out[name] = path
    return out


@pytest.fixture(scope="module")
def three(machines: dict[str, Path]) -> Results:
    others = [(name, machines[name]) for name in ("server", "board")]
    return measured_results(with_beside(open_results(machines["desk"]), others))


def test_every_value_of_a_machine_beside_has_its_name(three: Results) -> None:
    frame = long_frame(three, "qos", "latency")
    counts = frame.groupby("origin", observed=True)["cell"].nunique()
    assert counts.to_dict() == {"here": 4, "board": 1, "server": 4}
    theirs = frame[frame["origin"] == "server"]
    assert theirs["cell"].astype(str).str.startswith("server/qos/").all()
    # Of the same session: the values are the same, with their hops and times.
    ours = frame[frame["origin"] == "here"]
    for column in ("value", "t_ns", "number"):
        assert sorted(theirs[column]) == sorted(ours[column])
    assert set(theirs["hop"]) == set(ours["hop"])
    assert set(long_frame(three, "qos", "latency", imports=False)["origin"]) == {"here"}


def test_a_report_has_a_row_for_each_machine_and_pairs_against_the_first(
    machines: dict[str, Path],
) -> None:
    others = [(name, machines[name]) for name in ("server", "board")]
    contents = gather(machines["desk"], beside=others)
    part = next(one for one in contents.studies if one.study.name == "qos")
    summary, loss, pairs = (one for one in part.parts if isinstance(one, Table))
    assert summary.frame["origin"].value_counts().to_dict() == {"here": 4, "server": 4, "board": 1}
    assert summary.frame["lost"].tolist() == [0] * 9
    assert loss.frame["origin"].tolist() == ["here"] * 4 + ["server"] * 4 + ["board"]
    assert loss.frame["received"].tolist() == [110] * 9
    chart = next(one for one in part.parts if isinstance(one, Chart))
    assert set(chart.frame["origin"].astype(str)) == {"here", "server", "board"}
    # The same session: no shift, and no difference.
    assert pairs.kind == "machines"
    rows = pairs.frame.set_index(["reliability", "durability", "origin"])
    assert len(rows) == 9
    server = rows.loc[("best_effort", "volatile", "server")]
    assert server["shift"] == 0
    assert server["p"] == pytest.approx(1.0)
    assert rows["p50"].nunique() == 1
    machine = contents.machines
    assert machine is not None
    facts = machine.frame.set_index("fact")
    assert facts.loc["host.cpu_model"].tolist() == ["model 1", "model 2", "model 3"]
    assert facts.loc["host.kernel"].tolist() == ["6.8"] * 3
    assert "turbo" not in facts.index


def test_a_report_without_others_has_no_machines(machines: dict[str, Path]) -> None:
    contents = gather(machines["desk"])
    assert contents.machines is None
    tables = [part for study in contents.studies for part in study.parts if isinstance(part, Table)]
    assert "machines" not in {table.kind for table in tables}
    assert "origin" not in {column.name for table in tables for column in table.columns}


def test_cells_that_ran_in_another_way_are_named(
    machines: dict[str, Path], sample: Callable[[str], Path], tmp_path: Path
) -> None:
    text = TEXT.replace("set: {relays: 1}", "set: {relays: 1, payload: 4096}", 1)
    other = make_campaign(tmp_path, text, {"qos/": sample("cell_relay")}).directory.path
    contents = gather(machines["desk"], beside=[("other", other)])
    found = next(one for one in contents.findings if one.code == "other_cells_beside")
    assert found.cells == 4
    assert "cells of other ran in another way" in found.text


def test_what_cannot_be_beside_is_refused_in_a_line(
    machines: dict[str, Path], tmp_path: Path
) -> None:
    desk = open_results(machines["desk"])
    server = machines["server"]
    with pytest.raises(CampaignError, match=r"the name here is used already"):
        with_beside(desk, [("here", server)])
    with pytest.raises(CampaignError, match=r"the name a is used already"):
        with_beside(desk, [("a", server), ("a", server)])
    file = tmp_path / "foreign"
    file.mkdir()
    text = TEXT.replace("  qos:", "  other:", 1).replace("  chains:", "  others:", 1)
    foreign = make_campaign(file, text, {}).directory.path
    with pytest.raises(CampaignError, match=r"they have no study in common"):
        with_beside(desk, [("foreign", foreign)])
    changed = tmp_path / "changed"
    changed.mkdir()
    text = TEXT.replace("executor: {set: executor", "way: {set: executor", 1)
    other = make_campaign(changed, text, {}).directory.path
    with pytest.raises(CampaignError, match=r"study chains has the factors rate, executor here"):
        with_beside(desk, [("changed", other)])


def test_the_command_line_names_machines(machines: dict[str, Path], tmp_path: Path) -> None:
    run = CliRunner()
    others = ["--beside", f"big={machines['server']}", "--beside", str(machines["board"])]
    done = run.invoke(command, [str(machines["desk"]), "--format", "json", *others])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert [column["name"] for column in document["machines"]["columns"]] == [
        "fact",
        "here",
        "big",
        machines["board"].name,
    ]
    target = tmp_path / "tables"
    done = run.invoke(
        command, [str(machines["desk"]), "--format", "csv", "-o", str(target), *others]
    )
    assert done.exit_code == 0, done.output
    assert (target / "machines.csv").read_text().startswith("fact,here,big,")
    page = tmp_path / "page.html"
    done = run.invoke(command, [str(machines["desk"]), "-o", str(page), *others])
    assert done.exit_code == 0, done.output
    assert "machines differ" in page.read_text()
    done = run.invoke(command, [str(machines["desk"]), "--beside", "x=/nowhere"])
    assert done.exit_code == 2
    assert "there is no directory" in done.output
