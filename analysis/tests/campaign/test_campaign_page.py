# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The page and the text of a campaign's report: structure, escaping, and what has no data."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from made_campaign import (
    FINISHED,
    LATENCY,
    LOSS,
    MS,
    SIZE,
    TRANSPORT,
    cells,
    contents,
    every_chart,
    layered,
    long,
    per_cell,
    study,
    summary_table,
    whole,
    whole_page,
)
from page_reader import Element, read
from rich.console import Console

from strata.errors import OutputError
from strata.schema.layers import HOP_LAYERS
from strata.show.html.campaign.dataflow import flow
from strata.show.html.campaign.figures.bars import draw_bars
from strata.show.html.campaign.page import render_page, write_page_of
from strata.show.terminal.campaign import blocks, print_contents
from strata.show.words.campaign_tables import cell_text, row_texts, table_part
from strata.study.report_answers import answer
from strata.study.report_contents import Chart, Finding, Measure, Request, Study, StudyPart
from strata.study.tables.table import Column
from strata.study.wording import value_text

NASTY = "<script>alert(1)</script>&\"'"


@pytest.fixture(scope="module")
def page() -> Element:
    return read(whole_page())


def test_the_page_asks_for_nothing_from_anywhere(page: Element) -> None:
    policy = next(item for item in page.every("meta") if "http-equiv" in item.attributes)
    assert policy.attributes["content"].startswith("default-src 'none'")
    for item in page.every():
        assert not {"src", "srcset"} & item.attributes.keys()
        assert item.attributes.get("href", "#").startswith("#")


def test_every_link_of_the_page_has_its_place(page: Element) -> None:
    ids = {item.attributes["id"] for item in page.every() if "id" in item.attributes}
    assert {item.attributes["href"][1:] for item in page.every("a")} <= ids


def test_what_ran_what_did_not_and_why(page: Element) -> None:
    ran = page.by_id("ran")
    assert [tile.words for tile in ran.every("dl", "tiles")[0].every("div")] == [
        "cells18",
        "finished11",
        "failed1",
        "skipped6",
        "not run yet0",
    ]
    rows = ran.every("table", "outcomes")[0].every("tr")[1:]
    told = [[cell.words for cell in row.every("td")][:3] for row in rows]
    assert told == [
        ["failed", "process sink ended with status 1", "1"],
        ["skipped", "rmw_zenoh_cpp is not installed", "6"],
    ]
    assert "1 cell failed." in ran.every("p", "verdict")[0].words


def test_every_figure_has_a_place_a_caption_and_its_data(page: Element) -> None:
    places = [item.attributes["id"] for item in page.every("div", "plot")]
    items = [item for item in page.every("script") if "data-figure" in item.attributes]
    assert [item.attributes["data-figure"] for item in items] == places
    assert len(places) > len(every_chart(study()))
    for item in items:
        assert json.loads(str(item.children[0]))["target_id"] == item.attributes["data-figure"]
    for drawing in page.every("figure"):
        caption = drawing.every("figcaption")[0].words
        assert "2 repetitions" in caption or "1 repetition" in caption
        assert "are left out as warm-up" in caption


def test_a_figure_without_data_says_why(page: Element) -> None:
    empty = [item.words for item in page.every("p", "empty")]
    assert "There is nothing to draw: skipped: rmw_zenoh_cpp is not installed." in empty


def test_tables_have_their_units_and_texts(page: Element) -> None:
    table = page.every("table", "summary")[0]
    assert [cell.words for cell in table.every("th")] == [
        "transport",
        "n",
        "median (ms)",
        "p",
        "lost (%)",
    ]
    rows = [[cell.words for cell in row.every("td")] for row in table.every("tr")[1:]]
    assert rows[0] == ["udp <0>", "1,000", "0.123", "< 1e-300", "0"]
    assert rows[3] == ["udp <3>", "1,003", "0.494", "-", "-"]


def test_the_machine_and_what_changed_of_it() -> None:
    found = read(render_page(replace(contents(), changed=("governor",)))).by_id("environment")
    changed = found.every("table", "facts-table")[0]
    assert [cell.words for cell in changed.every("td")] == ["governor", "-", "powersave"]
    same = read(render_page(contents())).by_id("environment")
    assert "Nothing that was recorded" in same.words


def test_corrections_commands_and_answer_are_there(page: Element) -> None:
    assert "p = 0.000000 is no probability." in page.by_id("corrections").words
    assert "strata campaign report DIR" in page.by_id("made").words
    said = page.by_id("study-0").every("div", "answer")[0].words
    assert "Over all its cells the largest layer is transport: 50" in said
    assert "7.7" in said


