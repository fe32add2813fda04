# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Decide for each hooked function of one DDS library whether calls of it can reach the hook.

A preloaded library stands first wherever the loader looks a symbol up. So a call reaches the hook
when the caller, or the table of virtual functions, has a relocation against the symbol; a call that
the linker or the compiler has bound within the library does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from strata.record.preflight.elf import Library, Symbol
from strata.record.preflight.hooks import (
    ANY_VENDOR,
    LIBC,
    NATIVE,
    RMW,
    SELF,
    Function,
    Hook,
)
from strata.record.preflight.releases import (
    CYCLONEDDS,
    EVENTS_OF_KNOWN_RELEASES,
    FASTDDS,
    is_known,
)

BINDS = "binds"
PARTLY = "partly"
MISSING = "missing"
# Nobody can call it: the library does not call this function of the C library, or exports no such
# function to programs. Nothing is lost.
UNUSED = "unused"

VENDORS = {"libfastrtps": FASTDDS, "libfastdds": FASTDDS, "libddsc": CYCLONEDDS}
_STEM = re.compile(r"lib\w+")
_NESTED_NAME = re.compile(r"_ZN[VK]*")
_LENGTH = re.compile(r"\d+")


@dataclass(frozen=True)
class Binding:
    """Whether one hook binds.

    `library` has the function, null when it was not found. `symbol` is the one that the hook
    stands in for, null when the library exports none that it knows. `looked_up` counts the
    references that reach the hook, `bypassing` those that do not; both are null for calls from
    libraries and programs that are not there to be read. `why` is empty when it binds.
    """

    function: str
    what: str
    caller: str
    library: Path | None
    symbol: str | None
    status: str
    why: str
    looked_up: int | None
    bypassing: int | None
    events: tuple[str, ...]

    @property
    def events_lost(self) -> tuple[str, ...]:
        """List the events that this function then does not emit; others may emit the same."""
        return self.events if self.status == MISSING else ()


def vendor_of(library: Library) -> str | None:
    """Name the vendor of a DDS library; null when it is none that has hooks."""
    return VENDORS.get(_stem(library.soname))


def decide(
    functions: Sequence[Function], dds: Library, callers: Sequence[Library]
) -> list[Binding]:
    """Decide for each function of the library's vendor; `callers` are the libraries that use it."""
    vendor = vendor_of(dds)
    assert vendor is not None
    untold = frozenset() if is_known(dds, vendor) else EVENTS_OF_KNOWN_RELEASES[vendor]
    return [
        _without(untold, _decide(function, dds, callers))
        for function in functions
        if function.vendor in (vendor, ANY_VENDOR)
    ]


def _without(untold: frozenset[str], binding: Binding) -> Binding:
    if binding.status == UNUSED or not untold & set(binding.events):
        return binding
    why = binding.why or "binds, but the layout of this release's objects is not known"
    return replace(binding, status=MISSING, why=why)


def _decide(function: Function, dds: Library, callers: Sequence[Library]) -> Binding:
    if function.caller == LIBC:
        return _of_c_library(function, dds)
    home, hooks = _home(function, [dds, *callers])
    if home is None:
        wanted = " or ".join(sorted({hook.library for hook in function.hooks}))
        return _missing(function, None, f"no {wanted} that uses this library was found")
    for hook in hooks:
        symbol = home.find(hook.symbol)
        if symbol is not None and symbol.defined:
            return _reached(function, hook, home, symbol, callers)
    if _has_other_parameters(home, hooks):
        return _missing(function, home, "only with other parameters: an unknown release")
    why = _why_absent(home, hooks)
    if function.caller == NATIVE:
        return _binding(function, home, None, UNUSED, why, None, None)
    return _missing(function, home, why)


def _home(function: Function, libraries: Sequence[Library]) -> tuple[Library | None, list[Hook]]:
    """Find the library that should have a function, and the symbols that it may have there."""
    for library in libraries:
        stem = _stem(library.soname)
        hooks = [hook for hook in function.hooks if stem.startswith(_stem(hook.library))]
        if hooks:
            return library, hooks
    return None, []


