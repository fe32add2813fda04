# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata export`: every format is whole or not there, bounded, and chosen in the same way."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from strata_command import strata

from strata import analyze
from strata.cli.instants import InstantOfTrace
from strata.cli.main import strata as verbs
from strata.export.formats import BY_NAME, FORMATS
from strata.schema.tables import TABLES

Sample = Callable[[str], Path]
NAMES = list(BY_NAME)


def test_results_are_the_tables_of_the_analysis(sample: Sample, tmp_path: Path) -> None:
    directory, out = sample("fast_relaymp_st"), tmp_path / "out"
    run = strata("export", directory, "--to", "parquet", "-o", out)
    assert run.returncode == 0, run.stderr
    assert re.match(rf"Wrote {out} \([\d,]+ rows, {len(TABLES)} tables, ", run.stdout)
    contents = json.loads((out / "tables.json").read_text())
    assert contents["choice"] is None
    analysis = analyze(directory)
    for table in TABLES:
        entry = contents["tables"][table.name]
        found = pq.read_table(out / entry["file"])
        assert found.column_names == list(table.names)
        assert found.to_pylist() == list(analysis.rows(table.name).records()), table.name
        assert entry["rows"] == len(found)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_replaced_unless_asked(sample: Sample, tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    words = ["export", sample("fast_throws"), "--to", name, "-o", out]
    assert strata(*words).returncode == 0
    again = strata(*words)
    assert again.returncode == 1
    assert "--force" in again.stderr
    assert strata(*words, "--force").returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", NAMES)
def test_beyond_its_bound_nothing_is_written(sample: Sample, tmp_path: Path, name: str) -> None:
    run = strata(
        *["export", sample("fast_throws"), "--to", name, "-o", tmp_path / "out"],
        *["--max-size", "100"],
    )
    assert run.returncode == 1
    assert "is larger than 100 bytes. Choose less with --chain" in run.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_each_format_takes_each_choice(sample: Sample, tmp_path: Path, name: str) -> None:
    chain = str(analyze(sample("fast_relaymp_st")).chains["name"][0])
    run = strata(
        *["export", sample("fast_relaymp_st"), "--to", name, "-o", tmp_path / "out"],
        *["--chain", chain, "--begin", "1s", "--end", "4s", "--slowest", "2"],
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(f"Wrote {tmp_path}/out (")


@pytest.mark.parametrize("name", NAMES)
def test_a_trace_may_have_a_name_that_is_no_utf8(sample: Sample, tmp_path: Path, name: str) -> None:
    named = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    named.symlink_to(sample("fast_throws"))
    plain, odd = tmp_path / "plain", tmp_path / "odd"
    first = strata("export", sample("fast_throws"), "--to", name, "-o", plain)
    second = strata("export", named, "--to", name, "-o", odd)
    assert second.returncode == 0, second.stderr
    # Behind the path: as many rows, events or slices.
    counted = re.compile(r"\((.*), [\d.,]+ \w+\)")
    assert counted.findall(second.stdout) == counted.findall(first.stdout) != []


@pytest.mark.parametrize("name", NAMES)
def test_a_choice_of_nothing_is_a_valid_export(sample: Sample, tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    run = strata("export", sample("fast_throws"), "--to", name, "-o", out, "--begin", "10h")
    assert run.returncode == 0, run.stderr
    assert out.exists()
    assert "note: no message was chosen; the trace lasts " in run.stderr


def test_an_export_of_a_session_lies_in_it(own_sample: Sample) -> None:
    directory = own_sample("fast_throws")
    (directory / "manifest.json").write_text("{}")
    for form in FORMATS:
        assert strata("export", directory, "--to", form.name).returncode == 0
        name = f"{directory.name}{form.suffix}" if form.suffix else form.name
        assert (directory / name).exists()


def test_help_lists_every_format() -> None:
    text = CliRunner().invoke(verbs, ["export", "--help"]).output
    for form in FORMATS:
        assert re.search(rf"^  {form.name}  ", text, re.MULTILINE)


def test_a_begin_after_the_end_is_refused(sample: Sample, tmp_path: Path) -> None:
    run = strata(
        *["export", sample("fast_throws"), "--to", "parquet", "-o", tmp_path / "out"],
        *["--begin", "2s", "--end", "1s"],
    )
    assert run.returncode == 2
    assert "--begin is not before --end" in run.stderr


BEGIN_NS = 1_700_000_000_500_000_000  # 2023-11-14T22:13:20.5Z


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("0s", BEGIN_NS),
        ("2.5s", BEGIN_NS + 2_500_000_000),
        ("300ms", BEGIN_NS + 300_000_000),
        ("1.000000001s", BEGIN_NS + 1_000_000_001),
        ("22:13:21", BEGIN_NS + 500_000_000),
        ("22:13:20.25 UTC", BEGIN_NS - 250_000_000),
        ("00:00:00", 1_700_006_400_000_000_000),
        ("2023-11-14T22:13:20.500000001Z", BEGIN_NS + 1),
        ("2023-11-15 00:00:00", 1_700_006_400_000_000_000),
    ],
)
def test_a_moment_is_read(text: str, ns: int) -> None:
    assert InstantOfTrace().convert(text, None, None).at(BEGIN_NS) == ns


@pytest.mark.parametrize("text", ["", "5", "25:00:00", "2023-13-01T00:00:00", "-1s", "1d"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    result = CliRunner().invoke(verbs, ["export", "x", "--to", "parquet", "--begin", text])
    assert result.exit_code == 2
    assert "is not a time: write it as 2.5s" in " ".join(result.output.replace("│", "").split())
