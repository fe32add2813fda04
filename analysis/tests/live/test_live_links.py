# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A node that publishes in a thread of its own: said, proposed, and followed."""

from __future__ import annotations

from pathlib import Path

import pytest
from chain_truth import check_sums
from recorder import Recorder

import strata
from strata.read.links import read_links
from strata.show.words.links import cut_chains, links_file

PROGRAM = Path(__file__).parent / "programs/worker.py"
MESSAGES, WORK_MS = 40, 5

pytestmark = pytest.mark.live


def test_a_worker_thread_ends_the_chain_until_it_is_linked(
    recorded: Recorder, tmp_path: Path
) -> None:
    line = ["python3", PROGRAM, str(MESSAGES), str(WORK_MS)]
    session, analysis = recorded.run(line)
    assert set(analysis.chains["name"]) == {"/given", "/made"}
    (sentence,) = cut_chains(analysis.rows("link_proposals"))
    assert sentence.startswith("Chains end at /worker: it publishes /made in thread ")
    assert sentence.endswith(", outside of callbacks, not in the callback of /given.")

    file = tmp_path / "links.yaml"
    file.write_text(links_file(analysis.rows("link_proposals"), str(session)))
    linked = strata.analyze(session, links=read_links(file))
    check_sums(linked)
    (chain,) = linked.chains.to_dict("records")
    assert (chain["name"], chain["count"]) == ("/given -> /made", MESSAGES)
    layers = linked.chain_layers
    stored = layers[layers["layer"] == "stored"].iloc[0]
    assert stored["p50_ns"] > 0.8 * WORK_MS * 1_000_000
    assert linked.link_proposals.empty
