# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The preflight of the real DDS libraries, held against what the loader does with them."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lttng_world import ROOT

from strata.errors import SessionError
from strata.record.dds import Hooks, find_hooks, preflight
from strata.record.preflight.binding import BINDS, UNUSED
from strata.record.preflight.preflight import Preflight
from strata.record.ros import Ros, caller_environment, find_ros

_LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
_BINDING = re.compile(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: \w+ symbol `(\w+)'")
_RELEASE = {".venv": "libfastrtps.so.2.14", ".venv-kilted": "libfastdds.so.3.2"}


@pytest.fixture(params=list(_RELEASE))
def ros(request: pytest.FixtureRequest) -> Ros:
    prefix = ROOT / request.param
    try:
        found = find_ros({"STRATA_ROS_PREFIX": str(prefix)})
        found.environment({})
    except SessionError as error:
        pytest.skip(str(error))
    return found


@pytest.fixture
def fastdds(ros: Ros) -> Preflight:
    environment = ros.environment(caller_environment({}))
    (found,) = [p for p in preflight(ros, environment) if p.vendor == "fastdds"]
    return found


def test_every_hook_of_the_wheels_binds(ros: Ros, fastdds: Preflight) -> None:
    assert fastdds.soname == _RELEASE[ros.prefix.name]
    assert fastdds.library == ros.prefix / "lib" / fastdds.soname
    assert fastdds.known_release
    assert len(fastdds.callers) >= 2
    assert {b.status for b in fastdds.bindings} <= {BINDS, UNUSED}
    assert {b.function for b in fastdds.bindings if b.status == UNUSED} <= {"sendto"}
    assert fastdds.faults == []
    assert " + " not in " ".join(fastdds.layers)
    assert fastdds.layers_over_iceoryx == []
    assert not any(parting.gaps for parting in fastdds.partings)


def test_it_takes_less_than_half_a_second(ros: Ros) -> None:
    environment = ros.environment(caller_environment({}))
    # Of a CPU: other programs are no fault of its own.
    begin = time.process_time()
    preflight(ros, environment)
    assert time.process_time() - begin < 0.5


def test_the_loader_binds_what_the_preflight_says(ros: Ros, fastdds: Preflight) -> None:
    _hold_against_the_loader(ros, fastdds, "librmw_fastrtps_cpp.so")


def test_the_loader_does_so_with_cyclone(ros: Ros) -> None:
    environment = ros.environment(caller_environment({}))
    found = [p for p in preflight(ros, environment) if p.vendor == "cyclonedds"]
    if not found:
        pytest.skip("Cyclone DDS is not installed")
    assert found[0].faults == []
    # Debian's is built with iceoryx, and no hook sees what goes there before it is with the reader.
    assert found[0].layers_over_iceoryx == [
        "serialize + dds write + transport",
        "dds receive",
        "wake-up",
        "take",
    ]
    _hold_against_the_loader(ros, found[0], str(found[0].library))


def _hold_against_the_loader(ros: Ros, found: Preflight, loaded: str) -> None:
    hooks = find_hooks(ros)
    if hooks is None:
        pytest.skip("dds_tracepoints is not built")
    told = {b.symbol for b in found.bindings if b.status == BINDS and b.looked_up}
    places = {Path(path).name for path in (found.library, *found.callers)}
    reached, missed = set(), set()
    for source, target, symbol in _bindings(ros, hooks, loaded):
        if symbol in told and Path(source).name in places:
            (reached if target == str(hooks.library) else missed).add(symbol)
    assert reached == told
    assert missed == set()


def _bindings(ros: Ros, hooks: Hooks, loaded: str) -> Iterator[tuple[str, str, str]]:
    """Give what the loader bound when a library is loaded: from, to, symbol."""
    environment = hooks.preload(ros.environment(caller_environment({"PATH": "/usr/bin"})))
    environment |= {"LD_DEBUG": "bindings", "LD_BIND_NOW": "1"}
    done = subprocess.run(
        [sys.executable, "-S", "-c", _LOAD, loaded],
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        check=True,
        timeout=120,
    )
    for match in _BINDING.finditer(done.stderr):
        yield match[1], match[2], match[3]


def test_an_older_release_is_told_so(ros: Ros, fastdds: Preflight, tmp_path: Path) -> None:
    # The same library under the name of a release whose objects are not known.
    content = fastdds.library.read_bytes()
    known = fastdds.soname.encode() + b"\0"
    other = known[:-2] + b"9\0"
    path = tmp_path / "library.so"
    path.write_bytes(content.replace(known, other))
    found = {p.soname: p for p in preflight(ros, {}, [path])}
    given = found[other[:-1].decode()]
    assert given.library == path
    assert not given.known_release
    assert given.callers == ()
    # The middleware that is there is linked to the other one.
    assert {b.function for b in given.faults} == {"serialize", "deserialize"}
    assert "found" in given.faults[0].why


def test_a_given_library_stands_for_the_one_that_is_found(ros: Ros, fastdds: Preflight) -> None:
    copy = fastdds.library.with_name(fastdds.library.name.rpartition(".")[0])
    given = next(p for p in (copy, fastdds.library) if p.is_file())
    found = [p for p in preflight(ros, {}, [given]) if p.vendor == "fastdds"]
    assert [p.library for p in found] == [given]


def test_a_library_without_hooks_is_refused(ros: Ros) -> None:
    path = ros.prefix / "lib" / "librcl.so"
    with pytest.raises(SessionError, match=r"librcl\.so is not a library with hooks"):
        preflight(ros, {}, [path])
