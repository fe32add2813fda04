# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of the chain; needs no ROS."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    from relay_chain import options

    yield options
    for name in [name for name in sys.modules if name.split(".")[0] == "relay_chain"]:
        del sys.modules[name]


def test_defaults_are_those_of_the_help(options: ModuleType) -> None:
    assert options.parse([]) == options.ChainOptions()


def test_everything_can_be_set(options: ModuleType) -> None:
    line = (
        "--relays 1 --sinks 3 --rate 20.5 --messages 7 --payload 256 --message fixed "
        "--reliability best_effort --durability transient_local --depth 3 --executor multi "
        "--threads 4 --processes one --client rclcpp --intra-process --log out --force "
        "--work source=0.5 --work relay_0=5 "
        "--block sink_2=30@2.5"
    )
    assert options.parse(line.split()) == options.ChainOptions(
        relays=1,
        sinks=3,
        rate=20.5,
        messages=7,
        payload=256,
        message="fixed",
        reliability="best_effort",
        durability="transient_local",
        depth=3,
        executor="multi",
        threads=4,
        processes="one",
        client="rclcpp",
        intra_process=True,
        log="out",
        force=True,
        work={"source": 0.5, "relay_0": 5.0},
        block=options.Block("sink_2", 30.0, 2.5),
    )


def test_a_chain_may_have_no_relays(options: ModuleType) -> None:
    assert options.parse(["--relays", "0"]).nodes == ["source", "sink"]


def test_several_sinks_are_numbered(options: ModuleType) -> None:
    nodes = options.parse(["--relays", "1", "--sinks", "3"]).nodes
    assert nodes == ["source", "relay_0", "sink_0", "sink_1", "sink_2"]


@pytest.mark.parametrize(
    ("line", "processes"),
    [
        ("--relays 0", ["source", "sink"]),
        ("--relays 1", ["source + sink", "relay_0"]),
        ("--relays 3", ["source + relay_1 + sink", "relay_0 + relay_2"]),
        ("--relays 2 --sinks 2", ["source + relay_1", "relay_0 + sink_0 + sink_1"]),
        ("--relays 1 --block sink=5@1", ["source + sink", "relay_0 + distractor"]),
        ("--relays 1 --block relay_0=5@1", ["source + sink + distractor", "relay_0"]),
    ],
)
def test_in_two_processes_every_hop_crosses(
    options: ModuleType, line: str, processes: list[str]
) -> None:
    from relay_chain.chain import placement

    chosen = options.parse([*line.split(), "--processes", "two"])
    assert [" + ".join(names) for names in placement(chosen)] == processes


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--relays -1", "--relays: '-1' is not a whole number of at least 0"),
        ("--relays 1.5", "--relays: '1.5' is not"),
        ("--rate 0", "--rate: '0' is not a finite number above 0"),
        ("--rate nan", "'nan' is not a finite number"),
        ("--rate inf", "'inf' is not a finite number"),
        ("--rate fast", "'fast' is not a finite number"),
        ("--messages 0", "'0' is not a whole number of at least 1"),
        ("--depth 0", "'0' is not a whole number of at least 1"),
        ("--payload -5", "'-5' is not a whole number of at least 0"),
        ("--reliability sometimes", "invalid choice: 'sometimes'"),
        ("--processes three", "invalid choice: 'three'"),
        ("--sinks 0", "'0' is not a whole number of at least 1"),
        ("--message fixed --payload 1000", "needs a --payload of 256, 1024, 4096, 16384, 65536, 2"),
        ("--sinks 2 --work sink=5", "no node 'sink': the chain has source, relay_0"),
        ("--threads 2", "--threads 2 needs --executor multi"),
        ("--threads 2 --executor events --client rclcpp", "--threads 2 needs --executor multi"),
        ("--executor events", "--executor events needs --client rclcpp"),
        ("--intra-process", "--intra-process needs --client rclcpp"),
        ("--work relay_1", "'relay_1' has not the form NODE=MS"),
        ("--work relay_1=-5", "'-5' is not a finite number above 0"),
        ("--work relay_3=5", "no node 'relay_3': the chain has source, relay_0"),
        ("--work distractor=5", "no node 'distractor'"),
        ("--block relay_1=5", "'relay_1=5' has not the form NODE=MS@HZ"),
        ("--block relay_1=5@0", "'0' is not a finite number above 0"),
        ("--block nobody=5@1", "no node 'nobody'"),
        ("--mess 5", "unrecognized arguments"),
    ],
)
def test_what_cannot_run_is_refused(
    options: ModuleType, capsys: pytest.CaptureFixture[str], line: str, says: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        options.parse(line.split())
    assert ended.value.code == 2
    out, errors = capsys.readouterr()
    assert out == ""
    assert errors.startswith("Cannot read the command line: ")
    assert says in errors
    assert errors.count("\n") == 1