def test_names_of_a_campaign_cannot_become_markup() -> None:
    of = study(question=NASTY, cells=[replace(c, reason=NASTY) for c in cells(study().factors)])
    table = summary_table()
    part = StudyPart(
        of, (NASTY,), (every_chart(of)[0], replace(table, title=NASTY, notes=(NASTY,)))
    )
    text = render_page(
        replace(contents(part, name=NASTY, question=NASTY), file=NASTY, commands=(NASTY,))
    )
    assert "<script>alert" not in text
    assert read(text).every("h1")[0].words == NASTY


def test_a_campaign_without_a_finished_cell_has_a_page() -> None:
    of = study(
        cells=[replace(c, status="skipped", reason="no reason") for c in cells(study().factors)]
    )
    empty = tuple(replace(chart, frame=chart.frame.iloc[:0]) for chart in every_chart(study()))
    none = layered(study()).iloc[:0]
    part = StudyPart(
        of,
        answer(of, [], none),
        (*empty, replace(summary_table(), frame=summary_table().frame.iloc[:0], empty="no cell")),
    )
    found = read(render_page(contents(part, environments=())))
    assert "No cell has finished," in found.by_id("ran").words
    assert len(found.every("p", "empty")) == len(empty) + 2
    assert found.every("div", "plot") == []
    assert "No cell of this study has finished: skipped: no reason." in found.by_id("study-0").words


