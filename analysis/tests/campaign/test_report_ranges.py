# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What another tool tells of seconds stands beside our values, as a range."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from measured_campaign import RELAY, make_campaign

from strata.cli.campaign_import import command
from strata.show.html.campaign.figure_parts import figure_part
from strata.study.campaign_results import open_results
from strata.study.gather_report import gather
from strata.study.long_frames import long_frame
from strata.study.report_contents import Chart, StudyPart

COLUMNS = (
    "timestamp,width,height,fps,byte_rate,message_rate,frame_loss_pct,latency_avg_ms,"
    "latency_min_ms,latency_max_ms"
)
SECONDS = f"""{COLUMNS}
2025-10-22_14-32-07,640,480,60,1045094400.00,42.00,30.00,36.0,23.5,65.25
2025-10-22_14-32-08,640,480,60,1617408000.00,65.00,-8.33,27.0,23.25,31.5
2025-10-22_14-32-09,640,480,60,0.00,0.00,100.00,0.000,0.000,0.000
"""
# ApexAI's performance_test: 30 messages of 1 ms in a second, then 10 of 3 ms.
EXPERIMENT = """Experiment id: 1
Performance Test Version: 1.3.3
RMW Implementation: rmw_cyclonedds_cpp
Publishing rate: 100
Msg name: Array1k


---EXPERIMENT-START---
T_experiment,T_loop,received,sent,lost,relative_loss,data_received,latency_min (ms),\
latency_max (ms),latency_mean (ms),latency_variance (ms)
1.0,1.0,30,30,0,0.0,30720,0.5,2.5,1.0,0.1
2.0,1.0,10,10,0,0.0,10240,0.75,9.5,3.0,0.1
"""


@pytest.fixture(scope="module")
def directory(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = make_campaign(tmp_path_factory.mktemp("r"), RELAY, {"qos/": sample("cell_relay")})
    path = results.directory.path
    for name, text, reliability in (("E", SECONDS, "reliable"), ("C", EXPERIMENT, "best_effort")):
        file = path.parent / f"{name}.csv"
        file.write_text(text)
        place = f"qos:reliability={reliability},durability=volatile"
        done = CliRunner().invoke(command, [str(path), str(file), "--name", name, "--as", place])
        assert done.exit_code == 0, done.output
    return path


def ranges_of(part: StudyPart, name: str) -> Chart:
    (chart,) = (
        one
        for one in part.parts
        if isinstance(one, Chart) and (one.request.kind, one.request.of) == ("ranges", name)
    )
    return chart


@pytest.fixture(scope="module")
def part(directory: Path) -> StudyPart:
    return gather(directory).studies[0]


def test_the_range_of_an_import_stands_beside_ours_at_its_levels(
    part: StudyPart, directory: Path
) -> None:
    frame = ranges_of(part, "latency").frame
    assert set(frame["level"]) == {"reliable, volatile", "best_effort, volatile"}
    rows = frame[frame["reliability"] == "reliable"].set_index("origin")
    told = rows.loc["E"]
    # A second without a message tells nothing; that file does not count those of the others.
    assert (told["low"], told["value"], told["high"]) == (23_250_000, 31_500_000, 65_250_000)
    own = long_frame(open_results(directory), "qos", "latency")
    own = own[(own["reliability"] == "reliable") & (own["durability"] == "volatile")]
    ours = rows.loc["here"]
    assert (ours["low"], ours["high"]) == (own["value"].min(), own["value"].max())
    assert ours["value"] == pytest.approx(own["value"].mean())
    assert set(own["origin"]) == {"here"}, "no summary is taken for a value"


def test_means_weigh_as_the_messages_that_a_file_counts(part: StudyPart) -> None:
    frame = ranges_of(part, "latency").frame.set_index("origin")
    told = frame.loc["C"]
    assert (told["low"], told["value"], told["high"]) == (500_000, 1_500_000, 9_500_000)


def test_it_is_drawn_hollow_and_the_caption_says_what_it_is(part: StudyPart) -> None:
    chart = ranges_of(part, "latency")
    drawn = figure_part(chart, part.study, "")
    assert drawn.empty == ""
    assert drawn.title == "Latency: ranges, beside those of others"
    assert [(key.text, key.hollow) for key in drawn.legend] == [
        ("here", False),
        ("C (another machine)", True),
        ("E (another machine)", True),
    ]
    assert drawn.caption[0].startswith("4 ranges of 4 cells")
    (panel,) = drawn.panels
    marks = [one.glyph for one in panel.plot.renderers if one.glyph.__class__.__name__ == "Scatter"]
    fills = {mark.fill_color for mark in marks if mark.marker != "dash"}
    assert "#ffffff" in fills and len(fills) == 2
    assert any("no median" in sentence for sentence in drawn.caption)
