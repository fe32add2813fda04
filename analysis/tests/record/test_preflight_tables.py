# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of the preflight: hooks.def, machine code, and what follows for the layers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.enums import ENUM_RELOC_TYPE_AARCH64, ENUM_RELOC_TYPE_x64
from lttng_world import ROOT

from strata.errors import SessionError
from strata.record.config import load_config
from strata.record.preflight.binding import BINDS, MISSING, PARTLY, UNUSED, Binding
from strata.record.preflight.calls import targets
from strata.record.preflight.elf import MACHINES
from strata.record.preflight.hooks import parse_hooks, read_hooks
from strata.record.preflight.layers import LAYERS, partings, told_apart
from strata.record.preflight.releases import CYCLONEDDS_RELEASES, FASTDDS_RELEASES
from strata.schema.events import CATALOGUE

_SOURCES = ROOT / "tracing_ws" / "src" / "dds_tracepoints" / "src"
_EVENT = re.compile(r"LTTNG_UST_TRACEPOINT_EVENT(?:_INSTANCE)?\(\s*dds,\s*(?:\w+,\s*dds,\s*)?(\w+)")
_LEGACY = {"write_pre", "write", "read"}
# What the executor's own events tell.
_WAITS = {"wait_begin", "wait_end", "wake_up"}


_STEPS = {event.name for event in CATALOGUE.values() if event.step_of}
"""What hooks note in the event of an operation."""


def _declared() -> set[str]:
    return set(_EVENT.findall((_SOURCES / "events.h").read_text()))


def test_the_shipped_table_is_understood() -> None:
    functions = read_hooks(_SOURCES / "hooks.def")
    text = (_SOURCES / "hooks.def").read_text()
    rows = [line for line in text.splitlines() if line.startswith("HOOK(")]
    assert sum(len(function.hooks) for function in functions) == len(rows)
    (wake_up,) = [f for f in functions if f.id == "wake_up"]
    assert (wake_up.vendor, wake_up.caller, wake_up.events) == ("fastdds", "self", ("wake_up",))
    assert wake_up.hooks[0].library == "libfast"
    for function in functions:
        # `send_end.port`: a field of an event only.
        assert {event.partition(".")[0] for event in function.events} <= _declared() | _STEPS


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("", "it has no FUNCTION"),
        ('FUNCTION(a, v, self, "e", "w")\n', "a has no HOOK"),
        ('HOOK(a, 1, "l", "s")\n', r"HOOK\(a, 1, \"l\", \"s\"\) belongs to no FUNCTION"),
        ('FUNCTION(a, v, self, "e")\n', ".* has 4 arguments, not 5"),
        ('FUNCTION(a, v, me, "e", "w")\n', "caller me of a is none of rmw"),
    ],
)
def test_a_table_that_is_not_understood_is_refused(tmp_path: Path, text: str, fact: str) -> None:
    path = tmp_path / "hooks.def"
    path.write_text(text)
    with pytest.raises(SessionError, match=rf"table of DDS hooks {path}: {fact}.*make setup"):
        read_hooks(path)


def test_arguments_may_hold_commas_and_nothing() -> None:
    (function,) = parse_hooks('FUNCTION(a, any, libc, "", "f(x, y)")\nHOOK(a, any, "l", "s")\n')
    assert (function.what, function.events) == ("f(x, y)", ())


def test_the_releases_are_those_that_the_hooks_know() -> None:
    sources = "".join(path.read_text() for path in sorted(_SOURCES.rglob("*.c")))
    assert re.findall(r'\.soname = "([^"]+)"', sources) == list(FASTDDS_RELEASES)
    assert re.findall(r'strncmp\(version, "([^"]+)"', sources) == list(CYCLONEDDS_RELEASES)


def test_the_full_configuration_has_every_event_that_tells_something_of_its_own() -> None:
    events = load_config("full").ust
    listed = {name.removeprefix("dds:") for name in events if name.startswith("dds:")}
    assert listed == _declared() - _LEGACY - _WAITS
    assert _declared() >= _LEGACY | _WAITS
    assert "ros2:*" in events


