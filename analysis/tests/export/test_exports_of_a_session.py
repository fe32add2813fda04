# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Directories that were exported into a session go with it when it is recorded again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from strata import analyze
from strata.export.formats import BY_NAME, FORMATS
from strata.record.former import CONVERTED, find_former

DIRECTORIES = [form.name for form in FORMATS if not form.suffix]
SESSION = "strata-robot-20261120T120000-1-1"


def test_every_format_that_is_a_directory_is_known() -> None:
    assert set(DIRECTORIES) <= set(CONVERTED)


@pytest.mark.parametrize("name", DIRECTORIES)
def test_an_export_is_removed_whole_and_only_if_nothing_was_added(
    sample: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    analyze(sample("fast_throws")).export(name, tmp_path / name)
    manifest = {"schema": 1, "session": SESSION, "files": ["manifest.json"]}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert BY_NAME[name].suffix == ""
    added = tmp_path / name / "mine"
    added.write_text("mine")
    assert name not in find_former(tmp_path).parts
    added.unlink()
    find_former(tmp_path).remove()
    assert not list(tmp_path.iterdir())
