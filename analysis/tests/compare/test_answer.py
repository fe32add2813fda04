# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The first sentence of a comparison: what was planted, where, and nothing that does not matter."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_analysis import Relay, make
from made_runs import ONLY_HOP, durations, hop_side, side

from strata.analysis import Analysis
from strata.cli.console import make_console
from strata.comparison.answer import Answer, answer
from strata.comparison.compared import compare
from strata.comparison.comparison import Comparison, compare_sides
from strata.comparison.parts import Part
from strata.comparison.places import Cause, PlacedTime, Split, against, causes_of
from strata.comparison.runs import Stop, measure_run
from strata.comparison.sentences import further, headline
from strata.comparison.sides import Side
from strata.errors import ComparisonError
from strata.show.terminal.comparison import print_comparison
from strata.stats.relevance import Least
from strata.units import format_ns

PLANTED_NS = 500_000


def answered(comparison: Comparison) -> tuple[Answer, str]:
    found = answer(comparison)
    return found, headline(comparison, found)


def printed(comparison: Comparison) -> list[str]:
    file = io.StringIO()
    console = make_console(file)
    console.width = 80
    print_comparison(comparison, console)
    return file.getvalue().splitlines()


@pytest.mark.parametrize("hop", [0, 2])
def test_planted_work_is_named_with_its_node(hop: int) -> None:
    a = side("A", Relay(hops=4, messages=400, seed=1))
    b = side("B", Relay(hops=4, messages=400, seed=2, work_ns={hop: PLANTED_NS}))
    found, sentence = answered(compare_sides(a, b))
    assert found.median is not None
    assert found.median.estimate.low is not None
    assert found.median.estimate.high is not None
    assert found.median.estimate.low <= PLANTED_NS <= found.median.estimate.high
    assert re.match(r"B is 50\d us slower at the median, all of it in ", sentence) or re.match(
        r"B is 49\d us slower at the median, all of it in ", sentence
    )
    assert f" of /relay_{hop + 1} (" in sentence
    back, reverse = answered(compare_sides(b, a))
    assert "faster at the median, all of it in " in reverse
    assert back.median is not None
    assert not back.median.slower


def test_the_places_add_up_to_the_difference_of_the_messages_about_the_median() -> None:
    a = side("A", Relay(hops=3, messages=300, seed=1))
    b = side("B", Relay(hops=3, messages=300, seed=2, work_ns={1: PLANTED_NS}))
    change = answer(compare_sides(a, b)).median
    assert change is not None
    assert change.split is not None
    parts = sum(place.difference_ns for place in change.split.places)
    assert parts == pytest.approx(change.split.difference_ns, abs=1e-3)
    assert change.split.difference_ns == pytest.approx(change.estimate.value, rel=0.1)
    (cause,) = causes_of(change.split)
    assert cause.stops[0].subscription == "/relay_2"


def test_a_side_against_itself_has_no_relevant_difference() -> None:
    one = side("A", Relay(messages=300))
    comparison = compare_sides(one, one)
    found, sentence = answered(comparison)
    assert not found.differs
    assert sentence.startswith("No relevant difference in the chain, at 95 % confidence")


def test_what_is_found_and_small_is_counted_and_not_listed() -> None:
    a = side("A", Relay(hops=3, messages=400, seed=1))
    b = side("B", Relay(hops=3, messages=400, seed=2, work_ns={1: 15_000}))
    found, sentence = answered(compare_sides(a, b))
    assert found.median is None
    assert found.small >= 3
    assert sentence.startswith("No relevant difference")
    exact = compare_sides(a, b, least=Least(0.0, 1_000))
    assert answer(exact).median is not None
    text = " ".join(printed(compare_sides(a, b)))
    assert "found and too small to be relevant (relevant: 5 % and 20 us or more)" in text
    assert "that differ" not in text


def test_both_bounds_have_to_be_reached() -> None:
    least = Least(0.05, 20_000)
    assert least.allows(-20_000, 100_000)
    assert not least.allows(19_999, 100_000)
    assert not least.allows(49_999, 1_000_000)
    assert least.allows(50_000, 1_000_000)


def test_a_change_of_the_slowest_alone_is_one_of_the_slowest() -> None:
    random = np.random.default_rng(3)
    whole = [durations(random, 4_000) for _ in range(2)]
    rest = [np.full(4_000, 1_000, np.int64) for _ in range(2)]
    rest[1][::40] += 5_000_000
    a, b = (
        hop_side({Part("callback"): first, Part("take"): second})
        for first, second in zip(whole, rest, strict=True)
    )
    found, sentence = answered(compare_sides(a, b))
    assert found.median is None
    assert found.tail is not None
    assert re.match(r"B's slowest 1 % are [45]\.\d+ ms slower on /t", sentence)
    assert further(compare_sides(a, b), found) == [
        "No relevant difference at the median (relevant: 5 % and 20 us or more)."
    ]


def test_more_losses_are_said_first_where_nothing_is_slower() -> None:
    random = np.random.default_rng(4)
    values = {Part("callback"): durations(random)}
    _, sentence = answered(compare_sides(hop_side(values), hop_side(values, lost=30)))
    assert sentence.startswith("B loses more: 9.09 % on /t (/a -> /b), 0 % in A (p = ")


