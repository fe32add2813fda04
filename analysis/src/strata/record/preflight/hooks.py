# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""hooks.def: the functions that the hook library replaces, and their symbols by release."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from strata.errors import SessionError

RMW = "rmw"
NATIVE = "native"
SELF = "self"
VTABLE = "vtable"
LIBC = "libc"
_CALLERS = (RMW, NATIVE, SELF, VTABLE, LIBC)
ANY_VENDOR = "any"

_ROW = re.compile(r"^(FUNCTION|HOOK)\((.*)\)\s*(?://.*)?$", re.MULTILINE)
_ARGUMENT = re.compile(r'\s*(?:"([^"]*)"|([^,"]*?))\s*(?:,|$)')


@dataclass(frozen=True)
class Hook:
    """A function's symbol in some releases; `library` is the beginning of the SONAME."""

    build: str
    library: str
    symbol: str


@dataclass(frozen=True)
class Function:
    """A hooked function.

    `caller` is one of RMW, NATIVE (a program without ROS), SELF, VTABLE and LIBC (a call to the C
    library). `events` are those of the provider `dds` that it emits.
    """

    id: str
    vendor: str
    caller: str
    events: tuple[str, ...]
    what: str
    hooks: tuple[Hook, ...] = ()


def read_hooks(path: Path) -> list[Function]:
    """Read the table; raises SessionError when it cannot be read or understood."""
    try:
        return parse_hooks(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SessionError(
            f"Cannot read the table of DDS hooks {path}: {error.strerror}. Run `make setup`."
        ) from error
    except ValueError as error:
        raise SessionError(
            f"Cannot read the table of DDS hooks {path}: {error}. Run `make setup`."
        ) from error


def parse_hooks(text: str) -> list[Function]:
    """Read the rows of a table; raises ValueError for one that is not as documented there."""
    functions: dict[str, Function] = {}
    hooks: dict[str, list[Hook]] = {}
    for kind, arguments in _ROW.findall(text):
        values = _split(arguments)
        if kind == "FUNCTION":
            function = _function(values)
            if function.id in functions:
                raise ValueError(f"{function.id} is declared twice")
            functions[function.id] = function
        elif len(values) != 4 or values[0] not in functions:
            raise ValueError(f"HOOK({arguments}) belongs to no FUNCTION")
        else:
            hooks.setdefault(values[0], []).append(Hook(*values[1:]))
    if not functions:
        raise ValueError("it has no FUNCTION")
    for name in functions.keys() - hooks.keys():
        raise ValueError(f"{name} has no HOOK")
    return [
        Function(f.id, f.vendor, f.caller, f.events, f.what, tuple(hooks[f.id]))
        for f in functions.values()
    ]


def _split(arguments: str) -> list[str]:
    found = [quoted or plain for quoted, plain in _ARGUMENT.findall(arguments)]
    # The pattern also matches the empty rest behind the last argument.
    return found[:-1] if found and not found[-1] else found


def _function(values: list[str]) -> Function:
    if len(values) != 5:
        raise ValueError(f"FUNCTION({', '.join(values)}) has {len(values)} arguments, not 5")
    name, vendor, caller, events, what = values
    if caller not in _CALLERS:
        raise ValueError(f"caller {caller} of {name} is none of {', '.join(_CALLERS)}")
    return Function(name, vendor, caller, tuple(events.split()), what)
