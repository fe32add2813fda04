# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Stages give what they find wrong; the runner gathers it, whatever is asked for first."""

from __future__ import annotations

import pytest

from strata.pipeline.stages import FINDINGS, Made, stage
from strata.schema.quality import Finding, Findings


def named(name: str) -> Findings:
    """One finding whose details say in which order findings were gathered."""
    return Findings(Finding("processes_left_out", 1, (name,)))


def made(ran: list[str]) -> Made:
    def first(given: int) -> tuple[int, Findings]:
        ran.append("first")
        return given + 1, named("first")

    def second(found: int) -> tuple[int, int, Findings]:
        ran.append("second")
        return found, found * 2, named("second")

    def alone() -> Findings:
        ran.append("alone")
        return named("alone")

    def told(findings: Findings) -> list[str]:
        return findings.details["processes_left_out"]

    stages = (
        stage(("one", "two", FINDINGS), second, "begun"),
        stage(FINDINGS, alone),
        stage(("begun", FINDINGS), first, "given"),
        stage("quality", told, FINDINGS),
    )
    return Made(stages, given=20)


@pytest.mark.parametrize("asked", [("quality",), ("begun", "quality"), ("two", "one", "quality")])
def test_findings_are_told_in_the_order_of_the_stages(asked: tuple[str, ...]) -> None:
    ran: list[str] = []
    results = made(ran)
    values = {name: results[name] for name in asked}
    assert values["quality"] == ["second", "alone", "first"]
    assert (results["begun"], results["one"], results["two"]) == (21, 21, 42)
    assert sorted(ran) == ["alone", "first", "second"]
    assert results.findings().counts == {"processes_left_out": 3}


def test_what_a_stage_found_is_no_value_by_name() -> None:
    with pytest.raises(KeyError):
        made([])[FINDINGS]
