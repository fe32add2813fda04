# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Shell completion as a shell asks for it, and names that are nearly right."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from strata_command import strata

from strata.cli.main import VERBS
from strata.nearest import did_you_mean, listed, nearest, nearest_first

PROGRAM = """
import sys
from strata.cli.main import main
sys.argv = ["strata"]
try:
    main()
finally:
    print("loaded:", *sys.modules, file=sys.stderr)
"""
QUICK_S = 0.2
HEAVY = {"numpy", "pandas", "pyarrow", "pydantic", "yaml", "rich", "bokeh"}


def completed(shell: str, line: str) -> tuple[list[str], set[str], float]:
    """Return what is offered for the end of a line, the packages loaded, and the CPU seconds."""
    words = line.split(" ")
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    if shell == "fish":
        asked["COMP_CWORD"] = words[-1]
    before = os.times()
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **asked, "_STRATA_COMPLETE": f"{shell}_complete"},
        capture_output=True,
        text=True,
        check=False,
    )
    after = os.times()
    spent = sum(after[2:4]) - sum(before[2:4])
    (names,) = (text for text in run.stderr.splitlines() if text.startswith("loaded: "))
    loaded = {name.partition(".")[0] for name in names.split()[1:]}
    return run.stdout.splitlines(), loaded, spent


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("strata re", ["record", "report"]),
        ("strata run relay_chain_", ["relay_chain_large", "relay_chain_udp"]),
        ("strata scenarios ping", ["ping_pong"]),
        ("strata record -c ", ["full", "light", "ros2"]),
        ("strata record --rmw-profile fastdds_u", ["fastdds_udp"]),
        ("strata doctor -c l", ["light"]),
        ("strata campaign s", ["status"]),
        ("strata campaign run re", ["relay"]),
        ("strata campaign report --fo", ["--format", "--force"]),
        ("strata campaign status --f", ["--format"]),
        ("strata hops --to", ["--topic"]),
        ("strata compare --g", ["--gate"]),
        ("strata export --to parq", ["parquet"]),
        ("strata analyze --ch", ["--chain"]),
    ],
)
def test_names_are_offered_quickly(line: str, offered: list[str]) -> None:
    found, loaded, spent = completed("bash", line)
    assert set(offered) <= {text.partition(",")[2] for text in found}
    assert not loaded & HEAVY
    # Of a CPU: other programs are no fault of its own. The first run may have to compile modules.
    assert min(spent, *(completed("bash", line)[2] for _ in range(2))) < QUICK_S


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_show_what_a_verb_does(shell: str) -> None:
    text = "\n".join(completed(shell, "strata ")[0])
    for name, verb in VERBS.items():
        if verb.hidden:
            assert name not in text
            continue
        assert name in text
        assert verb.summary.split(".")[0][:40] in text.replace("\\:", ":")


def test_a_path_is_completed_as_a_file() -> None:
    assert completed("bash", "strata run ./my")[0] == ["file,./my"]


def test_each_shell_gets_a_script() -> None:
    for shell, part in (
        ("bash", "complete -o nosort -F"),
        ("zsh", "compdef"),
        ("fish", "complete"),
    ):
        run = subprocess.run(
            [sys.executable, "-m", "strata"],
            env={**os.environ, "_STRATA_COMPLETE": f"{shell}_source"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert part in run.stdout
        assert "_STRATA_COMPLETE" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (["analize"], 2, "No such command 'analize'. Did you mean analyze?"),
        (["campaign", "staus"], 2, "No such command 'staus'. Did you mean status?"),
        (["zzz"], 2, "No such command 'zzz'.\n"),
        (["analyze", "--chian"], 2, "--chain"),
        (["run", "lidar_1024"], 1, "Did you mean lidar_1024x10"),
        (["scenarios", "relay_chian"], 1, "Did you mean relay_chain"),
        (
            ["record", "-c", "ful", "--", "true"],
            125,
            "Did you mean full? Shipped: full, init, light",
        ),
        (["campaign", "run", "rely"], 1, "Did you mean relay? Shipped: camera, camera_real, "),
    ],
)
def test_what_was_meant_is_named(arguments: list[str], status: int, text: str) -> None:
    run = strata(*arguments)
    assert run.returncode == status
    assert text in run.stderr


def test_a_recording_of_a_similar_name_is_named(tmp_path: Path) -> None:
    for number, name in enumerate(("first", "second", "relay")):
        place = tmp_path / "sessions" / name
        place.mkdir(parents=True)
        os.utime(place, (time.time() + number,) * 2)
    beside = tmp_path / "sessions" / "rely"
    assert f"Did you mean {beside.with_name('relay')}?" in strata("info", beside).stderr
    for asked, said in (
        ("second", "Did you mean sessions/second?"),
        ("rleay", "Did you mean sessions/relay?"),
        ("sessions/secnd", "Did you mean sessions/second?"),
        ("xyz", "the newest first: sessions/relay, sessions/second, sessions/first."),
    ):
        run = strata("analyze", asked, cwd=tmp_path)
        assert run.returncode == 1
        assert f"Cannot open trace {asked}: there is no such directory." in run.stderr
        assert said in run.stderr
    (tmp_path / "empty").mkdir()
    assert strata("info", "xyz", cwd=tmp_path / "empty").stderr.endswith("Check the path.\n")


def test_names_near_a_name() -> None:
    known = ["/image", "/image_raw", "/objects", "/tf"]
    assert nearest("/imgae", known) == ["/image", "/image_raw"]
    assert nearest("/IMAGE_RAW", known)[0] == "/image_raw"
    assert nearest("obj", known) == ["/objects"]
    assert nearest("/nothing_like_it", known) == []
    assert did_you_mean("/imag", known) == " Did you mean /image or /image_raw?"
    assert did_you_mean("x", known) == ""
    assert listed([]) == "none"
    assert listed(known, 2) == "/image, /image_raw and 2 more"
    assert nearest_first("/tff", known) == "/tf, /image, /image_raw, /objects"
