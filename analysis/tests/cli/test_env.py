# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata env`: what it prints is read back as it was, and commands run in it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from strata_command import STRATA, strata

from strata.cli.environment_format import formatted
from strata.errors import SessionError

VALUES = {
    "plain": "/a:/b",
    "empty": "",
    "spaces": "  two words ",
    "quotes": 'it\'s "quoted"',
    "dollar": "$HOME ${HOME} $(id) `id` %h",
    "backslash": "a\\b\\\\c\\n\\",
    "line": "one\ntwo\n",
    "hash": "#no; & comment! *",
    "text": "caf\u00e9",
}
NO_LINE = [name for name in VALUES if name != "line"]


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_a_shell_gets_the_value_as_it_is(shell: str, name: str) -> None:
    text = formatted({"OF_TEST": VALUES[name]}, "sh")
    done = subprocess.run(
        [shell, "-c", f'eval "$1"; exec {shlex.quote(sys.executable)} -c "$2"', shell, text, _SHOW],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == repr(VALUES[name])


_SHOW = "import os; print(repr(os.environ['OF_TEST']), end='')"


@pytest.mark.parametrize("name", VALUES)
def test_systemd_gets_the_value_as_it_is(name: str) -> None:
    text = formatted({"OF_TEST": VALUES[name]}, "systemd")
    assert _as_systemd_reads(text) == {"OF_TEST": VALUES[name]}


def _as_systemd_reads(text: str) -> dict[str, str]:
    """Read the part of the syntax of EnvironmentFile= that is written (systemd.exec(5))."""
    found = {}
    while text:
        read = re.match(r'(\w+)="((?:[^"\\]|\\.)*)"\n', text, re.DOTALL)
        assert read is not None, text
        found[read[1]] = re.sub(r'\\(["\\`$])', r"\1", read[2])
        text = text[read.end() :]
    return found


@pytest.mark.parametrize("name", NO_LINE)
def test_docker_gets_the_value_as_it_is(name: str) -> None:
    assert formatted({"OF_TEST": VALUES[name]}, "docker") == f"OF_TEST={VALUES[name]}\n"


@pytest.mark.parametrize(
    ("form", "value"),
    [("docker", "a\nb"), ("docker", "a\r"), ("docker", "\udcff"), ("systemd", "\x1b[0m")],
)
def test_a_value_that_a_form_cannot_hold_is_refused(form: str, value: str) -> None:
    with pytest.raises(SessionError, match="Cannot write OF_TEST for"):
        formatted({"OF_TEST": value}, form)


def test_names_are_in_order_and_exported_functions_are_left_out() -> None:
    text = formatted({"B": "2", "A": "1", "BASH_FUNC_f%%": "() { :; }"}, "sh")
    assert text == "export A='1'\nexport B='2'\n"


def test_what_is_printed_is_what_a_command_gets() -> None:
    printed = strata("env")
    assert printed.returncode == 0, printed.stderr
    names = re.findall(r"^export (\w+)=", printed.stdout, re.MULTILINE)
    assert {"LD_PRELOAD", "AMENT_PREFIX_PATH", "ROS_DISTRO"} <= set(names)
    # Only what differs is printed.
    assert not {"HOME", "STRATA_SESSION_DIR"} & set(names)
    show = f"import json, os; print(json.dumps({{n: os.environ[n] for n in {names!r}}}))"
    python = ("python3", "-I", "-S", "-c", show)
    given = subprocess.run(
        ["bash", "-c", 'eval "$1"; exec "${@:2}"', "bash", printed.stdout, *python],
        capture_output=True,
        text=True,
        check=True,
    )
    run = strata("env", "--", *python)
    assert (run.returncode, run.stderr) == (0, printed.stderr)
    assert run.stdout == given.stdout


def test_a_second_use_changes_nothing() -> None:
    first = strata("env")
    again = strata("env", "--", *STRATA, "env")
    assert again.returncode == 0, again.stderr
    wanted = re.findall(r"^export LD_PRELOAD=.*", first.stdout, re.MULTILINE)
    assert re.findall(r"^export LD_PRELOAD=.*", again.stdout, re.MULTILINE) in (wanted, [])


def test_a_configuration_says_which_hooks() -> None:
    assert "libdds_tracepoints" in strata("env").stdout
    stock = strata("env", "-c", "ros2").stdout
    assert "LD_PRELOAD" in stock
    assert "libdds_tracepoints" not in stock
    assert "DRIVER_TRACEPOINTS_UDP_PORTS" not in stock
    full = strata("env", "-c", "full").stdout
    assert "export DRIVER_TRACEPOINTS_UDP_PORTS='7502,7503'\n" in full


def test_a_middleware_without_hooks_gets_none() -> None:
    done = subprocess.run(
        [*STRATA, "env"],
        env={**os.environ, "RMW_IMPLEMENTATION": "rmw_zenoh_cpp"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "libdds_tracepoints" not in done.stdout
    assert "strata: no DDS events: rmw_zenoh_cpp has no hooks\n" in done.stderr


def test_a_profile_is_part_of_it() -> None:
    assert "fastdds_udp.xml'" in strata("env", "--rmw-profile", "fastdds_udp").stdout


def test_without_ros_only_the_hooks_are_added() -> None:
    done = strata("env", "--no-ros")
    assert done.returncode == 0, done.stderr
    assert "export AMENT_PREFIX_PATH=" not in done.stdout
    assert "libdds_tracepoints" in done.stdout
    # Entities are announced again all the same.
    assert "libros2_statedump" in done.stdout


@pytest.mark.parametrize("form", ["systemd", "docker"])
def test_a_service_gets_what_the_shell_has_already(form: str) -> None:
    names = ("LD_PRELOAD", "AMENT_PREFIX_PATH", "ROS_DISTRO", "PATH", "ROS_DOMAIN_ID")
    asked = ("env", "--format", form)
    environment = {**os.environ, "ROS_DOMAIN_ID": "7"}
    first = subprocess.run(
        [*STRATA, *asked], env=environment, capture_output=True, text=True, check=True
    )
    again = subprocess.run(
        [*STRATA, "env", "--", *STRATA, *asked],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in names:
        (line,) = re.findall(rf"^{name}=.*", first.stdout, re.MULTILINE)
        assert re.findall(rf"^{name}=.*", again.stdout, re.MULTILINE) == [line]


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        (("sh", "-c", "exit 7"), 7, ""),
        (("no-such-program",), 127, "Cannot run no-such-program: no such program."),
        (("/etc/passwd",), 126, "/etc/passwd is not executable."),
    ],
)
def test_a_command_has_its_own_status(command: tuple[str, ...], status: int, said: str) -> None:
    done = strata("env", "--", *command)
    assert done.returncode == status
    assert said in done.stderr


def test_a_program_that_cannot_be_executed(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    done = strata("env", "--", script)
    assert done.returncode == 126
    assert "No such file or directory. Check the file and its first line." in done.stderr


def test_a_command_gets_signals_as_a_shell_would_give_them() -> None:
    read = "grep -E '^Sig(Blk|Ign)' /proc/self/status"
    plain = subprocess.run(["sh", "-c", read], capture_output=True, text=True, check=True)
    assert strata("env", "--", "sh", "-c", read).stdout == plain.stdout


def test_wrong_usage_has_the_status_125() -> None:
    assert strata("env", "--format", "csh").returncode == 125
    assert strata("env", "-c", "no-such-configuration").returncode == 125


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ((), "Missing a command after `--`, or --attach"),
        (("--attach", "--", "true"), "--attach records what runs already: it takes no command."),
        (("--attach", "--rmw-profile", "fastdds_udp"), "--rmw-profile sets the environment"),
        (("--attach", "--no-ros"), "--no-ros is about the environment of a command"),
        (("--rotate", "4s", "--", "true"), "--rotate 4s is too often: at least 5s."),
        (("--keep", "15s", "--", "true"), "--keep 15s is too short for chunks of 10s (--rotate)"),
        (("--keep", "1d", "--rotate", "13h", "--attach"), "at least 2 of them, 93600s."),
        (("--keep", "10", "--", "true"), "'10' is no time: write it as 30s, 500ms, 10m or 2h."),
        (("--keep", "0s", "--", "true"), "'0s' is too short: it must be more than 0."),
    ],
)
def test_options_that_contradict_each_other_are_refused(line: tuple[str, ...], said: str) -> None:
    done = strata("record", *line)
    assert done.returncode == 125
    assert said in " ".join(done.stderr.split())
