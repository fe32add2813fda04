# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""CTF traces of one event class, written by hand."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

_METADATA = """/* CTF 1.8 */
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
typealias integer {{ size = 64; align = 8; signed = true; }} := int64_t;
typealias integer {{ size = 32; align = 8; signed = true; }} := int32_t;
typealias floating_point {{ exp_dig = 11; mant_dig = 53; align = 8; }} := double;
trace {{ major = 1; minor = 8; byte_order = le; }};
env {{ hostname = "{host}"; domain = "{domain}"; }};
{clock}
stream {{
  event.header := struct {{ {time} t; }};
  event.context := struct {{ int32_t _vpid; int32_t _vtid; string _procname; }};
}};
event {{ name = "{event}"; fields := struct {{ {fields} }}; }};
"""
_CLOCK = "clock { name = c; freq = 1000000000; offset_s = 1700000000; };"
_TIME = "integer { size = 64; align = 8; map = clock.c.value; }"


def write_trace(
    directory: Path,
    payloads: Iterable[bytes],
    *,
    event: str = "made:event",
    fields: str = "",
    host: str = "host",
    process: str = "process",
    clock: bool = True,
    domain: str = "",
) -> Path:
    """Write a trace whose events have these payloads, 1 us from each other."""
    directory.mkdir(parents=True, exist_ok=True)
    text = _METADATA.format(
        host=host,
        domain=domain,
        clock=_CLOCK if clock else "",
        time=_TIME if clock else "uint64_t",
        event=event,
        fields=fields,
    )
    (directory / "metadata").write_text(text)
    context = struct.pack("<ii", 42, 42) + process.encode() + b"\0"
    with (directory / "stream").open("wb") as stream:
        for number, payload in enumerate(payloads):
            stream.write(struct.pack("<Q", 1000 * number) + context + payload)
    return directory
