# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The user's ~/.lttngrc, which names the current session, around what changes it."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from strata.record.lttng import Lttng
from strata.record.session import _current_session_kept

MINE, CREATED = "session=mine\n", "session=strata-ros2-1-1\n"


@pytest.fixture
def lttng(tmp_path: Path) -> Lttng:
    return Lttng({"HOME": str(tmp_path)})


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    path = tmp_path / ".lttngrc"
    path.write_text(MINE)
    path.chmod(0o604)
    return path


def test_what_was_changed_is_put_back_with_its_mode(lttng: Lttng, settings: Path) -> None:
    with _current_session_kept(lttng):
        settings.unlink()
        settings.write_text(CREATED)
    assert settings.read_text() == MINE
    assert settings.stat().st_mode & 0o777 == 0o604
    assert list(settings.parent.iterdir()) == [settings]


def test_what_was_not_changed_is_not_written(lttng: Lttng, settings: Path) -> None:
    before = settings.stat()
    with _current_session_kept(lttng):
        pass
    after = settings.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_what_was_not_there_is_removed(lttng: Lttng, tmp_path: Path) -> None:
    with _current_session_kept(lttng):
        (tmp_path / ".lttngrc").write_text(CREATED)
    assert not list(tmp_path.iterdir())


def test_a_link_stays_one(lttng: Lttng, settings: Path) -> None:
    target = settings.rename(settings.with_name("dotfile"))
    settings.symlink_to(target)
    with _current_session_kept(lttng):
        settings.write_text(CREATED)
    assert settings.is_symlink()
    assert target.read_text() == MINE


def test_a_disk_that_takes_nothing_loses_nothing(lttng: Lttng, settings: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with _current_session_kept(lttng):
            settings.write_text(CREATED)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert settings.read_text() == CREATED
    assert list(settings.parent.iterdir()) == [settings]


@pytest.mark.parametrize("target", ["/proc/self/mem", "/dev", "/dev/null"])
def test_what_cannot_be_read_is_not_touched(lttng: Lttng, tmp_path: Path, target: str) -> None:
    (tmp_path / ".lttngrc").symlink_to(target)
    reached = False
    with _current_session_kept(lttng):
        reached = True
    assert reached
    assert (tmp_path / ".lttngrc").readlink() == Path(target)
