# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a long run takes: `strata record --results` and `strata live` beside a steady load.

usage: bench_long_run.py [--minutes 60] [--rate 60000] [-o DIR]
chain_load.c emits the events of two rclcpp relay chains at RATE events a second in all. It is
recorded with a chunk a minute, of which the last five minutes are kept, and analyzed beside; a view
(as bench_live.py has it) watches ring buffers at the same time. Once a minute a line has what was
taken since the line before: CPU in percent of one core, resident memory, bytes on disk. At the end
the results are analyzed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from record_load import CHAINS, build

_STRATA = [sys.executable, "-m", "strata"]
_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_THREADS = 2
_STARTS_S = 10.0
_HEAD = (
    "minute  view CPU  view MiB  analysis CPU  analysis MiB  daemons CPU  trace MiB  results MiB"
)


def main() -> None:
    """Run the load, watch what is beside it, and print a line a minute."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rate", type=int, default=60_000)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        session = given.output or Path(place) / "session"
        load = build(Path(place), CHAINS)
        recorder = _record(session, load, given.rate, given.minutes)
        time.sleep(_STARTS_S)
        view = _view(Path(place), given.minutes)
        try:
            _watch(session, view.pid, given.minutes)
        finally:
            view.terminate()
            view.wait(60)
            recorder.wait(300)
        _analyze(session)


def _record(session: Path, load: Path, rate: int, minutes: float) -> subprocess.Popen[bytes]:
    events = int(rate * 60 * (minutes + 1))
    options = ["--threads", str(_THREADS), "--rate", str(rate // _THREADS), "--events", str(events)]
    line = ["record", "--results", "--rotate", "60s", "--keep", "5m", "-c", "ros2", "--force"]
    return subprocess.Popen(
        [*_STRATA, *line, "-o", str(session), "--", str(load), *options],
        env=os.environ | {"ROS_DOMAIN_ID": str(random.randint(1, 100))},
        stdin=subprocess.DEVNULL,
    )


def _view(place: Path, minutes: float) -> subprocess.Popen[bytes]:
    """Start `strata live`; its output would fill a terminal."""
    line = ["live", "-c", "ros2", f"--duration={minutes * 60:.0f}s"]
    log = (place / "view.log").open("wb")
    return subprocess.Popen([*_STRATA, *line], stdin=subprocess.DEVNULL, stdout=log)


def _watch(session: Path, view: int, minutes: float) -> None:
    _say(_HEAD)
    begun, before = time.monotonic(), _ticks(session, view)
    for minute in range(1, int(minutes) + 1):
        time.sleep(max(0.0, begun + 60 * minute - time.monotonic()))
        now = _ticks(session, view)
        cpu = {name: (now[name] - before[name]) / _TICK / 60 for name in now}
        before = now
        of_view, of_analysis = (_resident(pids) for pids in _pids(session, view)[:2])
        _say(
            f"{minute:6}  {cpu['view']:8.1%}  {of_view:8.0f}  {cpu['analysis']:12.1%}  "
            f"{of_analysis:12.0f}  {cpu['daemons']:11.1%}  {_mib(session / 'trace'):9.0f}  "
            f"{_mib(session / 'results/parts'):11.1f}"
        )


def _analyze(session: Path) -> None:
    begun = time.monotonic()
    document = subprocess.run(
        [*_STRATA, "analyze", str(session / "results"), "--format", "json"],
        capture_output=True,
        check=True,
    ).stdout
    seconds = time.monotonic() - begun
    found = json.loads(document)
    messages = found["messages"]
    events = found["trace"]["events"]
    _say(f"analyze of the results: {seconds:.1f} s, {events:,} events, {messages}")
    subprocess.run([*_STRATA, "analyze", str(session / "results"), "--trend"], check=True)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _pids(session: Path, view: int) -> tuple[list[int], list[int], list[int]]:
    """Return the processes of the view, of the analysis beside the recorder, of LTTng."""
    views, analyses, daemons = [], [], []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if "strata.results.beside" in line and str(session) in line:
            analyses.append(int(entry.name))
        elif "--companion" in line or int(entry.name) == view:
            views.append(int(entry.name))
        elif "lttng-sessiond" in line or "lttng-consumerd" in line:
            daemons.append(int(entry.name))
    return views, analyses, daemons


def _ticks(session: Path, view: int) -> dict[str, int]:
    """CPU time of each group in clock ticks, with that of children that have ended."""
    found = {}
    for name, pids in zip(("view", "analysis", "daemons"), _pids(session, view), strict=True):
        found[name] = sum(_ticks_of(pid) for pid in pids)
    return found


def _ticks_of(pid: int) -> int:
    try:
        rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, rest[11:15]))


def _resident(pids: list[int]) -> float:
    """Return the MiB that processes have in memory."""
    total = 0
    for pid in pids:
        try:
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
        except OSError:
            continue
    return total / 2**20


def _mib(place: Path) -> float:
    done = subprocess.run(["du", "-sk", str(place)], capture_output=True, text=True, check=False)
    return int(done.stdout.split()[0]) / 1024 if done.stdout else 0.0


if __name__ == "__main__":
    main()
