# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A real action server and its clients, recorded, and held against what they wrote themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from action_truth import check_feedback, check_goals
from recorder import Recorder

pytestmark = pytest.mark.live


def test_goals_agree_with_what_their_nodes_wrote_down(recorded: Recorder) -> None:
    program = Path(__file__).parent / "programs/action_goals.py"
    truth = recorded.place / "session/truth"
    session, analysis = recorded.run(["python3", program, truth], config="full")
    check_goals(analysis, session)
    check_feedback(analysis, session)
    assert "feedback_of_unknown_goals" not in set(analysis.quality["code"])
