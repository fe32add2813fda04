# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The built provider stands in for the installed tracetools, symbol by symbol."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
PREFIXES = {"jazzy": ROOT / ".venv", "kilted": ROOT / ".venv-kilted"}
# What LTTng-UST's own headers define differs between its versions and is nobody's interface.
_LTTNG = ("__start_", "__stop_", "lttng_", "__tracepoint", "__lttng", "_edata", "_end", "__bss")


def exports(library: Path) -> set[str]:
    text = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
    ).stdout
    names = {line.split()[-1] for line in text.splitlines()}
    return {name for name in names if not name.startswith(_LTTNG)}


def dynamic(library: Path) -> str:
    return subprocess.run(
        ["readelf", "-d", library], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("distro", PREFIXES)
def test_exports_are_those_of_the_installed_library(distro):
    built = ROOT / f"tracing_ws/install/{distro}/lib/tracetools_provider/libtracetools.so"
    assert built.is_file(), f"{built} is not built; run make setup and make setup-kilted"
    installed = PREFIXES[distro] / "lib/libtracetools.so"
    functions = exports(installed)
    assert len([name for name in functions if name.startswith("ros_trace_do_")]) >= 35
    assert exports(built) == functions


@pytest.mark.parametrize("distro", PREFIXES)
def test_the_soname_is_what_ros_libraries_need(distro):
    built = ROOT / f"tracing_ws/install/{distro}/lib/tracetools_provider/libtracetools.so"
    assert "soname: [libtracetools.so]" in dynamic(built)


@pytest.mark.parametrize("distro", PREFIXES)
def test_only_the_probes_bring_lttng_into_a_process(distro):
    place = ROOT / f"tracing_ws/install/{distro}/lib/tracetools_provider"
    assert "liblttng-ust" not in dynamic(place / "libtracetools.so")
    assert "[liblttng-ust.so.1]" in dynamic(place / "libtracetools_probes.so")
