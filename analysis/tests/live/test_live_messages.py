# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of a plain type by data sharing: nothing is sent, and the trace says so."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from lttng_world import ROOT, World, any_domain

import strata
from strata.schema.layers import HOP_LAYERS

pytestmark = pytest.mark.live

MESSAGES, SIZE = 20, 65536


@pytest.mark.parametrize(("kind", "transport"), [("fixed", "data sharing"), ("unbounded", "SHM")])
def test_plain_messages_are_read_in_place(
    world: World, tmp_path: Path, kind: str, transport: str
) -> None:
    target = tmp_path / "session"
    settings = {"type": kind, "size": SIZE, "subscribers": 2, "depth": MESSAGES}
    settings |= {"rmw.profile": "fastdds_data_sharing"}
    words = [word for item in settings.items() for word in ("--set", "{}={}".format(*item))]
    environment = world.environment | {
        "ROS_DOMAIN_ID": any_domain(),
        "STRATA_ROS_PREFIX": str(ROOT / ".venv"),
    }
    del environment["ROS_AUTOMATIC_DISCOVERY_RANGE"]
    line = [sys.executable, "-m", "strata", "run", "messages", "-o", target, *words]
    done = world.run(*line, "--duration", str(MESSAGES), env=environment)
    assert done.returncode == 0, done.stderr

    messages = strata.analyze(target).messages
    messages = messages[messages["topic"] == "/messages"]
    assert len(messages) == 2 * MESSAGES
    assert messages["complete"].all()
    assert set(messages["transport"]) == {transport}
    layers = [layer.column for layer in HOP_LAYERS if layer.column in messages]
    assert (messages[layers].fillna(0).sum(axis=1) == messages["latency_ns"]).all()
    assert messages["transport_ns"].notna().all()
    for sink in ("sink_0", "sink_1"):
        told = json.loads((target / f"scenario/results/{sink}.json").read_text())
        assert (told["received"], told["lost"]) == (MESSAGES, 0)
        assert told["bytes"] == MESSAGES * SIZE
