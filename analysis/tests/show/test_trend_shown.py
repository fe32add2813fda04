# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How the trend of a long recording is shown: terminal, page, and JSON."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bokeh.models import ColumnDataSource
from made_analysis import BEGIN_NS, Relay, make, with_chains
from page_browser import look_at
from page_reader import read
from playwright.sync_api import Browser
from rich.console import Console

from strata.analysis import Analysis
from strata.show.document.analysis import document
from strata.show.html import MAX_CHAINS, render_page, write_report
from strata.show.html.figures.trend import trend_figure
from strata.show.terminal.analysis import print_analysis
from strata.show.terminal.sparkline import series
from strata.show.terminal.summary import LINES
from strata.show.words.naming import Names
from strata.show.words.sections import sections_of
from strata.show.words.trend import change_words, span_words, trend_lines, trend_sentences

COUNT = 5_400
S = 1_000_000_000


def long_recording(kind: str, **options: Any) -> Analysis:
    """Six hours, a message every 4 s, whose executor wait changes as `kind` says."""
    waits = {
        "drift": np.linspace(0, 7_200_000, COUNT).astype(np.int64),
        "falling": np.linspace(7_200_000, 0, COUNT).astype(np.int64),
        "step": np.where(np.arange(COUNT) >= 2_000, 1_300_000, 0),
        "flat": np.zeros(COUNT, np.int64),
    }[kind]
    relay = {"hops": 3, "messages": COUNT, "period_ns": 4 * S, "waits_ns": waits}
    return make(Relay(**(relay | options)))


@pytest.fixture(scope="module")
def drifting() -> Analysis:
    return long_recording("drift")


@pytest.fixture(scope="module")
def steady() -> Analysis:
    return long_recording("flat")


def screen(analysis: Analysis, **options: Any) -> list[str]:
    out = io.StringIO()
    print_analysis(analysis, Console(file=out, width=80), **options)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def section(lines: list[str]) -> list[str]:
    begin = next(at for at, line in enumerate(lines) if line.startswith("over time"))
    return lines[begin : lines.index("", begin)]


def test_a_drift_is_a_sentence() -> None:
    (text,) = trend_sentences(long_recording("drift"))
    assert text.startswith("/chain_0 -> /chain_1 -> /chain_2: latency grew by 1.20 ms per hour (1.")
    assert text.endswith("; all of it in executor wait of /relay_3")
    assert ", from about 7" in text
    (text,) = trend_sentences(long_recording("falling"))
    assert "latency fell by 1.20 ms per hour (1." in text
    assert text.count("-") == 2, "only the arrows: falling has no minus"


def test_a_step_is_a_sentence_with_its_time() -> None:
    (text,) = trend_sentences(long_recording("step"))
    assert "latency jumped by 1.3" in text
    assert " ms at 00:26:00 UTC (after 2 h 12 min), from about 78" in text


def test_what_is_steady_is_bounded_and_not_in_the_summary(steady: Analysis) -> None:
    assert trend_sentences(steady) == []
    assert "OVER TIME" not in "\n".join(screen(steady))
    lines = section(screen(steady, sections=["trend"]))
    assert " No chain's latency changed by 5 % and 20 us or more, beyond chance." in lines
    assert any(line.startswith("   no change found: ") for line in lines)


def test_the_summary_has_a_drift_in_two_lines(drifting: Analysis) -> None:
    lines = screen(drifting)
    at = next(at for at, line in enumerate(lines) if line.startswith("OVER TIME"))
    assert lines[at].startswith("OVER TIME   /chain_0 > ... > /chain_2: +1.20 ms per hour, 7")
    assert lines[at + 1] == "            all of it in executor wait of /relay_3"
    assert not lines[at + 2].startswith(" ")
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= 80
    assert any("--trend" in line for line in lines if line.startswith("More: "))


def test_the_section_fits_and_has_both_quantiles(drifting: Analysis) -> None:
    lines = section(screen(drifting, sections=["trend"]))
    assert lines[0].startswith("over time, 181 intervals of 2 min ──")
    assert max(map(len, lines)) <= 80
    for name in ("p50", "p99"):
        (line,) = (line for line in lines if line.startswith(f"   {name}  "))
        bars = line[8 : 8 + 48]
        assert bars[0] == "▁"
        assert bars[-1] == "█"
        assert list(bars) == sorted(bars)
        assert " ms" in line[58:]


