# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What rclpy programs do: await, publish from threads, put messages together."""

from __future__ import annotations

import numpy as np
from case import Case, Truth
from judge import Cause, Mean, Said
from judge_entities import Proposed
from magnitude import Count, mean_way, median_of

from cases.graphs import CHAIN, Spec, pipeline, with_input, with_process

_FUSED = """links:
  - {node: /fusion, inputs: [/left, /right], outputs: [/fused], kind: partial_sync}
"""


def _fusion(milliseconds: float) -> Spec:
    """Return camera -> /left, /raw; radar: /raw -> /right after a time; fusion of both."""
    outputs = [{"topic": "/left"}, {"topic": "/raw"}]
    timer = {"period_ms": 80, "count": 80, "publish": outputs}
    radar = {"topic": "/raw", "work_ms": milliseconds, "publish": [{"topic": "/right"}]}
    fused = [{"topic": "/fused"}]
    inputs = [{"topic": topic, "pair": True} for topic in ("/left", "/right")]
    # One publisher of the node, whichever message came last.
    inputs[1]["publish"] = fused
    return {
        "processes": {
            "camera": {"nodes": {"camera": {"timers": [timer]}}},
            "radar": {"nodes": {"radar": {"inputs": [radar]}}},
            "fusion": {"nodes": {"fusion": {"inputs": inputs}}},
            "planner": {"nodes": {"planner": {"inputs": [{"topic": "/fused"}]}}},
        }
    }


def _stored(truth: Truth) -> float:
    """Plant the median time from the end of /left's callback to the start of /right's."""
    left = {row["number"]: int(row["end_ns"]) for row in truth.rows("fusion", "callback", "/left")}
    rights = truth.rows("fusion", "callback", "/right")
    return float(np.median([int(row["begin_ns"]) - left[row["number"]] for row in rights]))


def _published(node: str, topic: str) -> Count:
    return lambda truth: len(truth.rows(node, "publish", topic))


_TAKING = ("transport", "dds receive", "wake-up", "executor wait", "take", "client take")


CASES = [
    Case(
        "worker-thread",
        "The detector hands each image to a thread, which publishes: its chain is cut there.",
        Proposed("/detector", ("/image",), ("/objects",), _published("detector", "/objects")),
        with_input(pipeline(), "detector", thread=True),
    ),
    Case(
        "fusion-undeclared",
        "A node puts two topics together, and nobody declares it.",
        Proposed("/fusion", ("/left",), ("/fused",), _published("fusion", "/fused")),
        _fusion(10),
    ),
    *(
        Case(
            f"await-{milliseconds}ms",
            f"The detector's callback awaits for {milliseconds} ms, then publishes.",
            Cause(CHAIN, ("suspended", "hold"), ("/detector",), median_of("detector", "awaited")),
            with_input(pipeline(period_ms=80, count=80), "detector", await_ms=milliseconds),
        )
        for milliseconds in (10, 40)
    ),
    *(
        Case(
            f"fusion-{milliseconds}ms",
            f"/left waits at the fusion for /right, which comes {milliseconds} ms later.",
            Cause("/left -> /fused", ("stored",), ("/left", "/fusion"), _stored),
            _fusion(milliseconds),
            links=_FUSED,
        )
        for milliseconds in (10, 30)
    ),
    Case(
        "gil",
        "Another thread of the detector's process computes in Python all the time.",
        Said(
            Cause(
                CHAIN,
                ("wake-up", "executor wait"),
                ("/detector",),
                mean_way("camera", ("detector",), "/image"),
                mean=Mean(_TAKING, ("/detector",)),
            ),
            ("GIL",),
        ),
        with_process(pipeline(), "detector", gil=True),
    ),
]
