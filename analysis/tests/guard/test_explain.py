# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The cause of a fault is one of what the fault is about, and of nothing that is called alike."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from strata.analysis import Analysis
from strata.guard.explain import explain
from strata.guard.silence import _is_named

NAME = "fast_relay1p_overload"


def fault(kind: str, subject: str, at_ns: int) -> dict[str, object]:
    return {"kind": kind, "subject": subject, "at_ns": at_ns}


def test_a_hop_is_explained_by_its_own_layers(analysis_of: Callable[[str], Analysis]) -> None:
    """Though a chain, which took longer elsewhere, ended with it."""
    analysis = analysis_of(NAME)
    instances, messages = analysis.rows("chain_instances"), analysis.rows("messages")
    row = int(instances["latency_ns"].argmax())
    last, at_ns = int(instances["message_id"][row]), int(instances["end_ns"][row])
    chain, hop = (explain(analysis, fault(kind, "", at_ns)) for kind in ("chain", "hop"))
    assert chain is not None
    assert hop is not None
    own_ns = int(messages["callback_end_ns"][last] - messages["publish_ns"][last])
    assert hop.duration_ns is not None
    assert hop.duration_ns <= own_ns
    assert chain.duration_ns is not None
    assert chain.duration_ns > own_ns
    assert explain(analysis, fault("event", "", at_ns)) is None


@pytest.mark.parametrize(
    ("subject", "topic", "node", "is_meant"),
    [
        ("/scan (/laser)", "/scan", "/laser", True),
        ("/scan (/laser (pid 7))", "/scan", "/laser", True),
        ("/scan (/laser (pid 8))", "/scan", "/laser", False),
        ("/scan (/laser_2)", "/scan", "/laser", False),
        ("/scan_2 (/laser)", "/scan", "/laser", False),
        ("/scan (/robot/laser)", "/robot/laser", "", False),
    ],
)
def test_names_are_whole(subject: str, topic: str, node: str, is_meant: bool) -> None:
    assert _is_named(subject, topic, node, 7) == is_meant


def test_a_loss_is_of_the_hop_that_is_named(analysis_of: Callable[[str], Analysis]) -> None:
    analysis = analysis_of("cyc_img720p30")
    losses = analysis.hop_losses
    lost = losses[losses["outcome"] == "lost"]
    assert lost["count"].sum() == 57
    hops = analysis.hops.set_index("hop_id")
    for hop_id in np.unique(lost["hop_id"]).tolist():
        hop = hops.loc[hop_id]
        where = f"{hop['publisher_node']} -> {hop['subscription_node']}"
        named = explain(analysis, fault("loss", f"hop {hop['topic']} ({where})", 0))
        assert named is not None
        assert named.where == hop["topic"]
        assert explain(analysis, fault("loss", f"hop {hop['topic']}_raw ({where})", 0)) is None
