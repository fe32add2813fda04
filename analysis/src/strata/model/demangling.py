# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of functions as people write them.

rclcpp demangles its symbols before it emits them; other producers may not.
"""

from __future__ import annotations

import ctypes
import functools

import numpy as np
import numpy.typing as npt

_MANGLED = "_Z"
_NAMELESS = frozenset({"", "(null)"})
"""What LTTng writes for a name that the producer did not find."""

Objects = npt.NDArray[np.object_]


def demangled(symbols: Objects) -> Objects:
    """Return symbols with mangled C++ names demangled, and None for those that name nothing.

    A name that cannot be demangled stays as it is. O(n), with one call a distinct name.
    """
    return np.asarray([_name(symbol) for symbol in symbols], dtype=object)


@functools.cache
def _name(symbol: str | None) -> str | None:
    if symbol is None or symbol in _NAMELESS:
        return None
    return _demangle(symbol) if symbol.startswith(_MANGLED) else symbol


def _demangle(symbol: str) -> str:
    library = _runtime()
    if library is None:
        return symbol
    status = ctypes.c_int()
    found = library.__cxa_demangle(symbol.encode(), None, None, ctypes.byref(status))
    if not found:
        return symbol
    try:
        return ctypes.string_at(found).decode(errors="replace")
    finally:
        ctypes.CDLL(None).free(ctypes.c_void_p(found))


@functools.cache
def _runtime() -> ctypes.CDLL | None:
    """The C++ runtime library, which knows its own mangling (Itanium C++ ABI, __cxa_demangle)."""
    try:
        library = ctypes.CDLL("libstdc++.so.6")
    except OSError:
        return None
    library.__cxa_demangle.restype = ctypes.c_void_p
    library.__cxa_demangle.argtypes = [
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_void_p,
        ctypes.POINTER(ctypes.c_int),
    ]
    return library