def test_further_chains_that_changed_are_counted(drifting: Analysis) -> None:
    many = with_chains(drifting, 5)
    several = {
        name: frame.assign(chain_id=np.repeat(np.arange(5), len(frame) // 5))
        for name, frame in (
            (name, getattr(drifting, name).loc[np.tile(getattr(drifting, name).index, 5)])
            for name in ("trend", "layer_trend", "drifts")
        )
    }
    many = many.replaced(**several)
    assert len(trend_sentences(many)) == 4
    assert trend_sentences(many)[-1] == "and 2 more chains (see Over time)"
    assert trend_lines(many, Names(many), 68)[-1] == "and 2 more chains (--trend)"
    assert len(screen(many)) <= LINES
    # Of equal topics, so named by their nodes.
    assert trend_sentences(many)[0].startswith("/relay_0 -> /relay_1 -> /relay_2 -> /relay_3: ")


def test_a_short_recording_has_no_section() -> None:
    short = make(Relay())
    assert "trend" not in sections_of(short)
    assert "trend" not in document(short)
    assert 'id="trend"' not in render_page(short, title="made")
    assert any("--trend: the trace has none" in line for line in screen(short, sections=["trend"]))


def test_json_has_intervals_layers_and_drift(drifting: Analysis) -> None:
    (chain,) = json.loads(json.dumps(document(drifting), allow_nan=False))["trend"]
    assert list(chain) == ["chain_id", "width_ns", "intervals", "layers", "drift"]
    assert chain["width_ns"] == 120 * S
    assert sum(row["count"] for row in chain["intervals"]) == COUNT
    assert set(chain["intervals"][0]) == {"begin_ns", "count", "latency_ns"}
    for layer in chain["layers"]:
        assert set(layer) == {"position", "hop", "layer", "where", "mean_ns"}
        assert len(layer["mean_ns"]) == len(chain["intervals"])
    mean = sum(layer["mean_ns"][7] for layer in chain["layers"])
    assert mean == pytest.approx(chain["intervals"][7]["latency_ns"]["mean"])
    assert chain["drift"]["kind"] == "drift"
    assert chain["drift"]["step_ns"] is None
    assert "chain_id" not in chain["drift"]


def test_json_is_documented(drifting: Analysis, root: Path) -> None:
    page = (root / "docs/json.md").read_text()
    (line,) = [line for line in page.splitlines() if line.startswith("| `trend` |")]
    (chain,) = document(drifting)["trend"]
    names = {*chain, *chain["intervals"][0], *chain["layers"][0]}
    assert [name for name in sorted(names) if f"`{name}`" not in line] == []


def test_the_page_has_the_sentence_above_and_beside_the_figure(drifting: Analysis) -> None:
    page = read(render_page(drifting, title="made"))
    (part,) = [one for one in page.every("section") if one.attributes.get("id") == "trend"]
    sentence = change_words(drifting, drifting.rows("drifts").record(0))
    sentence = sentence.replace("us", "µs")
    assert sentence in part.words.replace("\N{NO-BREAK SPACE}", " ")
    (overview,) = [one for one in page.every("section") if one.attributes.get("id") == "overview"]
    assert sentence in overview.words.replace("\N{NO-BREAK SPACE}", " ")
    assert [link for link in page.every("a") if link.attributes["href"] == "#trend"]


def test_a_figure_has_every_interval_and_all_layers(drifting: Analysis) -> None:
    trend, layers = drifting.rows("trend"), drifting.rows("layer_trend")
    figure = trend_figure(trend, layers, drifting.rows("drifts").record(0), BEGIN_NS)
    sources = [dict(one.data) for one in figure.plot.select({"type": ColumnDataSource})]
    (stacked,) = [data for data in sources if "middleware" in data]
    names = set(layers.words("layer").words) & set(stacked)
    assert names == set(drifting.chain_layers["layer"])
    total = np.sum([stacked[name] for name in names], axis=0)
    np.testing.assert_allclose(total, trend["latency_mean_ns"] / 1e6, rtol=1e-9)
    (p99,) = [data for data in sources if "p99" in data.get("name", [])]
    np.testing.assert_allclose(p99["y"], trend["latency_p99_ns"])


def test_a_line_has_a_gap_where_there_is_no_message(drifting: Analysis) -> None:
    trend, layers = drifting.rows("trend"), drifting.rows("layer_trend")
    kept = trend.take(np.r_[0:50, 60 : len(trend)])
    layers = layers.take(np.isin(layers["begin_ns"], kept["begin_ns"]))
    figure = trend_figure(kept, layers, None, BEGIN_NS)
    for data in (dict(one.data) for one in figure.plot.select({"type": ColumnDataSource})):
        if "p50" in data.get("name", []):
            assert np.flatnonzero(np.isnan(data["y"])).tolist() == [50]


@pytest.mark.parametrize("kind", ["drift", "step"])
@pytest.mark.parametrize("width", [1280, 700])
def test_the_page_is_drawn_in_a_browser(
    browser: Browser, tmp_path: Path, kind: str, width: int
) -> None:
    path = write_report(long_recording(kind), tmp_path / "page.html", title="made", force=True)
    seen = look_at(browser, path, width)
    (figure,) = [one for one in seen.probe["figures"] if one["id"] == "trend-0"]
    assert figure["state"] == "drawn"
    assert seen.probe["wide"] <= width
    assert seen.probe["cut"] == []
    assert seen.console == []


def test_the_page_has_few_figures_of_many_chains(steady: Analysis) -> None:
    count = MAX_CHAINS + 3
    several = {
        name: getattr(steady, name)
        .loc[np.tile(getattr(steady, name).index, count)]
        .assign(chain_id=np.repeat(np.arange(count), len(getattr(steady, name))))
        for name in ("trend", "layer_trend", "drifts")
    }
    page = render_page(with_chains(steady, count).replaced(**several), title="made")
    assert page.count('class="plot trend"') == MAX_CHAINS
    assert "3 more chains: <code>strata analyze --trend --all</code>" in page


@pytest.mark.parametrize(
    ("ns", "words"),
    [
        (0, "0 s"),
        (45 * S, "45 s"),
        (60 * S, "1 min"),
        (4_320 * S, "1 h 12 min"),
        (3_605 * S, "1 h"),
        (90_000 * S, "1 d 1 h"),
        (5 * 86_400 * S, "5 d"),
    ],
)
def test_a_time_has_two_units(ns: int, words: str) -> None:
    assert span_words(ns) == words


def test_bars_over_time() -> None:
    assert series(np.array([1.0, np.nan, 8.0, 4.5]), 4) == "▁ █▅"
    assert series(np.full(4, np.nan), 3) == "   "
    # Little noise is no mountain range.
    assert set(series(np.array([100.0, 99.0, 98.0, 100.0]), 4)) == {"█", "▇"}
    assert len(series(np.arange(240.0), 48)) == 48
    assert len(series(np.arange(5.0), 48)) == 48
