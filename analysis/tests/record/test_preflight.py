# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the preflight says of a library is what its hooks count when a program runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tiny_dds import HOOKS, Tiny, build

from strata.errors import SessionError
from strata.record.preflight.binding import BINDS, MISSING, PARTLY, UNUSED, Binding
from strata.record.preflight.elf import Library
from strata.record.preflight.hooks import parse_hooks
from strata.record.preflight.preflight import examine

_CALLS = {"write": 1, "add": 2, "send": 1}
_LOCAL = "bound within the library"


def _check(tiny: Tiny) -> dict[str, Binding]:
    """Hold the verdict against the run; gives the bindings by function."""
    bindings = {binding.function: binding for binding in tiny.verdict().bindings}
    counts = tiny.truth()
    assert set(bindings) == set(counts) == set(_CALLS)
    for name, binding in bindings.items():
        count, calls = counts[name], _CALLS[name]
        truth = BINDS if count == calls else PARTLY if count else MISSING
        assert binding.status == truth, (binding, counts)
        assert bool(binding.why) is (truth != BINDS)
        assert binding.events_lost == (binding.events if truth == MISSING else ())
    return bindings


def test_an_ordinary_library_binds(tmp_path: Path) -> None:
    tiny = build(tmp_path)
    bindings = _check(tiny)
    assert {b.status for b in bindings.values()} == {BINDS}
    assert bindings["add"].looked_up == 1
    assert bindings["write"].library == tiny.library


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(["-Wl,-z,now"], id="now"),
        pytest.param(["-fno-plt"], id="no-plt"),
        pytest.param(["-flto"], id="lto"),
        pytest.param(["-Wl,-z,pack-relative-relocs"], id="relr"),
        pytest.param(["-Wl,--hash-style=sysv"], id="sysv-hash"),
        pytest.param(["-s"], id="stripped"),
    ],
)
def test_these_take_nothing_away(tmp_path: Path, options: list[str]) -> None:
    assert {b.status for b in _check(build(tmp_path, *options)).values()} == {BINDS}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        pytest.param(["-Wl,-Bsymbolic-functions"], _LOCAL, id="Bsymbolic-functions"),
        pytest.param(
            ["-Wl,-Bsymbolic-functions", "-Wl,-z,pack-relative-relocs"], _LOCAL, id="relr"
        ),
        pytest.param(["-Wl,-Bsymbolic-functions", "-fno-plt"], _LOCAL, id="no-plt"),
        pytest.param(["-Wl,-Bsymbolic"], f"{_LOCAL} (-Bsymbolic)", id="Bsymbolic"),
        pytest.param(
            ['-DALL=__attribute__((visibility("protected")))'],
            f"{_LOCAL} (protected visibility)",
            id="protected",
        ),
    ],
)
def test_only_calls_between_libraries_bind(tmp_path: Path, options: list[str], why: str) -> None:
    tiny = build(tmp_path, *options)
    bindings = _check(tiny)
    assert {name: b.status for name, b in bindings.items()} == {
        "write": BINDS,
        "add": MISSING,
        "send": MISSING,
    }
    for name in ("add", "send"):
        assert bindings[name].why.startswith(why)
        assert bindings[name].bypassing
    found = tiny.verdict()
    assert found.merged_without(bindings["send"]) == ["dds write + transport"]
    assert found.merged_without(bindings["write"]) == []


def test_dt_symbolic_counts_where_references_are_left(tmp_path: Path) -> None:
    # A linker that honours the flag leaves no reference; one that only sets it does.
    tiny = build(tmp_path)
    library = Library(tiny.library)
    library.symbolic = True
    (found,) = examine(parse_hooks(HOOKS), [library], [Library(tiny.rmw)])
    statuses = {b.function: (b.status, b.why) for b in found.bindings}
    assert statuses["write"] == (BINDS, "")
    assert statuses["add"] == (MISSING, f"{_LOCAL} (-Bsymbolic)")


def test_hidden_functions_are_out_of_reach(tmp_path: Path) -> None:
    bindings = _check(build(tmp_path, '-DINNER=__attribute__((visibility("hidden")))'))
    assert bindings["write"].status == BINDS
    assert bindings["add"].why == "not exported (hidden visibility)"
    assert bindings["add"].symbol is None


def test_a_stripped_library_cannot_tell_why(tmp_path: Path) -> None:
    bindings = _check(build(tmp_path, '-DINNER=__attribute__((visibility("hidden")))', "-s"))
    assert bindings["send"].why == (
        "not exported: hidden, or not in this release (the library is stripped)"
    )


