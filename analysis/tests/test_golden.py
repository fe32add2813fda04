# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Whole results of small traces, as they were looked at and found right.

Any change of a result shows here as a difference of a file. After one that is meant:

    STRATA_WRITE_GOLDEN=1 .venv/bin/python -m pytest ... analysis/tests/test_golden.py
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import strata
from strata.schema.links import MessageLink
from strata.show.document.analysis import document

GOLDEN = Path(__file__).parent / "golden"
FUSION = MessageLink("/fusion", ("/fast", "/slow"), ("/fused",), "periodic_async")
TRACES: dict[str, tuple[MessageLink, ...]] = {
    "dds_kilted_shm": (),
    "driver_polled": (),
    "fast_blocked_st": (),
    "fast_fusion": (FUSION,),
    "fast_lifecycle": (),
    "fast_throws": (),
    "operations_udp": (),
    "services_kilted": (),
}


def plain(value: Any) -> Any:
    """Floats to twelve digits: their last ones are the processor's."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


@pytest.mark.parametrize("name", TRACES)
def test_results_are_as_before(sample: Callable[[str], Path], name: str) -> None:
    analysis = strata.analyze(sample(name), links=TRACES[name])
    found = plain(document(analysis))
    found["trace"].pop("path")
    found["event_uses"] = [
        f"{row['count']} {row['event']}: {'' if row['used'] else 'ignored, '}{row['use']}"
        for row in analysis.event_uses.to_dict("records")
    ]
    path = GOLDEN / f"{name}.json"
    text = json.dumps(found, indent=1) + "\n"
    if os.environ.get("STRATA_WRITE_GOLDEN"):
        path.write_text(text)
    assert json.loads(path.read_text()) == json.loads(text)
