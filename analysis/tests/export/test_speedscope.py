# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Profiles for speedscope: they keep its format, and add up to the latencies of the chains."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from strata import Analysis, analyze

Sample = Callable[[str], Path]
TRACES = ["fast_relaymp_st", "fast_blocked_st", "cell_relay"]


def _exported(analysis: Analysis, target: Path, **choice: Any) -> dict[str, Any]:
    analysis.export("speedscope", target, **choice)
    document: dict[str, Any] = json.loads(target.read_text())
    return document


@pytest.mark.parametrize("name", TRACES)
def test_a_profile_adds_up_to_the_latency_of_its_chain(
    sample: Sample, tmp_path: Path, name: str
) -> None:
    analysis = analyze(sample(name))
    document = _exported(analysis, tmp_path / "out.json")
    latency = analysis.chain_instances.groupby("chain_id")["latency_ns"].sum()
    assert [sum(profile["weights"]) for profile in document["profiles"]] == latency.tolist()
    names = analysis.chains["name"].tolist()
    assert [profile["name"].split(" (")[0] for profile in document["profiles"]] == names


@pytest.mark.parametrize("name", TRACES)
def test_the_format_is_kept(sample: Sample, tmp_path: Path, name: str) -> None:
    document = _exported(analyze(sample(name)), tmp_path / "out.json")
    frames = document["shared"]["frames"]
    assert all(set(frame) == {"name"} and frame["name"] for frame in frames)
    for profile in document["profiles"]:
        assert profile["type"] == "sampled"
        assert profile["unit"] == "nanoseconds"
        assert len(profile["samples"]) == len(profile["weights"])
        assert (profile["startValue"], profile["endValue"]) == (0, sum(profile["weights"]))
        assert all(0 <= at < len(frames) for stack in profile["samples"] for at in stack)
        assert all(type(weight) is int and weight > 0 for weight in profile["weights"])
        stacks = Counter(map(tuple, profile["samples"]))
        assert set(stacks.values()) == {1}


def test_layers_are_those_of_the_messages(sample: Sample, tmp_path: Path) -> None:
    analysis = analyze(sample("fast_blocked_st"))
    document = _exported(analysis, tmp_path / "out.json", chain=0, slowest=7)
    (profile,) = document["profiles"]
    found: Counter[str] = Counter()
    for (_, layer, _), weight in zip(profile["samples"], profile["weights"], strict=True):
        found[document["shared"]["frames"][layer]["name"]] += weight
    slowest = analysis.slowest(7, chain=0)["message_id"]
    segments = analysis.chain_segments
    own = segments[(segments["chain_id"] == 0) & segments["message_id"].isin(slowest)]
    expected = own.groupby("layer", observed=True)["duration_ns"].sum()
    assert dict(found) == expected[expected > 0].to_dict()
    names = [frame["name"] for frame in document["shared"]["frames"]]
    assert any(name.startswith("behind ") and "[/slow] (/subs)" in name for name in names)
