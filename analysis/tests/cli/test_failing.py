# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a user sees when something goes wrong: one line, a status, and never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from strata_command import STRATA, strata

Sample = Callable[[str], Path]

# The command with a verb that fails in a way that nobody foresaw.
_PROGRAM = """
import os, signal, sys
import strata.read
from strata.cli.main import main

def fail(*_, **__):
    {failure}

strata.read.open_trace = fail
# One that a shell starts in the background ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


def failing(failure: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(failure=failure), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_an_unexpected_error_is_one_line() -> None:
    done = failing('raise KeyError("a\\x1b[31m\\u202eb")', "info", ".")
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr.count("\n") == 1
    assert "strata: Cannot finish: an unexpected error, KeyError: " in done.stderr
    assert "(raised in strata/cli/info.py:" in done.stderr
    assert "`strata --debug ...`" in done.stderr
    assert "\x1b" not in done.stderr


def test_debug_shows_the_rest() -> None:
    done = failing('raise KeyError("a")', "--debug", "info", ".")
    assert done.returncode == 70
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert "strata: Cannot finish: an unexpected error, KeyError: 'a' (raised in" in done.stderr
    known = strata("--debug", "info", "absent")
    assert known.returncode == 1
    assert "TraceError" in known.stderr


@pytest.mark.parametrize(
    ("failure", "status", "said"),
    [
        ("fail()", 70, "RecursionError"),
        ("raise MemoryError", 1, "the memory that this process may use is used up"),
        ("raise KeyboardInterrupt", 130, ""),
        ("os.kill(os.getpid(), signal.SIGINT)", 130, ""),
        ("raise BrokenPipeError(32, 'Broken pipe')", 1, ""),
        ("raise ExceptionGroup('two', [ValueError(), KeyError()])", 70, "two (2 sub-exceptions)"),
        ("raise OSError(24, 'Too many open files', 'x')", 1, "with `ulimit -n`"),
        (
            "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (3, 3)); open('/dev/null')",
            1,
            "Cannot go on: Too many open files: this process may have 3 open.",
        ),
        ("raise OSError(23, 'Too many open files in system')", 1, "fs.file-max"),
        ("raise BlockingIOError(11, 'Resource temporarily unavailable')", 1, "`ulimit -u`"),
        ("raise OSError(12, 'Cannot allocate memory')", 1, "`ulimit -v`"),
        ("raise BlockingIOError(11, 'would block', 0)", 1, "Cannot write the result"),
    ],
)
def test_other_ends(failure: str, status: int, said: str) -> None:
    done = failing(failure, "info", ".")
    assert done.returncode == status
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") <= 1


def test_an_interrupt_from_outside(sample: Sample) -> None:
    failure = 'print("ready", flush=True); signal.pause()'
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM.format(failure=failure), "info", "."],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.strip() == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("no\x1bsuch",),
        ("info", "--no\x1b[31msuch"),
        ("info", "a\x1b]0;b\x07"),
        ("analyze", ".", "--format", "\x1b[2J"),
        ("scenarios", "\u202etxt.exe"),
        ("record", "-c", "\x1b[31m", "--", "true"),
        ("run", "relay_chain", "--set", "rate=\x1b[31m"),
        ("run", "relay_chain", "--set", "\x1b=1"),
        ("info", "a" * 5_000),
    ],
)
def test_arguments_reach_no_terminal_as_they_are(arguments: tuple[str, ...]) -> None:
    done = strata(*arguments)
    assert done.returncode in (1, 2, 125)
    assert not set(done.stderr) & set("\x1b\x07\u202e")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "relay_chain", "--duration", "nan"),
        ("run", "relay_chain", "--duration", "inf"),
        ("run", "relay_chain", "--duration", "1e999"),
        ("run", "relay_chain", "--duration", "-5s"),
        ("run", "relay_chain", "--duration", "99999999999999999999s"),
        ("run", "relay_chain", "--set", "rate=.nan"),
        ("run", "relay_chain", "--set", "rate=.inf"),
        ("run", "relay_chain", "--set", f"rate={'9' * 5_000}"),
        ("run", "relay_chain", "--set", f"rate={'[' * 20_000}"),
        ("run", "relay_chain", "--set", "rate=2001-99-99"),
        ("run", "relay_chain", "--set", "rate=!!int x"),
        ("campaign", "run", "relay", "--list", "--settle", "nan"),
        ("campaign", "run", "relay", "--list", "--settle", "inf"),
        ("campaign", "run", "relay", "--list", "--repetitions", "-1"),
    ],
)
def test_values_that_no_option_can_have(arguments: tuple[str, ...]) -> None:
    done = strata(*arguments)
    assert done.returncode in (1, 2), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}])
@pytest.mark.parametrize("verb", ["analyze", "info"])
def test_an_output_without_utf_8(sample: Sample, verb: str, environment: dict[str, str]) -> None:
    plain = {**os.environ, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", **environment}
    done = subprocess.run(
        [*STRATA, verb, sample("fast_throws")], capture_output=True, env=plain, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()
    assert done.stdout


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams(sample: Sample, tmp_path: Path, closed: str) -> None:
    page = tmp_path / "page.html"
    command = " ".join([*STRATA, "report", str(sample("fast_throws")), "-o", str(page), closed])
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert page.read_text().rstrip().endswith("</html>")


def test_few_descriptors(sample: Sample) -> None:
    command = " ".join(["ulimit -n 12;", *STRATA, "info", str(sample("fast_throws"))])
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") <= 1


@pytest.mark.parametrize("kib", [250_000, 300_000, 350_000])
def test_little_memory(sample: Sample, kib: int) -> None:
    # Arrow's threads, which could not be started, were waited for without end.
    command = " ".join([f"ulimit -v {kib};", *STRATA, "analyze", str(sample("fast_throws"))])
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 1)
    assert done.stderr.count("\n") <= 1
    assert "Traceback" not in done.stderr


def test_a_device_is_not_replaced_by_a_page(sample: Sample, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = strata("report", sample("fast_throws"), "-o", tmp_path / "pipe", "--force")
    assert done.returncode == 1
    assert "it is neither a file nor a directory" in done.stderr
    assert (tmp_path / "pipe").is_fifo()


def test_a_link_is_replaced_and_not_what_it_leads_to(sample: Sample, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine")
    (tmp_path / "out").symlink_to(tmp_path / "kept")
    arguments = ("hops", sample("fast_throws"), "--format", "json", "-o", tmp_path / "out")
    assert strata(*arguments).returncode == 1
    assert strata(*arguments, "--force").returncode == 0
    assert (tmp_path / "kept").read_text() == "mine"
    assert not (tmp_path / "out").is_symlink()