def test_a_page_is_written_once(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    assert write_page_of(contents(), target, force=False) == target
    with pytest.raises(OutputError, match="the file exists"):
        write_page_of(contents(), target, force=False)
    write_page_of(contents(), target, force=True)


def test_text_fits_into_80_columns_and_leaves_no_column_out() -> None:
    out = io.StringIO()
    print_contents(whole(), Console(file=out, width=80, markup=False, highlight=False))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert "18 cells: 11 finished, 1 failed, 6 skipped, 0 not run yet" in text
    for label in ("median", "lost", "udp <3>", "< 1e-300", "9 figures: on the page"):
        assert label in text


def test_a_wide_table_is_cut_into_blocks_that_name_their_rows() -> None:
    table = summary_table()
    wide = replace(
        table,
        columns=(
            *table.columns,
            *(Column(f"q{at}", f"quantile {at}", "ms", "number") for at in range(9)),
        ),
        frame=table.frame.assign(**{f"q{at}": 1.5 for at in range(9)}),
    )
    cut = blocks(table_part(wide, ""), 80)
    assert len(cut) > 1
    assert all(block[0] == 0 for block in cut)
    assert sorted(at for block in cut for at in block[1:]) == list(range(1, 14))


def test_the_answer_tells_the_largest_effect_first_with_its_interval() -> None:
    of = study()
    said = answer(of, [Chart(Request("samples", "latency"), LATENCY, long(of))], layered(of))
    assert said[1].startswith("size: the median latency is ")
    assert said[2].startswith("transport: ")
    assert said[1].count("[") == 2 and " times)" in said[1]


def test_an_answer_does_not_call_noise_an_effect() -> None:
    of = study()
    frame = long(of)
    alike = frame.assign(value=1 + (frame["number"] % 7) * 0.01)
    said = answer(of, [Chart(Request("samples", "latency"), LATENCY, alike)], layered(of))
    ending = ": the 95 % intervals of the smallest and the largest median overlap"
    other = "combinations of the other factors"
    assert sorted(said[1:]) == [
        f"size{ending} in all 2 {other}",
        f"transport{ending} in all 3 {other}",
    ]


def test_an_answer_tells_nothing_of_too_few_values() -> None:
    of = study(repetitions=1)
    few = Chart(Request("samples", "latency"), LATENCY, long(of, 2))
    assert answer(of, [few], layered(of).iloc[:0]) == ()
    assert len(answer(of, [replace(few, frame=long(of, 30))], layered(of).iloc[:0])) == 2


def test_means_of_runs_are_compared_of_what_a_cell_has_one_of() -> None:
    of = study([SIZE], repetitions=3)
    goes = per_cell(of, [1.0, 50.0, 100.0, 1.1, 51.0, 101.0, 0.9, 49.0, 99.0])
    throughput = Measure("throughput", "MB/s", "cell", "")
    (said,) = answer(of, [Chart(Request("curve", "throughput"), throughput, goes)], goes.iloc[:0])
    assert said.startswith("size: the mean throughput is 1.00 MB/s [")
    assert "at 1 KiB and 100 MB/s [" in said and "(100 times)" in said
    alone = goes[goes["repetition"] == 1]
    assert answer(of, [Chart(Request("curve", "t"), throughput, alone)], goes.iloc[:0]) == ()


def test_a_page_of_imports_alone_says_so() -> None:
    of = study()
    frame = long(of, origin="old")
    of = replace(of, cells=tuple(replace(c, status="skipped", reason="no") for c in of.cells))
    chart = Chart(Request("boxplot", "latency", x="size"), LATENCY, frame)
    said = answer(of, [chart], frame.iloc[:0])
    assert said == ("No cell of this study has finished: skipped: no; all values are imported",)
    found = read(render_page(contents(StudyPart(of, said, (chart,)))))
    assert "all values shown are imported, of another machine" in found.by_id("ran").words
    caption = found.every("figcaption")[0].words
    assert "imported results of another machine" in caption and "warm-up" not in caption


PERIOD = tuple(
    Column(name, name, "ms", "number") for name in ("p50", "mad", "mean", "std", "min", "max")
)


def test_values_of_a_row_have_the_digits_that_tell_them_apart() -> None:
    # Test case 4 of the original: stamps of a sensor, 100 ms apart.
    names = [column.name for column in PERIOD]
    steady = dict(zip(names, (100.002, 0.12912, 100.001, 0.26031, 97.634, 102.389), strict=True))
    assert row_texts(steady, PERIOD) == (
        "100.002", "0.129", "100.001", "0.260", "97.634", "102.389"
    )  # fmt: skip
    # Three digits do where they tell: no figure says more than it has to.
    loose = dict(zip(names, (26.965, 7.145, 24.62, 8.555, 7.99, 45.079), strict=True))
    assert row_texts(loose, PERIOD) == ("27.0", "7.14", "24.6", "8.55", "7.99", "45.1")
    same = dict.fromkeys(loose, 100.0)
    assert set(row_texts(same, PERIOD)) == {"100"}
    close = {**loose, "mean": 26.965 + 1e-9}
    assert row_texts(close, PERIOD)[0] == row_texts(close, PERIOD)[2] == "27.0"


def test_ours_has_the_decimals_of_the_printed_figure_beside_it() -> None:
    columns = (
        Column("printed", "printed", form="exact"),
        Column("here", "here", form="figure"),
        Column("count", "n here", form="count"),
    )
    assert row_texts({"printed": "102.389", "here": 100.0021, "count": 1000}, columns) == (
        "102.389", "100.002", "1,000"
    )  # fmt: skip
    assert row_texts({"printed": "999", "here": 60.0, "count": 60}, columns)[1] == "60"
    assert row_texts({"printed": None, "here": 100.0021, "count": 1}, columns)[1] == "100"


def test_a_finding_names_the_cell_that_its_text_is_of() -> None:
    assert Finding("warning", "3 lost", 1, "a/b/r1").where == "a/b/r1"
    assert Finding("warning", "3 lost", 2, "a/b/r1").where == "a/b/r1; 2 cells in all"
    assert Finding("warning", "busy", 2).where == "2 cells"


def test_no_loss_is_said_too() -> None:
    of = study()
    loss = Chart(Request("curve", "loss"), LOSS, per_cell(of, [0.0]))
    assert answer(of, [loss], layered(of).iloc[:0]) == (
        "No message of the measured hops was lost (12 cells)",
    )
    assert all(cell.status != FINISHED for cell in of.cells if "zenoh" in cell.cell_id)


SHORTFALL = Measure("shortfall", "%", "cell", "")


def falls_short(of: Study, level: str, percent: float) -> Chart:
    """A source that is so much below its rate in all cells of a transport."""
    frame = per_cell(of, [0.2]).assign(hop="/a: /x")
    frame.loc[frame["transport"] == level, "value"] = percent
    return Chart(Request("samples", "shortfall"), SHORTFALL, frame)


def test_cells_whose_source_fell_short_are_told_and_in_no_effect() -> None:
    of = study()
    latency = Chart(Request("samples", "latency"), LATENCY, long(of))
    said = answer(of, [latency, falls_short(of, "udp", 36.0)], layered(of).iloc[:0])
    assert said[0] == (
        "The source fell short of its stated rate by more than 5 % in 6 of 12 cells: 36 % at "
        "transport udp, size 1 KiB, 36 % at transport udp, size 64 KiB, "
        "36 % at transport udp, size 1 MiB below it; they measured another rate, and "
        "are left out of the effects"
    )
    (effect,) = said[1:]
    assert effect.startswith("size: "), "one transport is left, and has no effect"
    whole = answer(of, [latency, falls_short(of, "udp", 4.9)], layered(of).iloc[:0])
    assert len(whole) == 2 and whole[1].startswith("transport: ")


def test_cells_whose_source_fell_short_are_in_no_largest_layer() -> None:
    of = study()
    layers = layered(of)
    # Over udp nearly all is the callback: these cells would decide.
    slow = layers["cell"].astype(str).str.contains("udp") & (layers["layer"] == "callback")
    assert slow.any()
    layers["value"] = layers["value"].mask(slow, 900.0 * MS)
    latency = Chart(Request("samples", "latency"), LATENCY, long(of))
    assert answer(of, [latency], layers)[0].startswith(
        "Over all its cells the largest layer is callback: "
    )
    said = answer(of, [latency, falls_short(of, "udp", 36.0)], layers)
    own = layers[~layers["cell"].astype(str).str.contains("udp")]
    alone = answer(of, [latency], own)[0]
    assert "largest layer is transport" in alone
    assert said[0] == alone.replace("all its cells", "the cells whose source kept its rate")
    assert said[1].endswith("and are left out of the largest layer and of the effects")
    short = falls_short(of, "udp", 36.0)
    short.frame["value"] = 36.0
    assert answer(of, [latency, short], layers)[0] == (
        "The largest layer is not reported: in every cell the source fell short of its stated rate"
    )


def test_throughput_keeps_the_cells_whose_source_fell_short() -> None:
    of = study([TRANSPORT, SIZE], repetitions=3)
    goes = per_cell(of, [1.0, 50.0, 100.0, 1.1, 51.0, 101.0, 0.9, 49.0, 99.0])
    throughput = Chart(
        Request("curve", "throughput"), Measure("throughput", "MB/s", "cell", ""), goes
    )
    alone = answer(of, [throughput], goes.iloc[:0])
    said = answer(of, [throughput, falls_short(of, "udp", 36.0)], goes.iloc[:0])
    assert said[0].startswith("The source fell short") and "left out" not in said[0]
    assert said[1:] == alone


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (0.0, "p", "< 1e-300"),
        (0.125, "share", "12 %"),
        (0.04, "percent", "< 0.1"),
        (12.5, "percent", "12"),
        (-0.0002, "percent", "0"),
        (-0.2, "percent", "-0.2"),
        (1234567, "count", "1,234,567"),
        (128.17371, "exact", "128.17371"),
        (0.00001234, "number", "1.23e-05"),
        (True, "flag", "yes"),
        (float("nan"), "number", "-"),
        (None, "text", "-"),
        ("1,5", "number", "1,5"),
    ],
)
def test_values_as_text(value: object, form: str, text: str) -> None:
    assert cell_text(value, Column("x", "x", form=form)) == text


