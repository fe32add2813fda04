# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Peers on Cyclone DDS: cyclone/peer.c on that of the distribution, cyclone/ping.py on PyPI's."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from dds_events import LIBRARY, Program
from traced_ros import ROOT, free_domain

SOURCES = Path(__file__).parent / "cyclone"
PYTHON = ROOT / ".venv/bin/python"
DOMAIN = free_domain()
LOOPBACK = f"""<CycloneDDS><Domain Id="{DOMAIN}">
<General><Interfaces><NetworkInterface name="lo"/></Interfaces>
<AllowMulticast>false</AllowMulticast></General>
<Discovery><ParticipantIndex>auto</ParticipantIndex>
<Peers><Peer address="localhost"/></Peers></Discovery></Domain></CycloneDDS>"""


@dataclass(frozen=True)
class Peers:
    """What was built of peer.c: a program, and a library with the same as `peer_main`."""

    program: Path
    library: Path

    def c(self, role: str, count: int, size: int, file: Path, **environment: str) -> Program:
        return Program(
            [self.program, role, str(count), str(size), file], {**hooked(), **environment}
        )


def distribution() -> Path:
    """The distribution's libddsc; skips where it has none that hooks can bind to."""
    found = sorted(Path("/usr/lib").glob("*/libddsc.so.0.10.*"))
    if not found or shutil.which("idlc") is None:
        pytest.skip("needs the distribution's cyclonedds-dev and cyclonedds-tools 0.10")
    line = ["readelf", "--relocs", "--wide", found[0]]
    relocations = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    if "dds_reader_data_available_cb" not in relocations:
        pytest.skip(f"{found[0]} was linked with -Bsymbolic: its own calls cannot be hooked")
    return found[0]


def build(directory: Path) -> Peers:
    distribution()
    subprocess.run(
        ["idlc", "-l", "c", SOURCES / "peer.idl"], cwd=directory, check=True, capture_output=True
    )
    peers = Peers(directory / "peer", directory / "libpeer.so")
    inputs = ["-I.", SOURCES / "peer.c", "peer.c", "-lddsc"]
    for output, options in (
        (peers.program, []),
        (peers.library, ["-shared", "-fPIC", "-Dmain=peer_main"]),
    ):
        line = ["cc", "-std=c11", "-Wall", "-Werror", *options, "-o", output, *inputs]
        subprocess.run(line, cwd=directory, check=True)
    return peers


def hooked() -> dict[str, str]:
    return {"CYCLONEDDS_URI": LOOPBACK, "LD_PRELOAD": str(LIBRARY)}


def python(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> Program:
    # The start-up hook of the ROS wheels would execute Python again.
    base = {**hooked(), "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1", "HOME": os.environ.get("HOME", "/")}
    return Program([PYTHON, *arguments], {**base, **(environment or {})})


def content(count: int, size: int) -> bytes:
    """What peer.c sends in all."""
    return b"".join(
        bytes((number * 31 + at * 7) % 256 for at in range(size)) for number in range(count)
    )
