# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables as CSV hold what the analysis does, read back by Python's own csv module."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from strata import analyze
from strata.errors import OutputError
from strata.export.chosen import Choice, Chosen
from strata.export.table_directory import write_directory
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


def test_a_table_is_not_written_beyond_the_bound(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    sizes = []

    def write(table: pa.Table, file: BinaryIO) -> None:
        try:
            pa_csv.write_csv(table, file)
        finally:
            sizes.append(file.tell())

    chosen = Chosen(analyze(sample("fast_throws")), Choice(max_bytes=100_000))
    tables = [("small", pa.table({"a": [1]})), ("large", pa.table({"a": range(1_000_000)}))]
    with pytest.raises(OutputError, match=r"the export is larger than 97\.7 KiB"):
        write_directory(chosen, tmp_path / "out", tables, ".csv", write, force=False)
    assert sizes[0] == len('"a"\n1\n')
    # What did not fit was refused, and nothing after it was written.
    assert 100_000 < sizes[1] < 200_000
    assert not list(tmp_path.iterdir())
