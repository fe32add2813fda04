# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The pages for users of other tools: their blocks run, and give what the other tool's would."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bokeh.plotting
import pandas as pd
import pytest
from bokeh.embed import json_item
from bokeh.models import LayoutDOM
from click.testing import CliRunner
from strata_command import strata as run_strata

import strata
from strata.cli.main import strata as command
from strata.export.tracetools_analysis import data_model

PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
SHELL = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture
def recordings(
    sample: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Give a directory in which the recordings of the pages are."""
    (tmp_path / "sessions").mkdir()
    for name, trace in (("mine", "fast_relaymp_st"), ("lifecycle", "fast_lifecycle")):
        (tmp_path / "sessions" / name).symlink_to(sample(trace))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(page: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, Any], list[Any]]:
    """Run the Python blocks of a page; return its names and what it showed."""
    shown: list[Any] = []
    monkeypatch.setattr(bokeh.plotting, "show", shown.append)
    names: dict[str, Any] = {}
    for block in PYTHON.findall(page.read_text()):
        exec(compile(block, page.name, "exec"), names)
    for figure in shown:
        assert isinstance(figure, LayoutDOM)
        assert json_item(figure)
    return names, shown


def _data(figure: Any) -> list[dict[str, Any]]:
    return [renderer.data_source.data for renderer in figure.renderers]


@pytest.mark.usefixtures("recordings")
def test_figures_of_tracetools_analysis(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = root / "docs/from-tracetools-analysis.md"
    names, shown = _run(page, monkeypatch)
    model = data_model(names["a"])
    ran = model.callback_instances.groupby("callback_object")["duration"]
    count = len(ran)
    assert count == 11
    # A figure for each callback, then the histogram, all together, the lifecycle, the latency.
    *each, histogram, together, timeline, _ = shown
    assert len(each) == count
    assert sorted(len(_data(figure)[0]["ms"]) for figure in each) == sorted(ran.count())
    assert len(together.renderers) == count
    total_ms = sum(float(data["ms"].sum()) for data in _data(together))
    assert total_ms == pytest.approx(model.callback_instances["duration"].sum().value / 1e6)
    first = names["a"].callbacks["duration_count"].iloc[0]
    assert _data(histogram)[0]["top"].sum() == first
    states = names["lifecycle"].lifecycle_states
    assert sum(len(data["left"]) for data in _data(timeline)) == states["end_ns"].notna().sum() > 0
    durations = names["durations"]
    assert sorted(durations["duration_count"]) == sorted(ran.count())
    expected = ran.sum().astype("int64") / 1e6
    assert sorted(durations["sum_ms"]) == pytest.approx(sorted(expected))
    assert names["allocations"] == {}


@pytest.mark.usefixtures("recordings")
def test_figures_of_caret(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, shown = _run(root / "docs/from-caret.md", monkeypatch)
    a = names["a"]
    assert len(shown) >= 6
    frequency = names["frequency"]
    assert frequency.sum() == len(names["runs"]) == a.callbacks["count"].sum()
    gaps = names["period"].dropna()
    assert len(gaps) == a.callbacks["period_count"].sum()
    by_callback = gaps.groupby(names["runs"].loc[gaps.index, "callback_id"]).median()
    medians = a.callbacks.set_index("callback_id")["period_p50_ns"].dropna()
    pd.testing.assert_series_equal(
        by_callback.astype(float), medians.astype(float), check_names=False
    )
    chain = a.chain_instances[a.chain_instances["chain_id"] == 0]
    assert len(names["response"]) == len(chain) == 2000
    assert (
        names["per_node"].sum(axis=1).sort_index().tolist()
        == chain.sort_values("chain_instance_id")["latency_ns"].tolist()
    )


@pytest.mark.usefixtures("recordings")
def test_commands_are_those_of_strata(root: Path) -> None:
    lines = [
        line.split("#")[0].strip()
        for block in SHELL.findall((root / "docs/from-caret.md").read_text())
        for line in block.splitlines()
    ]
    assert len(lines) >= 8
    for line in lines:
        program, *words = shlex.split(line)
        assert program == ".venv/bin/strata"
        if words[0] in ("record", "doctor"):
            # They look at this machine: that they have such options is enough.
            text = CliRunner().invoke(command, [words[0], "--help"]).output
            own = words[: words.index("--")] if "--" in words else words
            assert all(word in text for word in own[1:] if word.startswith("--"))
        else:
            run = run_strata(*words)
            assert run.returncode == 0, (line, run.stderr)


def test_pages_name_what_is_there(root: Path) -> None:
    attributes = {
        name
        for page in ("from-tracetools-analysis.md", "from-caret.md")
        for name in re.findall(r"`a\.(\w+)", (root / "docs" / page).read_text())
    }
    assert len(attributes) > 5
    assert all(hasattr(strata.Analysis, name) for name in attributes)
