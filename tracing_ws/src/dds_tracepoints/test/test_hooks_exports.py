# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The library replaces exactly the functions of its table, and needs next to nothing."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from dds_events import HOOKS, LIBRARY
from traced_ros import INSTALLED

ROOT = Path(__file__).resolve().parents[4]
WHEELS = {"2_14": ".venv/lib/libfastrtps.so.2.14", "3_2": ".venv-kilted/lib/libfastdds.so.3.2"}
# What the headers of LTTng-UST define in every provider.
_LTTNG = re.compile(r"(__start_|__stop_)?_*lttng_ust_\w+")


def table() -> list[tuple[str, str, str, str]]:
    """Give id, release, library and symbol of every row."""
    return re.findall(r'^HOOK\((\w+), (\w+), "([^"]+)", "([^"]+)"\)', HOOKS.read_text(), re.M)


def symbols(library: Path, *options: str) -> set[str]:
    done = subprocess.run(["nm", "-D", *options, library], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


def dynamic(library: Path) -> str:
    return subprocess.run(["readelf", "-d", library], capture_output=True, text=True).stdout


@pytest.fixture(scope="module", params=["jazzy", "kilted"])
def library(request: pytest.FixtureRequest) -> Path:
    return INSTALLED / request.param / "lib/dds_tracepoints" / LIBRARY.name


def test_exactly_the_functions_of_the_table_are_exported(library):
    exported = {name for name in symbols(library, "--defined-only") if not _LTTNG.fullmatch(name)}
    assert exported == {symbol for *_, symbol in table()}


def test_it_needs_the_c_library_only_and_its_probes_lttng(library):
    needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic(library)))
    assert needed <= {"libc.so.6", "ld-linux-x86-64.so.2"}
    probes = library.with_name("libdds_tracepoints_probes.so")
    assert "[liblttng-ust.so.1]" in dynamic(probes)


def test_calls_within_it_do_not_go_through_names_of_others(library):
    """A hook that called another exported one would pass through what a program preloads first."""
    hooked = {symbol for *_, symbol in table()}
    relocations = subprocess.run(["readelf", "-rW", library], capture_output=True, text=True).stdout
    named = set(re.findall(r"R_\w+\s+\w+\s+(\S+?)(?:@\S+)? \+ 0", relocations))
    assert named, relocations
    assert not named & hooked


def test_thread_local_storage_needs_no_allocation(library):
    relocations = subprocess.run(["readelf", "-rW", library], capture_output=True, text=True).stdout
    assert "DTPMOD" not in relocations
    assert "__tls_get_addr" not in symbols(library)


@pytest.mark.parametrize("build", WHEELS)
def test_every_symbol_of_the_table_is_one_of_the_release(build):
    wheels = ROOT / WHEELS[build]
    defined = symbols(wheels, "--defined-only")
    rmw = wheels.parent / "librmw_fastrtps_shared_cpp.so"
    defined_by_rmw = symbols(rmw, "--defined-only")
    rows = [row for row in table() if build in row[1].split("_and_")]
    assert len(rows) == 20
    for name, _, soname, symbol in rows:
        assert symbol in (defined_by_rmw if soname.startswith("librmw") else defined), name
    # And the siblings that are called by their names.
    for sibling in re.findall(r'"(_ZNK?8eprosima\w+guidEv)"', sources()):
        assert sibling in defined


def sources() -> str:
    place = Path(__file__).parent.parent / "src/fastdds"
    return "".join(path.read_text() for path in sorted(place.glob("*.c")))


def test_the_installed_table_is_the_source(library):
    installed = library.parents[2] / "share/dds_tracepoints/hooks.def"
    assert installed.read_text() == (Path(__file__).parent.parent / "src/hooks.def").read_text()
