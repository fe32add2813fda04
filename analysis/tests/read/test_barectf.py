# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Traces of bare-metal producers that barectf generates: bits, alignments, both byte orders.

The counts are the producer's, the rows babeltrace2's (`oracle`).
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from oracle import assert_equal

from strata.read import open_trace

# It needs setuptools' pkg_resources, which environments of Python 3.12 are made without.
barectf = pytest.importorskip("barectf", exc_type=ImportError)

PRODUCERS = Path(__file__).parent / "producers"
CONFIGURATIONS = ("barectf", "barectf_be")
Record = Callable[[str, int, str], tuple[Path, Counter[str]]]


@pytest.fixture(scope="session")
def producers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Generate and build the producer of each configuration, beside its metadata."""
    made = {}
    for name in CONFIGURATIONS:
        made[name] = tmp_path_factory.mktemp(name)
        generate(PRODUCERS / f"{name}.yaml", made[name])
        sources = [
            PRODUCERS / "barectf_packets.c",
            PRODUCERS / "values.c",
            made[name] / "barectf.c",
        ]
        line = ["cc", "-O1", "-I", PRODUCERS, "-I", made[name], *sources]
        subprocess.run([*line, "-o", made[name] / "producer"], check=True)
    return made


def generate(configuration: Path, directory: Path) -> None:
    """Do what `barectf generate` does."""
    with configuration.open() as file:
        parsed = barectf.configuration_from_file(file, inclusion_directories=[str(PRODUCERS)])
    generator = barectf.CodeGenerator(parsed)
    headers, sources = generator.generate_c_headers(), generator.generate_c_sources()
    for made in (*headers, *sources, generator.generate_metadata_stream()):
        (directory / made.name).write_text(made.contents)


@pytest.fixture
def record(producers: dict[str, Path], tmp_path: Path) -> Record:
    """Run a producer; returns its trace and how often it recorded what."""

    def run(configuration: str, rounds: int, seed: str) -> tuple[Path, Counter[str]]:
        trace = tmp_path / configuration
        trace.mkdir()
        shutil.copy(producers[configuration] / "metadata", trace)
        line = [producers[configuration] / "producer", str(rounds), seed, trace]
        said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
        return trace, Counter(json.loads(said))

    return run


@pytest.mark.parametrize("seed", ["one", "two", "three"])
@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_every_field_type_is_what_babeltrace_reads(
    record: Record, configuration: str, seed: str
) -> None:
    directory, recorded = record(configuration, 300, seed)
    discarded = recorded.pop("discarded")
    assert discarded > 0
    trace = open_trace(directory)
    assert {name: len(rows) for name, rows in trace.tables().items()} == dict(recorded)
    assert trace.findings.counts == {"discarded_events": discarded}
    assert_equal(directory)


def test_the_byte_order_changes_no_row(record: Record) -> None:
    little, _ = record("barectf", 200, "order")
    big, _ = record("barectf_be", 200, "order")
    assert rows(little) == rows(big)


def rows(directory: Path) -> dict[str, str]:
    """Return the tables without the host as text: a NaN equals itself there."""
    tables = open_trace(directory).tables()
    return {name: repr(table.drop(["host"]).to_pylist()) for name, table in tables.items()}