def _stem(soname: str) -> str:
    # auditwheel writes a hash into the names: libddsc-0a1b2c3d.so.11.
    match = _STEM.match(soname)
    return match[0] if match else soname


def _of_c_library(function: Function, dds: Library) -> Binding:
    hook = function.hooks[0]
    symbol = dds.find(hook.symbol)
    count = dds.references(symbol) if symbol is not None else 0
    status, why = (BINDS, "") if count else (UNUSED, f"{dds.soname} does not call it")
    return _binding(function, dds, hook.symbol if count else None, status, why, count, 0)


def _reached(
    function: Function,
    hook: Hook,
    home: Library,
    symbol: Symbol,
    callers: Sequence[Library],
) -> Binding:
    if function.caller == NATIVE or (function.caller == RMW and not callers):
        # Another library or program can call it by its symbol only.
        return _binding(function, home, hook.symbol, BINDS, "", None, None)
    inside = function.caller != RMW
    places = [home] if function.caller == SELF else [*([home] if inside else []), *callers]
    looked_up, bypassing = 0, 0
    for place in {id(place): place for place in places}.values():
        found, fixed = _ways(place, hook.symbol)
        looked_up, bypassing = looked_up + found, bypassing + fixed
    if looked_up and not bypassing:
        status, why = BINDS, ""
    elif looked_up:
        total = looked_up + bypassing
        status, why = PARTLY, f"{bypassing} of {total} references: {_cause(home, symbol)}"
    elif bypassing:
        status, why = MISSING, _cause(home, symbol)
    elif inside:
        status, why = MISSING, "nothing references its symbol: inlined, or unused"
    else:
        names = " and ".join(place.soname for place in places)
        status, why = MISSING, f"{names} {'does' if len(places) == 1 else 'do'} not call it"
    return _binding(function, home, hook.symbol, status, why, looked_up, bypassing)


def _ways(place: Library, name: str) -> tuple[int, int]:
    """Count the references in a library that reach a hook, and those that cannot."""
    symbol = place.find(name)
    if symbol is None:
        return 0, 0
    found = place.references(symbol)
    if not symbol.defined:
        return found, 0
    fixed = place.fixed_references(symbol)
    if place.symbolic or symbol.protected:
        return 0, fixed + found
    return found, fixed


def _cause(home: Library, symbol: Symbol) -> str:
    if symbol.protected:
        return "bound within the library (protected visibility)"
    if home.symbolic:
        return "bound within the library (-Bsymbolic)"
    return "bound within the library (for example -Bsymbolic-functions)"


def _has_other_parameters(home: Library, hooks: Sequence[Hook]) -> bool:
    beginnings = [_beginning(hook.symbol) for hook in hooks]
    return any(begin and home.exports_beginning_with(begin) for begin in beginnings)


def _why_absent(home: Library, hooks: Sequence[Hook]) -> str:
    if home.is_stripped:
        return "not exported: hidden, or not in this release (the library is stripped)"
    if any(home.holds_unexported(hook.symbol) for hook in hooks):
        return "not exported (hidden visibility)"
    return "no such function in this release"


def _beginning(symbol: str) -> str | None:
    """Give a mangled function's name without parameters; null for a function of C."""
    match = _NESTED_NAME.match(symbol)
    if match is None:
        return None
    at = match.end()
    while length := _LENGTH.match(symbol, at):
        at = length.end() + int(length[0])
    return symbol[: at + 1] if symbol[at : at + 1] == "E" else None


def _missing(function: Function, home: Library | None, why: str) -> Binding:
    return _binding(function, home, None, MISSING, why, 0, 0)


def _binding(
    function: Function,
    home: Library | None,
    symbol: str | None,
    status: str,
    why: str,
    looked_up: int | None,
    bypassing: int | None,
) -> Binding:
    return Binding(
        function=function.id,
        what=function.what,
        caller=function.caller,
        library=home.path if home else None,
        symbol=symbol,
        status=status,
        why=why,
        looked_up=looked_up,
        bypassing=bypassing,
        events=function.events,
    )
