# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A real client and a real server, recorded, and held against what they wrote down themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorder import Recorded, Recorder
from service_truth import (
    WORK_NS,
    calls_of,
    check_matrix,
    check_mute,
    check_work,
    stamps,
    waited_behind,
)

pytestmark = pytest.mark.live

CALLS = 50


def record(recorded: Recorder, distro: str, config: str = "ros2") -> Recorded:
    program = Path(__file__).parent / "programs/service_calls.py"
    truth = recorded.place / "session/truth"
    return recorded.run(["python3", program, truth, str(CALLS)], distro=distro, config=config)


def test_calls_agree_with_what_client_and_server_wrote_down(recorded: Recorder) -> None:
    session, analysis = record(recorded, "kilted")
    check_work(analysis, session)
    check_mute(analysis)
    services = analysis.services.set_index("service")
    assert services.loc["/work", ["count", "lost"]].tolist() == [2 * CALLS, 0]
    findings = analysis.quality[analysis.quality["severity"] != "info"]
    assert findings["code"].tolist() == ["untaken_requests"]

    # The server's own timer blocks it for 40 ms: calls that come meanwhile wait for the executor.
    behind = waited_behind(analysis, "__main__.Server.on_busy")
    assert len(behind) > 0
    assert (behind["request_executor_wait_ns"] >= behind["blocked_ns"]).all()
    assert behind["blocked_ns"].max() > 10_000_000
    # Of five calls at once, the last one waits while others are served.
    last = calls_of(analysis, "/work").iloc[CALLS + 4 :: 5]
    assert np.median(last["request_executor_wait_ns"].to_numpy(np.int64)) > WORK_NS


def test_before_kilted_the_services_callbacks_alone_are_known(recorded: Recorder) -> None:
    session, analysis = record(recorded, "jazzy")
    assert analysis.service_calls.empty
    assert analysis.services.empty
    row = analysis.callbacks.set_index("trigger").loc["/work"]
    own = stamps(session)
    assert row["count"] == len(own) == 2 * CALLS
    assert 0 < row["duration_p50_ns"] - np.median(own["end"] - own["start"]) < 300_000
    counts = dict(zip(analysis.quality["code"], analysis.quality["count"], strict=True))
    assert counts["service_calls_unseen"] == 2 * CALLS
    assert set(analysis.client_objects["name"]) >= {"/work", "/mute"}
    assert analysis.client_objects["gid"].isna().all()


def test_with_the_events_of_the_middleware_a_call_begins_with_its_write(
    recorded: Recorder,
) -> None:
    session, analysis = record(recorded, "kilted", config="full")
    check_work(analysis, session)
    calls = calls_of(analysis, "/work")
    assert (calls["begin_ns"] == calls["write_request_ns"]).all()
    assert (calls["write_request_ns"] > stamps(session)["send"]).all()
    assert (calls["write_request_ns"] < calls["send_request_ns"]).all()
    assert "late_request_events" not in set(analysis.quality["code"])


def test_before_kilted_the_hooks_of_the_middleware_tell_every_call(recorded: Recorder) -> None:
    program = Path(__file__).parent / "programs/service_matrix.py"
    truth = recorded.place / "session/truth"
    session, analysis = recorded.run(["python3", program, truth], config="full")
    check_matrix(analysis.service_calls, session)
    assert set(analysis.service_calls["method"]) == {"dds identity"}
    assert set(analysis.service_calls["confidence"]) == {"exact"}
    assert "service_calls_unseen" not in set(analysis.quality["code"])
