# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Cut a trace to a time, by whole packets: ring buffers go back further than is wanted."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from strata.read import open_trace

_INDEX = "index"


def trim(trace: Path, begin_ns: int, end_ns: int) -> None:
    """Remove the packets that end before a time or begin after another, in ns since the epoch.

    A stream of which none is left is removed. Raises TraceError, OSError.
    """
    decoder = open_trace(trace).decoder
    packets = decoder.packets
    wanted = (packets["end_ns"] >= begin_ns) & (packets["begin_ns"] <= end_ns)
    ends = packets["offset"] + packets["bytes"]
    for number, file in enumerate(decoder.files):
        own = packets["file"] == number
        kept = own & wanted
        if not kept.any():
            Path(file.path).unlink()
        elif (kept != own).any():
            # They are in order of time, so what is kept is one piece.
            first = int(packets["offset"][kept].min())
            _cut(Path(file.path), first, int(np.max(ends[kept])))
    for index in [*trace.rglob(_INDEX)]:
        # It tells where packets were.
        shutil.rmtree(index)


def _cut(path: Path, begin: int, end: int) -> None:
    with path.open("rb") as file:
        file.seek(begin)
        content = file.read(end - begin)
    partial = path.with_name(f".{path.name}.partial")
    partial.write_bytes(content)
    partial.replace(path)
