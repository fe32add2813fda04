# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata analyze --chain` and `--links` as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from strata_command import strata

Sample = Callable[[str], Path]


def test_a_chain_is_given_by_its_topics(sample: Sample) -> None:
    run = strata(
        "analyze", sample("fast_relay1p_st"), "--chain", "/chain_1->/chain_2", "--format", "json"
    )
    (chain,) = json.loads(run.stdout)["chains"]
    assert chain["name"] == "/chain_1 -> /chain_2"
    assert chain["nodes"] == ["/relay_0", "/relay_1", "/relay_2"]
    assert chain["count"] == 2000


def test_the_arrow_of_the_summary_is_an_arrow_too(sample: Sample) -> None:
    arguments = ("analyze", sample("fast_relay1p_st"), "--format", "csv", "--table", "chains")
    shown, written = (strata(*arguments, "--chain", f"/chain_1 {arrow} /chain_2") for arrow in "→>")
    assert "/chain_1 -> /chain_2" in shown.stdout
    assert shown.stdout == written.stdout


@pytest.mark.parametrize(
    ("chain", "code", "text"),
    [
        (
            "/chain_0 -> /nothing",
            1,
            "no message of /nothing was matched. Topics with messages: /chain_0, /chain_1,",
        ),
        (
            "/chian_1 -> /chain_2",
            1,
            "no message of /chian_1 was matched. Did you mean /chain_1, /chain_0 or /chain_2?",
        ),
        (
            "/chain_1 -> /chain_0",
            1,
            "no message passed from each of these topics to the next through callbacks. "
            "Chains in the trace: /chain_0 -> /chain_1 -> /chain_2 -> /chain_3. If a node",
        ),
        ("/chain_0 ->", 2, "--chain: '/chain_0 ->' is not a list of topics joined by ->"),
        ("chain_0", 2, "'chain_0' in 'chain_0' is not the full name of a topic"),
    ],
)
def test_a_chain_that_is_not_there_is_refused(
    sample: Sample, chain: str, code: int, text: str
) -> None:
    run = strata("analyze", sample("fast_relay1p_st"), "--chain", chain)
    assert run.returncode == code
    assert text in " ".join(run.stderr.split())
    assert run.stdout == ""


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("- 1", "it has no list `links`"),
        ("links: [{node: /a}]", "link 1: it must have the keys inputs, kind, node, outputs"),
        ("links: [{node: /a, inputs: [/b], outputs: [/c], kind: x}]", "kind 'x' is not one of"),
        ("links: [{node: a, inputs: [/b], outputs: [/c], kind: partial_sync}]", "not a full name"),
        ("links: [{node: /a, inputs: /b, outputs: [/c], kind: partial_sync}]", "must be a list"),
        ("links: [", "Cannot read links"),
    ],
)
def test_a_file_of_links_that_is_none_is_refused(
    sample: Sample, tmp_path: Path, content: str, text: str
) -> None:
    path = tmp_path / "links.yaml"
    path.write_text(content)
    run = strata("analyze", sample("fast_fusion"), "--links", path, "--quality")
    assert run.returncode == 1
    assert text in " ".join(run.stderr.split())


def test_a_link_of_a_node_that_is_not_there_is_said(sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / "links.yaml"
    path.write_text(
        "links: [{node: /nobody, inputs: [/fast], outputs: [/fused], kind: partial_sync}]"
    )
    run = strata("analyze", sample("fast_fusion"), "--links", path, "--quality")
    assert run.returncode == 0
    assert "1 declared message link names a node" in " ".join(run.stdout.split())
