# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which sessions a directory stands for, and what a campaign leaves out at their begin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from strata.errors import TraceError
from strata.read.sessions import sessions_in, warm_up_of


def session(place: Path, status: str | None = None) -> Path:
    place.mkdir(parents=True)
    (place / "manifest.json").write_text("{}")
    if status:
        (place / "cell.json").write_text(json.dumps({"status": status}))
    return place


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    cells = [{"id": f"study/a+b/r{number}", "warm_up": number} for number in (1, 2, 10)]
    (tmp_path / "campaign.json").write_text(json.dumps({"cells": cells}))
    return tmp_path


def test_finished_repetitions_in_the_order_of_their_numbers(campaign: Path) -> None:
    cell = campaign / "cells/study/a+b"
    for number in (10, 2, 1):
        session(cell / f"r{number}", "finished")
    session(cell / "r3", "failed")
    # Interrupted: cell.json is written last.
    session(cell / "r4")
    assert [place.name for place in sessions_in(cell)] == ["r1", "r2", "r10"]
    assert sessions_in(cell / "r3") == [cell / "r3"]


def test_sessions_of_no_campaign_need_no_state(tmp_path: Path) -> None:
    made = [session(tmp_path / f"s{number}") for number in (1, 2)]
    assert sessions_in(tmp_path) == made
    assert warm_up_of(made[0]) == 0


def test_a_cell_that_never_finished_is_no_side(campaign: Path) -> None:
    cell = campaign / "cells/study/a+b"
    session(cell / "r1", "failed")
    with pytest.raises(TraceError, match="none of its 1 repetitions finished"):
        sessions_in(cell)


def test_several_cells_are_no_side(campaign: Path) -> None:
    session(campaign / "cells/study/a+b/r1", "finished")
    for several in (campaign, campaign / "cells", campaign / "cells/study"):
        with pytest.raises(TraceError, match=r"different things, such as .*study/a\+b/r1"):
            sessions_in(several)


def test_a_trace_without_a_manifest_is_itself(tmp_path: Path) -> None:
    (tmp_path / "ust/uid").mkdir(parents=True)
    assert sessions_in(tmp_path) == [tmp_path]


def test_the_warm_up_is_that_of_the_campaigns_plan(campaign: Path) -> None:
    cell = campaign / "cells/study/a+b"
    for number in (1, 10, 11):
        session(cell / f"r{number}", "finished")
    assert [warm_up_of(cell / f"r{number}") for number in (1, 10, 11)] == [1, 10, 0]
    (campaign / "campaign.json").write_text("[")
    assert warm_up_of(cell / "r10") == 0
