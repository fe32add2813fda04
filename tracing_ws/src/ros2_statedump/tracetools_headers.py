# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the headers of an installed tracetools declare.

tracetools.h declares, for every tracepoint X with its parameters, `ros_trace_X`,
`ros_trace_enabled_X` and `ros_trace_do_X`; tp_call.h declares the LTTng-UST event with its own
argument list, which may leave parameters out (`rclcpp_publish` has an unused publisher handle).
"""

from __future__ import annotations

import re
from typing import NamedTuple

_DECLARATION = re.compile(r"^_?DECLARE_TRACEPOINT\(\s*(\w+)\s*(?:,([^)]*))?\)", re.MULTILINE)
_EVENT = re.compile(
    r"^TRACEPOINT_EVENT\(\s*TRACEPOINT_PROVIDER,\s*(\w+),\s*TP_ARGS\(([^)]*)\)", re.MULTILINE
)
_ARRAY = re.compile(r"ctf_array\(\s*uint8_t,\s*(\w+),\s*\w+,\s*(\w+)\s*\)")
_NUMBER = re.compile(r"^#define\s+(\w+)\s+(\d+)u?\s*$", re.MULTILINE)


class Parameter(NamedTuple):
    """A function's parameter: its C type and its name."""

    type: str
    name: str


def parse_functions(header: str) -> dict[str, list[Parameter]]:
    """Return the parameters of every tracepoint that tracetools.h declares."""
    functions = {}
    for name, text in _DECLARATION.findall(header):
        parameters = []
        for item in filter(None, (part.strip() for part in text.split(","))):
            match = re.fullmatch(r"(.*?)\b(\w+)", item, re.DOTALL)
            if match is None:
                raise SystemExit(f"Cannot parse a parameter of {name}: {item!r}.")
            parameters.append(Parameter(" ".join(match.group(1).split()), match.group(2)))
        functions[name] = parameters
    return functions


def parse_events(header: str) -> dict[str, list[str]]:
    """Return the argument names of every event that tp_call.h declares, in order."""
    events = {}
    for name, text in _EVENT.findall(header):
        names = [part.strip() for part in text.split(",")][1::2]
        events[name] = [argument.removesuffix("_arg") for argument in names]
    return events


def parse_lengths(header: str) -> dict[str, int]:
    """Return the bytes of each array that tp_call.h declares, by its name."""
    numbers = {name: int(digits) for name, digits in _NUMBER.findall(header)}
    return {
        name: int(length) if length.isdigit() else numbers[length]
        for name, length in _ARRAY.findall(header)
    }