def places(*differences: tuple[str, int, float]) -> Split:
    stops = [Stop(f"/t{at}", f"/n{at}", f"/n{at + 1}", f"C::on_{at}") for at in range(3)]
    found = tuple(
        PlacedTime(layer, hop, stops[hop], 0.0, change) for layer, hop, change in differences
    )
    total = sum(place.difference_ns for place in found)
    return Split("typical", 0.0, total, (10, 10), found)


def test_one_place_one_layer_or_the_largest_few_are_named() -> None:
    (single,) = causes_of(places(("transport", 0, 90.0), ("callback", 1, 10.0)))
    assert (single.layer, len(single.stops), single.share) == ("transport", 1, 0.9)
    (layer,) = causes_of(places(("take", 0, 30.0), ("take", 1, 30.0), ("take", 2, 40.0)))
    assert (layer.layer, len(layer.stops), layer.share) == ("take", 3, 1.0)
    several = causes_of(places(("take", 0, 40.0), ("hold", 1, 35.0), ("transport", 2, 25.0)))
    assert [round(cause.share, 2) for cause in several] == [0.4, 0.35, 0.25]
    assert causes_of(places(("take", 0, 0.0))) == ()


def test_what_goes_the_other_way_is_named_only_where_it_matters() -> None:
    found = against(places(("take", 0, 150.0), ("executor wait", 1, -50.0)))
    assert isinstance(found, Cause)
    assert (found.layer, found.share) == ("executor wait", -0.5)
    assert against(places(("take", 0, 104.0), ("executor wait", 1, -4.0))) is None


@pytest.mark.parametrize(
    ("first", "second"),
    [("fast_relay1p_st", "fast_relaymp_st"), ("ref_multi_full", "ref_multi_full")],
)
def test_it_is_one_screen(analysis_of: Callable[[str], Analysis], first: str, second: str) -> None:
    a, b = (Side(name, (measure_run(analysis_of(name), name),)) for name in (first, second))
    lines = printed(compare_sides(a, b))
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("B is " if first != second else "No relevant difference")


def test_many_long_names_are_one_screen_too() -> None:
    long = Relay(
        hops=12,
        messages=200,
        node="/robot_7/perception/pointcloud_preprocessing/voxel_grid_filter_component_{}",
        topic="/robot_7/perception/cropped_and_downsampled/points_with_intensity_{}",
    )
    slow = Relay(**{**long.__dict__, "seed": 9, "work_ns": dict.fromkeys(range(12), PLANTED_NS)})
    comparison = compare_sides(side("A", long), side("B", slow))
    lines = printed(comparison)
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert any("…/points_with_intensity_" in line for line in lines)


def test_from_python_it_is_a_sentence_and_a_frame(
    sample: Callable[[str], Path], analysis_of: Callable[[str], Analysis]
) -> None:
    found = compare(analysis_of("fast_relay1p_st"), sample("fast_relaymp_st"))
    assert repr(found).startswith("B is 57")
    assert "all of it in middleware of 4 hops" in repr(found)
    html = found._repr_html_()
    assert html.startswith("<p><strong>B is 57")
    relevant = found.rows()[found.rows()["relevant"]]
    assert html.count("<tr>") == len(relevant) > 0
    for row in relevant.itertuples():
        assert f"<td>{format_ns(row.a_p50_ns)}</td>" in html
        assert f"<td>{format_ns(row.shift_ns)}</td>" in html
    # Symbols of C++ are short.
    assert max(map(len, re.findall(r"<td>(.*?)</td>", html))) < 100


def test_a_notebook_has_no_table_without_a_relevant_row(
    sample: Callable[[str], Path], analysis_of: Callable[[str], Analysis]
) -> None:
    same = analysis_of("fast_relay1p_st")
    html = compare(same, same)._repr_html_()
    assert html.startswith("<p><strong>No relevant difference")
    assert "<table" not in html


def test_rows_are_a_frame(
    sample: Callable[[str], Path], analysis_of: Callable[[str], Analysis]
) -> None:
    found = compare(analysis_of("fast_relay1p_st"), sample("fast_relaymp_st"))
    rows = found.rows()
    whole = rows[(rows["kind"] == "chain") & rows["layer"].isna()].iloc[0]
    assert whole["b_p50_ns"] - whole["a_p50_ns"] == pytest.approx(whole["shift_p50_ns"])
    assert bool(whole["relevant"])
    assert isinstance(rows, pd.DataFrame)
    times = [name for name in rows.columns if "p50" in name or "shift" in name]
    assert all(name.endswith("_ns") for name in times)


def test_nothing_in_common_is_an_error_that_names_both(
    analysis_of: Callable[[str], Analysis],
) -> None:
    with pytest.raises(ComparisonError, match=r"A has the chain /chain_0 .*; B has the chain") as e:
        compare(analysis_of("fast_relay1p_st"), analysis_of("driver_polled"))
    assert "/points" in str(e.value)


def test_a_made_analysis_is_a_side() -> None:
    found = compare([make(Relay(seed=1)), make(Relay(seed=2))], make(Relay(seed=3)))
    assert found.runs_are_the_unit
    assert ONLY_HOP not in found.only_a
