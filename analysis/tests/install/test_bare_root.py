# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The wheel of the analysis alone reads and reports a trace on a system that has only Python.

No compiler, no LTTng, no ROS 2, no checkout: a bare Debian made by debootstrap, and no network is
used in it. Where debootstrap cannot run (no Debian, no root, no device files), a fresh virtual
environment outside of the checkout serves.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "analysis/tests/traces/dds_jazzy_udp_resends.tar.xz"
Strata = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.timeout(900)


def _pip(*words: str | Path) -> None:
    environment = os.environ | {"_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1"}
    command = [sys.executable, "-m", "pip", *words, "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, and collect with it what it requires, in the pinned versions, and pip."""
    place = tmp_path_factory.mktemp("wheels")
    _pip("wheel", "--no-deps", "--no-build-isolation", "-w", place, ROOT / "analysis")
    (wheel,) = place.glob("strata-*.whl")
    pins = ROOT / "analysis/requirements.txt"
    _pip("download", "--only-binary", ":all:", "-c", pins, "-d", place, wheel, "pip")
    return place


def _can_bootstrap(place: Path) -> bool:
    """Return whether this machine can make a Debian: where it can, a failure is one."""
    system = platform.freedesktop_os_release()["ID"]
    if os.geteuid() != 0 or system != "debian" or shutil.which("debootstrap") is None:
        return False
    # A file system without devices lets them be made, but not be used.
    used = 'mknod "$1" c 1 3 && echo > "$1"'
    made = subprocess.run(["sh", "-c", used, "sh", place / "null"], capture_output=True)
    return made.returncode == 0


def _mirror() -> list[str]:
    """Return from where this machine's apt has Debian 12; nothing for debootstrap's own choice."""
    form = "$(RELEASE) $(REPO_URI)"
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", form, "Created-By: Packages"],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split() for line in listed.stdout.splitlines()]
    return [words[1] for words in lines if words[0] == "bookworm"][:1]


def _bare_debian(place: Path) -> bool:
    """Make a Debian with Python alone; return whether the machine can."""
    if not _can_bootstrap(place.parent):
        return False
    command = ["debootstrap", "--variant=minbase", "--include=python3", "bookworm", place]
    done = subprocess.run([*command, *_mirror()], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return True


@pytest.fixture(scope="module")
def bare(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Strata]:
    """Give a directory that holds a trace, and how `strata` runs in it."""
    root = tmp_path_factory.mktemp("bare") / "root"
    is_debian = _bare_debian(root)
    within = ["chroot", root] if is_debian else []
    home = Path("/home/me") if is_debian else root / "home/me"
    outside = root / "home/me"
    outside.mkdir(parents=True, exist_ok=True)
    shutil.copytree(wheels, outside / "wheels")
    with tarfile.open(SAMPLE) as archive:
        archive.extractall(outside)

    def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
        # Nothing of the caller's environment.
        environment = ["/usr/bin/env", "-i", "-C", home, f"HOME={home}", "LANG=C.UTF-8"]
        environment.append(f"PATH={home}/venv/bin:/usr/bin:/bin")
        return subprocess.run(
            [*within, *environment, *command], capture_output=True, text=True, timeout=300
        )

    (pip,) = (outside / "wheels").glob("pip-*.whl")
    python = "python3" if is_debian else f"/usr/bin/python{sys.version_info[0]}"
    made = run(python, "-m", "venv", "--without-pip", "venv")
    assert made.returncode == 0, made.stderr
    install = ["--quiet", "--no-index", "--no-compile", "--find-links", "wheels", "strata"]
    installed = run("venv/bin/python", f"wheels/{pip.name}/pip", "install", *install)
    assert installed.returncode == 0, installed.stderr

    def strata_there(*words: str) -> subprocess.CompletedProcess[str]:
        return run("strata", *words)

    return outside, strata_there


def test_it_finds_the_same_latencies(bare: tuple[Path, Strata]) -> None:
    place, there = bare
    words = ("analyze", SAMPLE.name.partition(".")[0], "--format", "json")
    found = there(*words)
    assert found.returncode == 0, found.stderr
    own = subprocess.run(
        [sys.executable, "-m", "strata", *words], cwd=place, capture_output=True, text=True
    )
    assert own.returncode == 0, own.stderr
    assert json.loads(found.stdout) == json.loads(own.stdout)
    assert len(json.loads(found.stdout)["hops"]) == 2


@pytest.mark.parametrize(
    "words",
    [
        ("report", "-o", "report.html"),
        ("export", "--to", "perfetto", "-o", "a.pftrace"),
        ("export", "--to", "trace-compass", "-o", "rows"),
        ("export", "--to", "svg", "-o", "graph.svg"),
        ("convert", "-o", "tables"),
    ],
    ids=lambda words: " ".join(words[:3]),
)
def test_it_writes_what_a_checkout_writes(bare: tuple[Path, Strata], words: list[str]) -> None:
    place, there = bare
    done = there(words[0], SAMPLE.name.partition(".")[0], *words[1:])
    assert done.returncode == 0, done.stderr
    assert (place / words[-1]).exists()


def test_it_carries_texts_scenarios_and_campaigns(bare: tuple[Path, Strata]) -> None:
    _, there = bare
    assert "A layer is the time between two events" in " ".join(
        there("help", "layers").stdout.split()
    )
    listed = there("scenarios", "--format", "json")
    shipped = {path.name for path in (ROOT / "trace_configs/scenarios").glob("*.yaml")}
    files = {Path(one["file"]).name for one in json.loads(listed.stdout)["scenarios"]}
    assert files == shipped
    assert "ouster" in there("campaign", "list").stdout


@pytest.mark.parametrize("words", [("doctor",), ("record", "--", "true"), ("run", "relay_chain")])
def test_what_records_says_in_a_sentence_what_to_install(
    bare: tuple[Path, Strata], words: tuple[str, ...]
) -> None:
    _, there = bare
    refused = there(*words)
    assert refused.returncode == 1
    assert refused.stderr.strip() == (
        "strata: Cannot record: pyelftools, which looks at the DDS libraries, is not installed. "
        "Run `pip install 'strata[record]'`."
    )
