# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a verb does not need it does not import: help and small traces cost what they must."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from strata.cli.campaign import VERBS as CAMPAIGN_VERBS
from strata.cli.main import VERBS
from strata.cli.verbs import Verb

LOADED = """
import sys
from strata.cli.main import main
sys.argv = ["strata", *sys.argv[1:]]
try:
    main()
finally:
    print("loaded:", *sys.modules, file=sys.stderr)
"""
LARGE = {"numpy", "pandas", "pyarrow", "scipy", "statsmodels", "bokeh", "jinja2", "pydantic"}
DRAWING = {"rich"}
TABLES = {"pandas", "pyarrow", "scipy", "statsmodels", "bokeh", "jinja2", "pydantic", "duckdb"}


def loaded(*arguments: str) -> set[str]:
    """Return the outermost packages that a run of the command has imported at its end."""
    run = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    (names,) = (line for line in run.stderr.splitlines() if line.startswith("loaded: "))
    return {name.partition(".")[0] for name in names.split()[1:]}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["campaign", "--help"]], ids=str)
def test_help_imports_nothing_large(arguments: Sequence[str]) -> None:
    assert not loaded(*arguments) & (LARGE | DRAWING | {"yaml"})


@pytest.mark.parametrize(
    "verb",
    [
        "analyze",
        "compare",
        "convert",
        "doctor",
        "export",
        "hops",
        "info",
        "links",
        "path",
        "report",
        "sql",
    ],
)
def test_help_of_a_verb_imports_nothing_of_its_work(verb: str) -> None:
    assert not loaded(verb, "--help") & (LARGE | DRAWING | {"duckdb"})


@pytest.mark.parametrize("verb", ["record", "run", "scenarios"])
def test_help_of_a_verb_that_runs_programs_is_as_light(verb: str) -> None:
    assert not loaded(verb, "--help") & (LARGE | DRAWING | {"yaml"})


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_what_an_analysis_says_needs_no_frames(form: str, sample: Callable[[str], Path]) -> None:
    # The second has samples of its threads beside the trace.
    for name in ("cell_relay", "throws_rclpy"):
        assert not loaded("analyze", str(sample(name)), "--format", form) & TABLES


@pytest.mark.parametrize(
    ("name", "verb"), [*VERBS.items(), *CAMPAIGN_VERBS.items()], ids=lambda value: str(value)[:30]
)
def test_help_says_of_a_verb_what_the_verb_says(name: str, verb: Verb) -> None:
    command = verb.load()
    assert command.name == name
    # What click itself would show, were there room for all of it.
    assert verb.summary == command.get_short_help_str(limit=200)
