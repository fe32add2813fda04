# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata links`: from a trace whose chains end, to a file that makes them go on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from strata_command import strata as run_strata

import strata
from strata.read.links import read_links
from strata.show.words.links import links_file

Sample = Callable[[str], Path]
CHAINS = ["/fast -> /fused", "/slow -> /fused"]


def test_the_proposed_file_is_usable_as_it_is(sample: Sample, tmp_path: Path) -> None:
    trace, file = sample("fast_fusion"), tmp_path / "links.yaml"
    before = run_strata("analyze", trace, "--layers", "--quality", columns=200)
    assert f"strata links {trace} > links.yaml && strata analyze {trace}" in before.stdout
    assert "warning: 227 publications were made in timers or threads of nodes" in before.stdout
    said = "Chains end at /fusion: it publishes /fused in a timer of 50.0 ms, not in the callback "
    assert f"{said}of /fast or /slow." in before.stdout
    assert f"`strata links {trace} > links.yaml`" in before.stdout.replace("\n", " ")

    done = run_strata("links", trace, "-o", file)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    text = file.read_text()
    assert "  # /fusion publishes /fused in a timer of 50.0 ms." in text
    assert "  #   /slow: a message was there before 227 of 227, a new one before 47." in text
    after = run_strata("analyze", trace, "--links", file, "--layers", "--quality")
    assert after.returncode == 0
    assert all(chain in after.stdout for chain in CHAINS)
    assert "Chains end" not in after.stdout
    assert "timers or threads" not in after.stdout


def test_of_the_reference_system_it_proposes_what_its_authors_would_declare(
    sample: Sample, root: Path
) -> None:
    analysis = strata.analyze(sample("ref_multi_full"))
    declared = read_links(root / "analysis/tests/traces/ref_multi_full-links.yaml")
    pairs = {
        (link.node, given, output, link.kind)
        for link in declared
        for given in link.inputs
        for output in link.outputs
    }
    probable = analysis.link_proposals[analysis.link_proposals["probable"]]
    found = set(zip(*(probable[name] for name in ("node", "input", "output", "kind")), strict=True))
    # Fusion of lidar and map is seen in the callbacks of the lidar only: the map is always there.
    assert pairs - found == {
        ("/NDTLocalizer", "/VoxelGridDownsampler", "/NDTLocalizer", "partial_sync")
    }
    assert found <= pairs
    counts = dict(zip(analysis.quality["code"], analysis.quality["count"], strict=True))
    assert (counts["unlinked_publications"], counts["fan_in_publications"]) == (87, 213)


@pytest.mark.parametrize("name", ["fast_relaymp_st", "fast_svc", "services_kilted"])
def test_where_nothing_is_stored_the_file_is_empty(
    sample: Sample, tmp_path: Path, name: str
) -> None:
    analysis = strata.analyze(sample(name))
    file = tmp_path / "links.yaml"
    file.write_text(links_file(analysis.rows("link_proposals"), "a\nb: [\x1b"))
    assert read_links(file) == ()
    assert len(file.read_text().splitlines()) == 3
