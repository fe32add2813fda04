# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Direct calls and jumps in machine code: those that no hook can come between."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_Targets = NDArray[np.int64]


def targets(code: NDArray[np.uint8], address: int, machine: str) -> _Targets:
    """Give where the calls and jumps of a section go, relative to the library's beginning.

    Bytes are not disassembled: on x86-64 some that are no call are taken for one. That such a one
    goes just to a function's first byte has a chance of 1 in 4 thousand millions.
    """
    return _x86_64(code, address) if machine == "EM_X86_64" else _aarch64(code, address)


def _x86_64(code: NDArray[np.uint8], address: int) -> _Targets:
    if len(code) < 5:
        return np.empty(0, np.int64)
    first = code[:-4]
    call_or_jump = (first & 0xFE) == 0xE8
    conditional = np.zeros(len(first), bool)
    conditional[1:] = ((first[1:] & 0xF0) == 0x80) & (first[:-1] == 0x0F)
    at = np.flatnonzero(call_or_jump | conditional)
    distance = np.zeros(len(at), np.uint32)
    for byte in range(4):
        distance |= code[at + 1 + byte].astype(np.uint32) << np.uint32(8 * byte)
    return at + 5 + address + distance.view(np.int32).astype(np.int64)


def _aarch64(code: NDArray[np.uint8], address: int) -> _Targets:
    words = code[: len(code) // 4 * 4].view("<u4")
    # B and BL differ in the highest bit.
    at = np.flatnonzero((words & 0x7C000000) == 0x14000000)
    distance = (words[at] << np.uint32(6)).view(np.int32).astype(np.int64) >> 6
    return at * 4 + address + distance * 4
