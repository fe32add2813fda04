# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the head of a serialized sensor_msgs/Image: its pixels stay where they are."""

from __future__ import annotations

import struct

_LITTLE = 1
_ENCAPSULATION = 4


def image_header(
    message: bytes, sequence: int | None
) -> tuple[int, int | None, int, int, int, int, str]:
    """Give stamp in ns, `sequence`, bytes of the pixels, width, height, step, encoding.

    Plain CDR: an encapsulation of 4 bytes, then header, height, width, encoding, is_bigendian, step
    and data, each aligned to its size from the encapsulation's end.
    """
    order = "<" if message[1] & _LITTLE else ">"
    body = memoryview(message)[_ENCAPSULATION:]
    seconds, nanoseconds, length = struct.unpack_from(f"{order}iII", body, 0)
    at = _aligned(12 + length)
    height, width, length = struct.unpack_from(f"{order}III", body, at)
    encoding = bytes(body[at + 12 : at + 12 + length - 1]).decode()
    at = _aligned(at + 12 + length + 1)
    step, size = struct.unpack_from(f"{order}II", body, at)
    return seconds * 1_000_000_000 + nanoseconds, sequence, size, width, height, step, encoding


def _aligned(offset: int) -> int:
    return (offset + 3) & ~3