def test_times_get_the_unit_that_suits_them() -> None:
    assert [value_text(one, "ns") for one in (12_300, 1_500_000, 2_500_000_000)] == [
        "12.3 µs",
        "1.50 ms",
        "2.50 s",
    ]
    assert value_text(None, "ns") == "-"


def test_the_flow_has_the_layers_that_were_recorded_and_numbers_its_probes() -> None:
    basic = [layer.name for layer in HOP_LAYERS if " + " not in layer.name]
    stock = flow(
        ["client publish", "middleware", "executor wait", "take", "client take", "callback"]
    )
    assert stock is not None
    assert [probe.number for probe in stock.probes] == list(range(1, len(stock.probes) + 1))
    assert not {"serialize_begin", "receive"} & {probe.name for probe in stock.probes}
    full = flow(basic)
    assert full is not None and full.has_driver
    # What is parted further is not drawn over its parts.
    assert "middleware" not in {leg.layer for leg in full.legs}
    assert flow(["stored"]) is None


def test_no_layer_between_unsynchronised_machines_is_the_largest() -> None:
    of = study()
    layers = layered(of).assign(unsynchronised=False)
    other = layers.assign(hop="/b: /y -> /x", unsynchronised=True)
    other["value"] = other["value"].mask(other["layer"] == "callback", 900.0 * MS)
    said = answer(of, [], pd.concat([layers, other]))
    assert said[0].startswith(
        "Over all its cells, without hops between machines whose clocks are not synchronised, the "
        "largest layer is transport: "
    )
    assert answer(of, [], other)[0] == (
        "The largest layer is not reported: the layers between machines whose clocks are not "
        "synchronised contain the offset of the clocks"
    )


def test_bars_say_that_layers_contain_an_offset_of_clocks() -> None:
    of = study()
    layers = layered(of).assign(unsynchronised=False)
    request, measure = Request("bars", "layer", x="size"), Measure("layer", "ns", "cell", "")
    told = "transport contains the offset of the clocks"
    assert told not in " ".join(draw_bars(Chart(request, measure, layers), of).caption)
    apart = layers.assign(unsynchronised=True)
    assert told in " ".join(draw_bars(Chart(request, measure, apart), of).caption)
