# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How libraries are preloaded into a command, and what keeps its programs as they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

LIBRARY = "lib/ust_guard/libust_guard.so"
_SANITIZER_VARIABLE = "ASAN_OPTIONS"
_ANY_ORDER = "verify_asan_link_order"


def guard_libraries(spaces: Sequence[Path]) -> tuple[Path, ...]:
    """Give what is preloaded beside any library that brings LTTng-UST; empty when not built.

    `spaces` are the install spaces of what else is preloaded.
    """
    libraries = (space / LIBRARY for space in spaces)
    return tuple(library for library in libraries if library.is_file())[:1]


def preload(
    environment: dict[str, str], libraries: Sequence[Path], *, behind: bool = False
) -> None:
    """Have an environment's programs load libraries, before those that it names, or `behind` them.

    Each stands there once. Programs made with AddressSanitizer refuse to start when its runtime is
    not the first library. Ours call the function behind them, which is the runtime's: they may come
    first, and a program is told so unless the environment says something of it.
    """
    old = [path for path in environment.get("LD_PRELOAD", "").split(":") if path]
    new = [str(path) for path in libraries]
    if behind:
        both = [*old, *(path for path in new if path not in old)]
    else:
        both = [*new, *(path for path in old if path not in new)]
    environment["LD_PRELOAD"] = ":".join(both)
    stated = environment.get(_SANITIZER_VARIABLE, "")
    if _ANY_ORDER not in stated:
        options = [option for option in (stated, f"{_ANY_ORDER}=0") if option]
        environment[_SANITIZER_VARIABLE] = ":".join(options)
