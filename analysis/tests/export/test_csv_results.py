# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables as CSV hold what the analysis does, read back by Python's own csv module."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from strata import analyze
from strata.schema.tables import TABLES


def _text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_every_row_is_there(sample: Callable[[str], Path], tmp_path: Path) -> None:
    analysis = analyze(sample("fast_relaymp_st"))
    analysis.export("csv", tmp_path / "out")
    contents = json.loads((tmp_path / "out/tables.json").read_text())
    for table in TABLES:
        entry = contents["tables"][table.name]
        with (tmp_path / "out" / entry["file"]).open(newline="", encoding="utf-8") as file:
            head, *lines = csv.reader(file)
        assert head == table.names
        expected = list(analysis.rows(table.name).lines())
        assert len(lines) == entry["rows"] == len(expected)
        for line, row in zip(lines, expected, strict=True):
            for text, value in zip(line, row, strict=True):
                if isinstance(value, float):
                    assert float(text) == value
                else:
                    assert text == _text(value)
