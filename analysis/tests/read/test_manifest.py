# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from strata.read.manifest import describe_machine, read_manifest


def test_a_manifest_is_found_from_the_session_and_from_its_trace(tmp_path: Path) -> None:
    (tmp_path / "trace").mkdir()
    (tmp_path / "manifest.json").write_text(json.dumps({"schema": 1}))
    assert read_manifest(tmp_path) == {"schema": 1}
    assert read_manifest(tmp_path / "trace") == {"schema": 1}


@pytest.mark.parametrize("text", [None, "", "[1]", "{"])
def test_what_is_no_manifest_is_none(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "manifest.json").write_text(text)
    assert read_manifest(tmp_path) is None


def test_what_is_unknown_is_left_out() -> None:
    whole = {
        "host": {
            "cpu_model": "EPYC",
            "cpu_count": 2,
            "distribution": "Debian 12",
            "kernel": "6.18",
        },
        "ros": {"distro": "jazzy", "rmw": "rmw_fastrtps_cpp"},
    }
    assert (
        describe_machine(whole) == "ROS 2 Jazzy, rmw_fastrtps_cpp, 2 x EPYC, Debian 12, Linux 6.18"
    )
    assert describe_machine({"host": None, "ros": {}}) == ""
