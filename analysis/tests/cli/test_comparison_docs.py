# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The output that docs/compare.md shows is what the sample traces give."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from strata_command import strata

A, B = "fast_relay1p_st", "fast_relaymp_st"


@pytest.mark.parametrize(
    ("first", "options"), [("B is 575 us slower", ()), ("chain ─", ("--all",))]
)
def test_the_output_in_the_documentation_is_that_of_the_samples(
    sample: Callable[[str], Path], root: Path, first: str, options: tuple[str, ...]
) -> None:
    page = (root / "docs/compare.md").read_text(encoding="utf-8")
    fenced = re.findall(r"^```\w*\n(.*?)^```$", page, re.S | re.M)
    (block,) = (found for found in fenced if found.startswith(first))
    done = strata("compare", sample(A), sample(B), *options)
    given = [line.rstrip() for line in done.stdout.splitlines()]
    assert [line for line in block.splitlines() if line != "..." and line not in given] == []