def test_another_release_has_other_parameters(tmp_path: Path) -> None:
    bindings = _check(build(tmp_path, "-DVALUE=long"))
    assert bindings["write"].status == MISSING
    assert bindings["write"].why == "only with other parameters: an unknown release"
    assert bindings["write"].events_lost == ("write_begin", "write_end")
    assert bindings["add"].status == BINDS


def test_calls_within_a_source_file_may_bypass_a_hook(tmp_path: Path) -> None:
    bindings = _check(build(tmp_path, "-fno-semantic-interposition"))
    assert bindings["add"].status == PARTLY
    assert (bindings["add"].looked_up, bindings["add"].bypassing) == (1, 1)
    assert bindings["add"].why.startswith("1 of 2 references: bound within the library")
    # The table of virtual functions of that file takes the short way, too.
    assert bindings["send"].status == MISSING


def test_a_middleware_that_does_not_call(tmp_path: Path) -> None:
    tiny = build(tmp_path)
    (tmp_path / "idle.c").write_text("int idle;\n")
    rmw = tmp_path / "librmw_fastrtps_shared_cpp.so"
    link = ["-Wl,--no-as-needed", tiny.library.name]
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "idle.c", *link, "-o", rmw.name], cwd=tmp_path, check=True
    )
    (found,) = examine(parse_hooks(HOOKS), [Library(tiny.library)], [Library(rmw)])
    write = next(b for b in found.bindings if b.function == "write")
    assert (write.status, write.why) == (MISSING, f"{rmw.name} does not call it")


def test_without_its_middleware_a_library_is_judged_by_its_exports(tmp_path: Path) -> None:
    tiny = build(tmp_path)
    (found,) = examine(parse_hooks(HOOKS), [Library(tiny.library)], [])
    write = next(b for b in found.bindings if b.function == "write")
    assert (write.status, write.looked_up) == (BINDS, None)


def test_what_is_no_library_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "libfastdds.so"
    for content in (b"", b"INPUT(libfastdds.so.3.2)", b"\x7fELF"):
        path.write_bytes(content)
        with pytest.raises(
            SessionError, match=rf"Cannot read library {path}: it is not an ELF file"
        ):
            Library(path)
    with pytest.raises(SessionError, match="No such file or directory"):
        Library(tmp_path / "none")


def test_a_truncated_library_is_refused(tmp_path: Path) -> None:
    tiny = build(tmp_path)
    whole = tiny.library.read_bytes()
    for length in (64, 200, len(whole) // 2, len(whole) - 1):
        tiny.library.write_bytes(whole[:length])
        with pytest.raises(SessionError, match="Cannot read library"):
            Library(tiny.library)


def test_another_processor_is_refused(tmp_path: Path) -> None:
    tiny = build(tmp_path)
    whole = bytearray(tiny.library.read_bytes())
    whole[18:20] = (243).to_bytes(2, "little")  # RISC-V
    tiny.library.write_bytes(whole)
    with pytest.raises(SessionError, match="it is for RISCV, 64 bit"):
        Library(tiny.library)


def test_programs_cannot_miss_what_a_library_does_not_export(tmp_path: Path) -> None:
    tiny = build(tmp_path, '-DINNER=__attribute__((visibility("hidden")))')
    functions = parse_hooks(HOOKS.replace("self", "native"))
    (found,) = examine(functions, [Library(tiny.library)], [Library(tiny.rmw)])
    assert next(b.status for b in found.bindings if b.function == "add") == UNUSED
    assert [b.function for b in found.faults] == ["send"]


def test_an_unknown_release_of_cyclone_tells_no_serialization(tmp_path: Path) -> None:
    tiny = build(tmp_path)
    table = HOOKS.replace("fastdds, self", "cyclonedds, self").replace("libfastdds.so", "libddsc")
    functions = parse_hooks(table.replace("reader_notify", "serialize_begin serialize_end"))
    for name, known in (("libddsc.so.0.10.5", True), ("libddsc.so.0.7.0", False)):
        path = tmp_path / name
        path.write_bytes(
            tiny.library.read_bytes().replace(b"libfastdds.so.3.2", b"libddsc.so.0\0\0\0\0\0")
        )
        (found,) = examine(functions, [Library(path)], [])
        (add,) = [b for b in found.bindings if b.function == "add"]
        assert found.known_release is known
        assert add.status == (BINDS if known else MISSING)
        assert found.layers[0] == (
            "serialize"
            if known
            else "serialize + dds write + transport + dds receive + wake-up + take"
        )
        assert bool(found.note) is not known
