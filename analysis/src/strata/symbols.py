# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Shorten the symbols of callbacks for people; results keep them whole."""

from __future__ import annotations

import re
from functools import lru_cache

_OPEN = {"<": ">", "(": ")"}
# A module and a qualified name, parts with dots between; <locals>, <lambda> and the like are whole
# parts, and a lambda's place follows it. In C++ what is in angle brackets belongs to a name before.
_PART = r"(?:\w+|<[^<>.()]+>)"
_PYTHON = re.compile(rf"{_PART}(?:\.{_PART})*(?: \([^()]+:\d+\))?")
_HELD_UP = re.compile(
    r"behind (itself, )?|blocked in |leaving idle in |preempted (by .*? \(\d+\) (and others )?)?in "
)


@lru_cache(maxsize=4096)
def shorten(symbol: str) -> str:
    """Return a C++ symbol without template and function arguments.

    ``Relay<sensor_msgs::msg::Image_<std::allocator<void> > >::Relay(int)::{lambda(auto)#1}``
    becomes ``Relay::Relay::{lambda#1}``. A Python name comes back as it is, with what it has in
    brackets: ``chain.main.<locals>.<lambda> (chain.py:12)``. A symbol whose brackets do not match
    (an operator such as ``operator<``) comes back whole.
    """
    if _PYTHON.fullmatch(symbol):
        return symbol
    bound = re.match(r"std::_Bind<[^(]*\(([\w:]+)::\*", symbol)
    if bound:
        # std::bind knows the class of the method, not its name.
        return f"std::bind({bound.group(1)}::*)"
    if symbol.startswith("void (") or "operator<" in symbol or "operator>" in symbol:
        return symbol
    kept: list[str] = []
    closing: list[str] = []
    at = 0
    while at < len(symbol):
        character = symbol[at]
        if symbol.startswith("operator()", at) and not closing:
            kept.append("operator()")
            at += len("operator()")
            continue
        if character in _OPEN:
            closing.append(_OPEN[character])
        elif closing and character == closing[-1]:
            closing.pop()
        elif character in _OPEN.values():
            return symbol
        elif not closing:
            kept.append(character)
        at += 1
    short = "".join(kept).replace(" const", "").strip()
    return short if short and not closing else symbol


def shorten_place(where: str) -> str:
    """Shorten the symbol inside a place such as ``behind f(int) [/topic] (/node)``."""
    prefix = words_before(where)
    body = where[len(prefix) :]
    symbol, bracket, rest = body.rpartition(" [")
    if not bracket:
        symbol, bracket, rest = body.rpartition(" (/")
    return f"{prefix}{shorten(symbol)}{bracket}{rest}" if bracket else where


def words_before(where: str) -> str:
    """Return what stands before the place itself: ``behind ``, ``blocked in ``; often nothing."""
    found = _HELD_UP.match(where)
    return found[0] if found else ""


def is_dotted(symbol: str) -> bool:
    """Tell whether a symbol is a Python name with its module, as rclpy's callbacks have it."""
    return "." in symbol and _PYTHON.fullmatch(symbol) is not None
