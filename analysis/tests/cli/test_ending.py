# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How a verb ends: by a signal, or with an output that cannot be written."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from strata_command import STRATA

Sample = Callable[[str], Path]

# What takes long is made to take for ever, once something lies in the file system.
# Under nohup, SIGHUP would be ignored, and stay so.
_CONVERT = """
import signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)
import strata.export.parquet
from strata.cli.main import main

whole = strata.export.parquet._write_tables

def slow(*arguments):
    found = whole(*arguments)
    print("ready", flush=True)
    time.sleep(60)
    return found

strata.export.parquet._write_tables = slow
main()
"""
_REPORT = """
import os, signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from pathlib import Path
import strata.show.html.analysis.page
from strata.cli.main import main

def slow(*arguments):
    print("ready", flush=True)
    time.sleep(60)

Path.replace = slow
main()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(("verb", "program"), [("convert", _CONVERT), ("report", _REPORT)])
def test_a_stopped_verb_leaves_nothing(
    sample: Sample, tmp_path: Path, number: signal.Signals, verb: str, program: str
) -> None:
    output = tmp_path / "out"
    arguments = [verb, sample("fast_throws"), "-o", output]
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert list(tmp_path.iterdir())
        process.send_signal(number)
        assert process.wait(30) == 128 + number
    assert not list(tmp_path.iterdir())


def test_an_ignored_signal_stays_ignored() -> None:
    program = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from strata.cli import ending
ending.exit_on_signals()
assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
assert signal.getsignal(signal.SIGTERM) == ending._exit
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_recording_handles_its_signals_itself() -> None:
    program = """
import signal, sys
from strata.cli import main
from strata.record import recording
recording.record = lambda *_, **__: sys.exit(str(signal.getsignal(signal.SIGTERM)))
sys.argv = ["strata", "record", "-c", "ros2", "--no-ros", "true"]
main.main()
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stderr.strip() == str(signal.SIG_DFL)


@pytest.mark.parametrize("verb", ["info", "analyze"])
@pytest.mark.parametrize("form", ["table", "json"])
def test_a_full_disk_is_one_line(sample: Sample, verb: str, form: str) -> None:
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [*STRATA, verb, sample("fast_throws"), "--format", form],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert run.returncode == 1
    assert run.stderr == (
        "strata: Cannot write the result: No space left on device. Write it to another place.\n"
    )


def test_a_reader_that_goes_away_is_no_error(sample: Sample) -> None:
    with subprocess.Popen(
        [*STRATA, "analyze", sample("fast_throws"), "--format", "csv", "--table", "messages"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.wait(60) == 1
        assert process.stderr.read() == b""


def test_a_closed_output_is_no_error(sample: Sample) -> None:
    command = " ".join([*STRATA, "info", str(sample("fast_throws")), ">&-"])
    run = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert "Traceback" not in run.stderr
