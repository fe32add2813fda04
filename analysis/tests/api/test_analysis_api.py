# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The Python API: what `strata.analyze` takes and what an analysis offers."""

from __future__ import annotations

import json
import pydoc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import rich.console
from bokeh.document import Document
from bokeh.embed import file_html
from bokeh.models.renderers import GlyphRenderer
from bokeh.plotting import figure
from bokeh.resources import INLINE
from playwright.sync_api import Browser
from strata_command import strata as run_strata

import strata
from strata.analysis import GivenResults, MessageCounts, Process, TraceSummary
from strata.errors import OutputError
from strata.show.html.figures.timeline import lane_names
from strata.timeline import Lane

Sample = Callable[[str], Path]
LINK = strata.MessageLink("/fusion", ("/fast", "/slow"), ("/fused",), "periodic_async")
LINKS = "links:\n- {node: /fusion, inputs: [/fast, /slow], outputs: [/fused], kind: periodic_async}"


@pytest.fixture(scope="module")
def relay(sample: Sample) -> strata.Analysis:
    return strata.analyze(sample("fast_relay1p_overload"))


def test_links_and_a_chain_are_taken_as_text(sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / "links.yaml"
    path.write_text(LINKS)
    given = {"links": [LINK], "chain": ["/slow", "/fused"]}
    trace = sample("fast_fusion")
    expected = strata.analyze(trace, **given).chains
    assert expected["name"].tolist() == ["/slow -> /fused"]
    for links in (str(path), path):
        found = strata.analyze(str(trace), links=links, chain="/slow -> /fused").chains
        pd.testing.assert_frame_equal(found, expected)


def test_what_is_wrong_names_what_there_is(sample: Sample, tmp_path: Path) -> None:
    trace = sample("fast_relay1p_st")
    with pytest.raises(strata.TraceError, match=r"of /chain_9 was matched\. Did you mean /chain_0"):
        strata.analyze(trace, chain="/chain_0 -> /chain_9")
    with pytest.raises(strata.TraceError, match="Chains in the trace: /chain_0 -> /chain_1 -> "):
        strata.analyze(trace, chain="/chain_1 -> /chain_0")
    with pytest.raises(ValueError, match="not a list of topics joined by ->"):
        strata.analyze(trace, chain="/chain_0 ->")
    with pytest.raises(ValueError, match="not the full name of a topic"):
        strata.analyze(trace, chain="chain 0")
    with pytest.raises(strata.StrataError, match="Cannot read links"):
        strata.analyze(trace, links=tmp_path / "none.yaml")
    with pytest.raises(TypeError, match="not a MessageLink"):
        strata.analyze(trace, links=["/fusion"])  # type: ignore[list-item]


def test_progress_is_told_the_stages(sample: Sample) -> None:
    class Progress:
        def __init__(self) -> None:
            self.events = 0
            self.stages: list[str] = []

        def __call__(self, events: int, /) -> None:
            self.events += events

        def stage(self, name: str, /) -> None:
            self.stages.append(name)

    seen, counted = Progress(), list[int]()
    analysis = strata.analyze(sample("cell_relay"), progress=seen)
    assert seen.stages == ["reading events"]
    assert seen.events >= analysis.trace.events
    assert len(analysis.quality) > 0
    assert list(dict.fromkeys(seen.stages)) == [
        "reading events",
        "following messages",
        "following chains",
        "statistics",
    ]
    strata.analyze(sample("cell_relay"), progress=counted.append)
    assert sum(counted) == seen.events


def test_an_analysis_shows_itself_in_one_line(relay: strata.Analysis) -> None:
    assert repr(relay) == (
        "<strata.Analysis fast_relay1p_overload: 19.8 s, 6 nodes, "
        f"{relay.counts.published:,} messages published, {relay.counts.taken:,} taken; "
        f"{relay.system.text.split('. ')[0]}>"
    )


def test_a_notebook_shows_names_of_a_trace_as_text() -> None:
    hostile = "<script>alert(1)</script>\x1b[2J"
    process = Process("host", 1, hostile, (f"/{hostile}",), 1)
    trace = TraceSummary(f"/tmp/{hostile}", 1, 0, 0, 10**9, (process,))
    shown = strata.Analysis(GivenResults(trace, MessageCounts(0, 0, 0, 0, 0, 0), {}))
    text = shown._repr_html_()
    assert "<script" not in text
    assert "\x1b" not in text + repr(shown)
    assert "&lt;script&gt;" in text
    assert "no message was followed to the end of a callback" in text


def test_a_notebook_shows_the_first_chains(sample: Sample) -> None:
    text = strata.analyze(sample("ref_multi_full"))._repr_html_()
    assert text.count("<th>chain</th>") == 5
    assert "more chains</td>" in text
    assert "24: /BehaviorPlanner, " in text
    assert len(text) < 5_000


def test_the_summary_is_what_the_command_prints(sample: Sample) -> None:
    path = sample("cell_relay")
    text = strata.analyze(path).summary()
    printed = run_strata("analyze", path).stdout
    assert text.splitlines() == [line.rstrip() for line in printed.rstrip("\n").splitlines()]
    # A prompt shows it as it is, not as a literal.
    assert repr(text) == str(text)
    assert max(map(len, strata.analyze(path).summary(width=120).splitlines())) > 80


def test_the_summary_is_text_in_a_notebook(
    relay: strata.Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = relay.summary()
    monkeypatch.setattr(rich.console, "_is_jupyter", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert relay.summary() == expected != ""
    assert "\x1b" not in expected


def test_the_slowest_messages_are_those_of_the_chain(relay: strata.Analysis) -> None:
    found = relay.slowest(7)
    instances = relay.chain_instances[relay.chain_instances["chain_id"] == 0]
    worst = instances.sort_values("latency_ns", ascending=False).head(7)
    assert found["latency_ns"].tolist() == worst["latency_ns"].tolist()
    assert found["message_id"].tolist() == worst["message_id"].tolist()
    assert (found["begin_ns"] - found["since_begin_ns"] == relay.trace.begin_ns).all()
    segments = relay.chain_segments
    for row, instance in zip(found.itertuples(), worst["chain_instance_id"], strict=True):
        own = segments[segments["chain_instance_id"] == instance]
        assert row.layer_ns == own["duration_ns"].max()
        assert row.layer == own.loc[own["duration_ns"].idxmax(), "layer"]
        assert row.share == pytest.approx(row.layer_ns / row.latency_ns)
        assert row.where


def test_a_layer_before_a_linked_publish_has_the_place_of_the_table(sample: Sample) -> None:
    analysis = strata.analyze(sample("fast_fusion"), links=[LINK])
    of_chains = analysis.chain_layers.merge(analysis.chains[["chain_id", "name"]], on="chain_id")
    places = set(zip(of_chains["name"], of_chains["layer"], of_chains["where"], strict=True))
    for name in ("/slow -> /fused", "/fast -> /fused"):
        found = analysis.slowest(100, chain=name)
        assert len(found)
        assert {(name, row.layer, row.where) for row in found.itertuples()} <= places


def test_a_chain_is_chosen_by_topics_or_number(sample: Sample) -> None:
    analysis = strata.analyze(sample("fast_blocked_st"))
    names = analysis.chains["name"].astype(str).tolist()
    assert len(names) == 2
    for number, name in enumerate(names):
        by_name, by_number = (analysis.slowest(3, chain=one) for one in (name, number))
        pd.testing.assert_frame_equal(by_name, by_number)
    with pytest.raises(strata.TraceError, match=f"Its chains: {names[0]}, {names[1]}"):
        analysis.slowest(chain="/fats")
    with pytest.raises(strata.TraceError, match="the trace has 2, numbered from 0"):
        analysis.plot.latency(2)
    with pytest.raises(ValueError, match="at least 1: 0"):
        analysis.slowest(0)


def test_a_path_adds_up_to_the_latency(relay: strata.Analysis) -> None:
    number = int(relay.slowest(1)["message_id"].iloc[0])
    for path in (relay.path(), relay.path(number)):
        assert path["message_id"].iloc[-1] == number
        assert path["duration_ns"].sum() == relay.slowest(1)["latency_ns"].iloc[0]
        assert path["share"].sum() == pytest.approx(1)
        begins = path["begin_ns"] + path["duration_ns"]
        assert (begins.iloc[:-1].to_numpy() == path["begin_ns"].iloc[1:].to_numpy()).all()
        waits = path[path["layer"] == "executor wait"]
        assert waits["behind"].str.contains("/relay_").any()
        assert (path.loc[path["layer"] == "take", "behind"] == "").all()
    with pytest.raises(strata.TraceError, match="matched messages, numbered from 0"):
        relay.path(10**9)


def test_the_long_table_has_each_layer_of_each_message(relay: strata.Analysis) -> None:
    long = relay.layers_long()
    sums = long.groupby("message_id")["duration_ns"].sum()
    messages = relay.messages.set_index("message_id")
    assert sums.to_dict() == messages["latency_ns"].to_dict()
    wide = messages["executor_wait_ns"].dropna().astype(int)
    own = long[long["layer"] == "executor wait"].set_index("message_id")["duration_ns"]
    assert own.to_dict() == wide.to_dict()
    assert (long["hop_id"].to_numpy() == messages["hop_id"][long["message_id"]].to_numpy()).all()
    assert long["message_id"].is_monotonic_increasing


def figures(analysis: strata.Analysis) -> Iterator[figure]:
    yield analysis.plot.latency()
    yield analysis.plot.layers()
    yield analysis.plot.quantiles()
    yield analysis.plot.hops()
    yield analysis.plot.timeline()


def test_figures_are_drawn_in_a_browser(sample: Sample, browser: Browser, tmp_path: Path) -> None:
    analysis = strata.analyze(sample("ref_multi_full"))
    for number, plot in enumerate(figures(analysis)):
        path = tmp_path / f"{number}.html"
        path.write_text(file_html(plot, INLINE, title="figure"))
        page = browser.new_page(viewport={"width": 1000, "height": 700})
        errors: list[str] = []
        page.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_function("Bokeh.documents.length && Bokeh.documents[0].is_idle")
        assert errors == []
        # As wide as the page, with some 40 % of the width for what is drawn.
        assert page.evaluate("document.documentElement.scrollWidth") <= 1000
        frames = page.evaluate(
            "[...Bokeh.index].flatMap(v => [...(v.child_views?.length ? v.child_views : [v])])"
            ".filter(v => v.frame).map(v => v.frame.bbox.width)"
        )
        assert max(frames) > 400
        page.close()


@pytest.mark.parametrize("name", ["fast_relay1p_overload", "ref_multi_full"])
def test_figures_can_be_shown(sample: Sample, name: str) -> None:
    for plot in figures(strata.analyze(sample(name))):
        document = Document()
        document.add_root(plot)
        assert document.validate() is None
        assert list(plot.select({"type": GlyphRenderer}))


def test_the_bars_of_layers_are_as_long_as_the_mean_latency(relay: strata.Analysis) -> None:
    plot = relay.plot.layers()
    instances = relay.chain_instances[relay.chain_instances["chain_id"] == 0]
    ends = np.max([bar.data_source.data["right"] for bar in plot.renderers], axis=0)
    names = plot.renderers[0].data_source.data["y"]
    shown = dict(zip(names, ends, strict=True))["all messages"]
    assert shown == pytest.approx(instances["latency_ns"].mean() / 1e6)


def test_the_timeline_shows_the_message_and_what_it_waited_behind(sample: Sample) -> None:
    analysis = strata.analyze(sample("fast_blocked_st"))
    number = int(analysis.slowest(1)["message_id"].iloc[0])
    spans = analysis.timeline(number).frame()
    plot = analysis.plot.timeline()
    bars = {item.label.value: item.renderers[0].data_source.data for item in plot.legend[0].items}
    own = spans[spans["own"]]
    assert set(own["layer"]) == set(bars) - {"other work", "work that it waited behind"}
    drawn = sum(
        right - left
        for layer in set(own["layer"])
        for left, right in zip(bars[layer]["left"], bars[layer]["right"], strict=True)
    )
    assert drawn == pytest.approx(analysis.slowest(1)["latency_ns"].iloc[0] / 1e6)
    behind = bars["work that it waited behind"]
    waited = spans[spans["waited_ns"] > 0]
    assert behind["label"] == waited["label"].tolist()
    assert any("[/slow]" in label for label in behind["label"])
    lasts = np.subtract(behind["right"], behind["left"])
    assert lasts == pytest.approx(waited["duration_ns"].to_numpy() / 1e6)
    assert set(behind["y"]) <= set(plot.y_range.factors)
    with pytest.raises(strata.TraceError, match="matched messages, numbered from 0"):
        analysis.plot.timeline(10**9)


def test_lanes_of_the_same_role_are_named_apart() -> None:
    lanes = [Lane("thread", "executor of /a", vtid=number) for number in (1, 2)]
    unknown = [Lane("transit", "in transit"), Lane("transit", "in transit")]
    names = lane_names([*lanes, *unknown])
    assert names[:2] == ["executor of /a", "executor of /a (2)"]
    assert len(set(names)) == 4


def test_hops_are_named_apart(relay: strata.Analysis) -> None:
    factors = relay.plot.hops().y_range.factors
    assert "/chain_0: /source -> /relay_0" in factors
    assert len(set(factors)) == len(factors) == 4


def test_there_is_nothing_to_draw_without_messages() -> None:
    trace = TraceSummary("/tmp/t", 1, 0, 0, 10**9, ())
    empty = strata.Analysis(GivenResults(trace, MessageCounts(0, 0, 0, 0, 0, 0), {}))
    for draw in (
        empty.plot.latency,
        empty.plot.layers,
        empty.plot.quantiles,
        empty.plot.hops,
        empty.plot.timeline,
    ):
        with pytest.raises(strata.TraceError, match="Cannot plot"):
            draw()
    assert empty.slowest().empty
    assert empty.slowest().dtypes["latency_ns"] == np.int64
    assert empty.layers_long().empty
    with pytest.raises(strata.TraceError, match="has 0 matched messages"):
        empty.path()


def test_durations_in_milliseconds(relay: strata.Analysis) -> None:
    messages = relay.messages
    found = strata.in_ms(messages)
    assert found["latency_ms"].tolist() == pytest.approx(
        (messages["latency_ns"] / 1e6).tolist(), abs=0.0006
    )
    # Instants stay, and so do null, the order of columns and the frame that was given.
    assert found["publish_ns"].equals(messages["publish_ns"])
    assert found["serialize_ms"].isna().all()
    assert found["executor_wait_ms"].isna().equals(messages["executor_wait_ns"].isna())
    assert [name.replace("_ms", "_ns") for name in found] == list(messages)
    assert "latency_ns" in messages
    assert strata.in_ms(pd.DataFrame({"a_ns": pd.array([1_234_567, None], "Int64")}), 1)[
        "a_ms"
    ].tolist()[0] == pytest.approx(1.2)


def test_help_shows_what_there_is() -> None:
    page = pydoc.plain(pydoc.render_doc(strata))
    for name in strata.__all__:
        assert name in page
    assert 'strata.analyze("sessions/mine")' in page
    for method in ("summary", "slowest", "path", "layers_long", "plot"):
        assert method in pydoc.plain(pydoc.render_doc(strata.Analysis))
    assert 'chain="/image -> /objects"' in pydoc.plain(pydoc.render_doc(strata.analyze))
    assert set(strata.__all__) <= set(dir(strata))


def test_two_recordings_are_compared(sample: Sample) -> None:
    before, after = sample("fast_relay1p_st"), strata.analyze(sample("fast_relay1p_mt"))
    found = strata.compare(before, after)
    rows = found.rows()
    whole = rows[(rows["kind"] == "chain") & rows["layer"].isna()].iloc[0]
    layers = rows[(rows["kind"] == "chain") & (rows["name"] == whole["name"])]
    layers = layers[layers["layer"].notna()]
    assert layers["difference_mean_ns"].sum() == pytest.approx(whole["difference_mean_ns"])
    assert whole["shift_low_ns"] <= whole["shift_ns"] <= whole["shift_high_ns"]
    assert whole["b_p50_ns"] == after.chains["latency_p50_ns"].iloc[0]


def test_an_export_takes_what_the_command_takes(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    analysis = strata.analyze(sample("fast_relaymp_st"))
    chain = str(analysis.chains["name"][0])
    written = analysis.export("parquet", tmp_path / "out", chain=chain, slowest=2)
    assert written.target == tmp_path / "out"
    contents = json.loads((tmp_path / "out/tables.json").read_text())
    assert contents["choice"]["slowest"] == 2
    assert contents["tables"]["chain_instances"]["rows"] == 2
    with pytest.raises(ValueError, match="to is a format, one of perfetto"):
        analysis.export("papyrus", tmp_path / "other")
    with pytest.raises(OutputError, match="--force"):
        analysis.export("parquet", tmp_path / "out")
