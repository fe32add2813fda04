# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What `strata live` takes while it watches a running system: CPU, memory, and how late it is.

usage: bench_live.py [--seconds 60] [RATE ...]
A relay chain of four processes publishes at each RATE (messages a second at its source, by default
100, 300 and 660; three hops, so 300, 900 and 2,000 messages a second). CPU is that of the view and
its children (LTTng's tool), and apart from it that of LTTng's daemons, in percent of one core;
memory is the largest resident size, and its growth over the second half of the time. Lateness is
the age of the oldest event of a window when it is shown.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from strata.live.following import Follower
from strata.live.sources import follow_ring
from strata.live.windows import EVERY_NS
from strata.record.companion import wait_for_end

_STRATA = [sys.executable, "-m", "strata"]
_RATES = (100, 300, 660)
_STARTS_S = 5.0
_TICK = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure each rate in turn, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("rates", type=float, nargs="*", default=_RATES)
    given = parser.parse_args()
    table = Table(box=None, pad_edge=False)
    head = ("messages/s", "events/s", "view", "daemons", "memory", "growth", "late, at most")
    for name in head:
        table.add_column(name, justify="right")
    for rate in given.rates:
        with _relay(rate):
            table.add_row(*_watched(given.seconds))
    Console().print(table)


@contextmanager
def _relay(rate: float) -> Iterator[None]:
    environment = os.environ | {"ROS_DOMAIN_ID": str(random.randint(1, 100))}
    words = ["--relays", "2", "--messages", "100000000", "--rate", str(rate), "--depth", "1000"]
    process = subprocess.Popen(
        [*_STRATA, "env", "--", "python3", "-m", "relay_chain", *words],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        time.sleep(_STARTS_S)
        yield
    finally:
        process.terminate()
        process.wait(60)


def _watched(seconds: float) -> list[str]:
    """Run the view as `strata live` does, beside ring buffers, and return a row."""
    from strata.record.companion import Companion
    from strata.record.config import load_config
    from strata.record.plan import Bounds
    from strata.record.recording import record
    from strata.record.ring import Ring

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        told = Path(place) / "told"
        companion = Companion("bench_live", lambda ring: [str(ring), str(told), str(seconds)])
        record(
            load_config("full"),
            (),
            directory=Path(place) / "ring",
            ros=None,
            bounds=Bounds(),
            ring=Ring(),
            base=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
            companion=companion,
        )
        return told.read_text().split("\t")


def view(ring: Path, told: Path, seconds: float) -> None:
    """Watch ring buffers, and write what it took: one line."""
    follower = Follower(follow_ring(ring))
    cpu, daemons = time.process_time(), _daemons_ticks()
    begun = time.monotonic()
    late: list[float] = []
    sizes: list[int] = []
    rates: list[float] = []
    while time.monotonic() - begun < seconds and not wait_for_end(follower.windows.wait_s):
        if follower.step() is None or follower.tally.until_ns is None:
            continue
        late.append(time.time() - follower.tally.until_ns / 1e9)
        sizes.append(_resident())
        rates.append(follower.tally.events_per_s)
    passed = time.monotonic() - begun
    children = sum(os.times()[2:4])
    own = (time.process_time() - cpu + children) / passed
    of_daemons = (_daemons_ticks() - daemons) / _TICK / passed
    messages = sum(follower.tally.total.published.values()) * 1e9 / follower.tally.total.span_ns
    half = len(sizes) // 2
    growth = max(sizes[half:]) - max(sizes[:half])
    row = [
        f"{messages:,.0f}",
        f"{statistics.median(rates):,.0f}",
        f"{own:.1%}",
        f"{of_daemons:.1%}",
        f"{max(sizes) >> 20} MiB",
        f"{growth / 2**20:+.1f} MiB",
        f"{max(late[2:]) + EVERY_NS / 1e9:.2f} s",
    ]
    told.write_text("\t".join(row))


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _daemons_ticks() -> int:
    """Sum up the CPU time of all session and consumer daemons, in clock ticks."""
    total = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if name in ("lttng-sessiond", "lttng-consumerd"):
            total += sum(map(int, rest.split()[11:13]))
    return total


if __name__ == "__main__":
    if len(sys.argv) == 4 and Path(sys.argv[1]).is_dir():
        view(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]))
    else:
        main()
