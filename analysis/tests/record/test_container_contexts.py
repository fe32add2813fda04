# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What tells containers apart is recorded where lttng-tools has it, and said where it has not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from strata.record.config import load_config
from strata.record.doctor import OK, WARNING, container_check
from strata.record.lttng import Lttng


def tools(path: Path, *contexts: str) -> Lttng:
    """A stand-in of lttng-tools that lists these contexts."""
    program = path / "lttng"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' {' '.join(contexts)}\n")
    program.chmod(0o755)
    return Lttng({"PATH": f"{path}:/usr/bin:/bin"})


@pytest.mark.parametrize("name", ["ros2", "full"])
def test_the_shipped_sessions_tell_containers_apart(name: str, tmp_path: Path) -> None:
    config = load_config(name)
    assert "pid_ns" in config.contexts
    lttng = tools(tmp_path, "vpid", "vtid", "procname", "pid_ns")
    assert lttng.unknown_contexts(config.contexts) == []
    assert container_check(lttng, config).status == OK


def test_older_tools_lack_the_context(tmp_path: Path) -> None:
    config = load_config("full")
    lttng = tools(tmp_path, "vpid", "vtid", "procname")
    assert lttng.unknown_contexts(config.contexts) == ["pid_ns"]
    check = container_check(lttng, config)
    assert check.status == WARNING
    assert "pid_ns" in check.found


def test_a_session_without_the_context_is_told(tmp_path: Path) -> None:
    config = replace(load_config("full"), contexts=("vpid", "vtid"))
    lttng = tools(tmp_path, "pid_ns")
    assert lttng.unknown_contexts(config.contexts) == []
    check = container_check(lttng, config)
    assert (check.status, check.mend is not None) == (WARNING, True)
