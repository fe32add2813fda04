# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The examples of units and of a compose file are well-formed, and run commands that exist."""

from __future__ import annotations

import configparser
import shlex
from pathlib import Path

import click
import pytest
import yaml

from strata.cli.main import VERBS

DOCS = Path(__file__).parents[3] / "docs"
UNITS = sorted((DOCS / "systemd").glob("*.service"))
COMPOSE = DOCS / "docker/compose.yaml"
SECRETS = ("password", "token", "secret", "key")


def commands() -> list[str]:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    composed = [service["command"] for service in services.values()]
    return [unit(path)["Service"]["ExecStart"] for path in UNITS] + composed


def unit(path: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(path)
    return parser


@pytest.mark.parametrize("line", commands())
def test_commands_parse(line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program, verb, *words = shlex.split(line)
    assert Path(program).name == "strata"
    conditions = tmp_path / "guard.yaml"
    conditions.touch()
    words = [str(conditions) if word.endswith("guard.yaml") else word for word in words]
    command = VERBS[verb].load()
    assert isinstance(command.make_context(verb, words), click.Context)


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_units_run_as_a_user_and_listen_nowhere(path: Path) -> None:
    service = unit(path)["Service"]
    assert service["User"] not in ("", "root")
    assert service["RestrictAddressFamilies"] == "AF_UNIX"
    assert service["Restart"] == "on-failure"
    assert unit(path)["Install"]["WantedBy"] == "multi-user.target"


def test_the_guard_of_the_compose_file_listens_nowhere() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    assert services["guard"]["network_mode"] == "none"
    assert "ports" not in services["guard"]
    # What another container emits is recorded through these. They are the robot's: the end of the
    # container that has a process namespace is that of all processes in it.
    for name in ("ipc", "pid"):
        assert services["guard"][name] == "service:robot"
    assert "pid" not in services["robot"]
    assert set(services["guard"]["volumes"]) >= {"lttng:/var/run/lttng"}
    assert set(services["robot"]["volumes"]) >= {"lttng:/var/run/lttng"}


@pytest.mark.parametrize("path", [*UNITS, COMPOSE], ids=lambda path: path.name)
def test_no_file_has_a_secret(path: Path) -> None:
    text = path.read_text().lower()
    assert not [word for word in SECRETS if f"{word}=" in text or f"{word}:" in text]
