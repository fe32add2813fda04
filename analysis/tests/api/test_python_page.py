# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/python.md: its blocks are run as they are written, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bokeh.plotting
import pandas as pd
import pytest

import strata

BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
LINKS = "links:\n- {node: /nobody, inputs: [/a], outputs: [/b], kind: periodic_async}"


@pytest.fixture
def recordings(
    sample: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Give a directory in which the page's recordings are."""
    (tmp_path / "sessions").mkdir()
    for name, trace in (
        ("mine", "cell_relay"),
        ("before", "fast_relay1p_st"),
        ("after", "fast_relay1p_mt"),
    ):
        (tmp_path / "sessions" / name).symlink_to(sample(trace))
    (tmp_path / "links.yaml").write_text(LINKS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_block_runs(
    recordings: Path,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(bokeh.plotting, "show", shown.append)
    blocks = BLOCK.findall((root / "docs/python.md").read_text())
    assert len(blocks) >= 10
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert len(shown) == 5
    assert isinstance(names["a"], strata.Analysis)
    assert isinstance(names["long"], pd.DataFrame)
    assert (recordings / "slowest/tables.json").is_file()
    printed = capsys.readouterr().out
    assert "Did you mean /chain_1" in printed
    assert "sessions/mine" in printed
