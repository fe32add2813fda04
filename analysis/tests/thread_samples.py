# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Files of the thread sampler, from readable lines.

    100 1.2 cpu 5 wait 3 slices 7     at 100 ms thread 2 of process 1 has run 5 ms, waited 3 ms

The sampler takes a sample every 100 ms from the first line's on, up to the last line's.
"""

from __future__ import annotations

import json
from pathlib import Path

from strata.record.thread_sampler import SAMPLES, SAMPLES_HEAD, THREADS, THREADS_HEAD

MS = 1_000_000
INTERVAL = 100


def samples(session: Path, lines: str, host: str = "h") -> None:
    """Write the files of a session of the machine `host`, and a manifest that names it."""
    rows = [line.split() for line in lines.strip().splitlines()]
    times = [int(row[0]) for row in rows]
    written = [
        f"0,{ms * MS},1000,{ms * 1000},{ms},{ms}\n"
        for ms in range(min(times), max(times) + 1, INTERVAL)
    ]
    numbers: dict[str, int] = {}
    for ms, thread, _, cpu, _, wait, _, slices in rows:
        number = numbers.setdefault(thread, len(numbers) + 1)
        figures = f"{float(cpu) * MS:.0f},{float(wait) * MS:.0f},{slices}"
        # Read a moment after the sampler's own row.
        written.append(f"{number},{int(ms) * MS},0,{figures}\n")
    place = session / "thread_cpu"
    place.mkdir(parents=True)
    identities = ["0,99,99,99,99,sampler,sampler\n"]
    for thread, number in numbers.items():
        pid, tid = thread.split(".")
        identities.append(f"{number},{pid},{tid},{pid},{tid},p{pid},t{tid}\n")
    (place / SAMPLES).write_text("\n".join([SAMPLES_HEAD, "".join(written)]))
    (place / THREADS).write_text("\n".join([THREADS_HEAD, "".join(identities)]))
    (session / "manifest.json").write_text(json.dumps({"host": {"name": host}}))
