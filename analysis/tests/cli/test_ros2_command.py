# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`ros2 strata`: the entry point, used as ros2cli uses it (its own code is in no wheel)."""

from __future__ import annotations

import argparse
import importlib
import sys
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

import pytest

from strata.cli.main import VERBS

_NAME = "strata.cli.ros2_command"


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Load the entry point as ros2cli does, which gives it the class to derive from."""
    package, module = ModuleType("ros2cli"), ModuleType("ros2cli.command")
    module.CommandExtension = type("CommandExtension", (), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ros2cli", package)
    monkeypatch.setitem(sys.modules, "ros2cli.command", module)
    monkeypatch.delitem(sys.modules, _NAME, raising=False)
    (entry,) = [one for one in entry_points(group="ros2cli.command") if one.name == "strata"]
    yield entry.load()()
    sys.modules.pop(_NAME, None)


def _parse(command: Any, *words: str) -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    # As ros2cli.command.add_subparsers_on_demand does: a subparser, and the words parsed twice.
    parser = argparse.ArgumentParser(prog="ros2")
    own = parser.add_subparsers(dest="command").add_parser("strata")
    command.add_arguments(own, "ros2 strata")
    parser.parse_known_args(["strata", *words])
    return own, parser.parse_args(["strata", *words])


@pytest.mark.parametrize(
    "words",
    [
        ("record", "-c", "full", "-o", "x", "--", "ros2", "launch", "-n", "a", "--", "b"),
        ("analyze", "--help"),
        ("report", "a", "b", "--chain", "/a -> /b"),
        ("help",),
    ],
)
def test_a_verb_gets_its_words_as_they_are(
    command: Any, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(sys, "argv", ["ros2"])
    monkeypatch.setattr(sys.modules[_NAME], "main", lambda: ran.append(list(sys.argv)))
    parser, arguments = _parse(command, *words)
    assert command.main(parser=parser, args=arguments) == 0
    assert ran == [["strata", *words]]


def test_it_answers_as_strata_does(
    command: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["ros2"])
    parser, arguments = _parse(command, "analyze", "/no/such/trace")
    with pytest.raises(SystemExit) as ended:
        command.main(parser=parser, args=arguments)
    assert ended.value.code == 1
    assert "Cannot" in capsys.readouterr().err


def test_its_help_has_every_verb(command: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        _parse(command, "--help")
    text = capsys.readouterr().out
    assert all(name in text for name in VERBS)
    assert importlib.import_module(_NAME).StrataCommand.__doc__