def test_relocation_numbers_are_those_of_the_processors() -> None:
    x64, arm = ENUM_RELOC_TYPE_x64, ENUM_RELOC_TYPE_AARCH64
    kinds = ("GLOB_DAT", "JUMP_SLOT")
    assert MACHINES["EM_X86_64"].by_symbol == (
        x64["R_X86_64_64"],
        *(x64[f"R_X86_64_{kind}"] for kind in kinds),
    )
    assert MACHINES["EM_X86_64"].relative == x64["R_X86_64_RELATIVE"]
    assert MACHINES["EM_AARCH64"].by_symbol == (
        arm["R_AARCH64_ABS64"],
        *(arm[f"R_AARCH64_{kind}"] for kind in kinds),
    )
    assert MACHINES["EM_AARCH64"].relative == arm["R_AARCH64_RELATIVE"]


def test_calls_and_jumps_of_x86_64() -> None:
    code = bytes.fromhex(
        "90 e8 0a000000"  # at 1: call, to 6 + 10
        "e9 f5ffffff"  # at 6: jmp, to 11 - 11
        "0f85 05000000"  # at 11: jne, to 17 + 5
        "85c0"  # test eax, eax
    )
    found = targets(np.frombuffer(code, np.uint8), 0x1000, "EM_X86_64")
    assert [hex(target) for target in found] == ["0x1010", "0x1000", "0x1016"]
    assert len(targets(np.frombuffer(b"\xe8\0\0", np.uint8), 0, "EM_X86_64")) == 0


def test_calls_and_jumps_of_aarch64() -> None:
    words = [0xD503201F, 0x94000002, 0x17FFFFFE, 0x54000040]  # nop, bl +8, b -8, b.eq
    code = b"".join(word.to_bytes(4, "little") for word in words) + b"\0"
    found = targets(np.frombuffer(code, np.uint8), 0x1000, "EM_AARCH64")
    assert [hex(target) for target in found] == ["0x100c", "0x1000"]


def _binding(what: str, status: str, *events: str, caller: str = "self") -> Binding:
    return Binding(what, what, caller, None, None, status, "", 0, 0, events)


_ALL = (
    _binding("serialize", BINDS, "serialize_begin", "serialize_end"),
    _binding("shm", BINDS, "send_begin"),
    _binding("socket", BINDS, "send_begin"),
    _binding("receive", BINDS, "receive"),
    _binding("notify", BINDS, "reader_notify"),
    _binding("wait", BINDS, "wait_end"),
    _binding("take", BINDS, "take_begin"),
)


def _with(**statuses: str) -> list[Binding]:
    return [_binding(b.what, statuses.get(b.what, BINDS), *b.events) for b in _ALL]


def test_layers_merge_where_nothing_parts_them() -> None:
    assert told_apart(partings(_ALL)) == list(LAYERS)
    assert told_apart(partings(_with(receive=MISSING, notify=MISSING))) == [
        "serialize",
        "dds write",
        "transport + dds receive + wake-up",
        "take",
    ]
    assert told_apart(partings([])) == [" + ".join(LAYERS)]


def test_one_of_several_functions_makes_a_gap() -> None:
    sends = partings(_with(shm=MISSING))[1]
    assert (sends.parted, sends.gaps) == (True, ("shm",))
    assert partings(_with(shm=PARTLY))[1].gaps == ("shm",)
    assert partings(_with(shm=UNUSED))[1].gaps == ()
    assert not partings(_with(shm=MISSING, socket=MISSING))[1].parted


def test_either_of_two_events_parts_wake_up_from_take() -> None:
    for missing in ("wait", "take"):
        parting = partings(_with(**{missing: MISSING}))[4]
        assert (parting.parted, parting.gaps) == (True, ())
    assert not partings(_with(wait=MISSING, take=MISSING))[4].parted


def test_functions_that_ros_does_not_call_part_nothing() -> None:
    native = _binding("native", BINDS, "reader_notify", caller="native")
    assert not partings([*_with(notify=MISSING), native])[3].parted
