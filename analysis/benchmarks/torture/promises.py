# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a recording promises whatever happens to it, held against what a trial left."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import processes
from processes import SESSION_DAEMON
from trial import SET_UP, Trial
from workloads import Number

READABLE, BOUNDED, HONEST, CLEAN, HARMLESS = PROMISES = (
    "readable",
    "bounded",
    "honest",
    "clean",
    "harmless",
)
LOST_AT_MOST_S = 1.0
_SLACK_S = 0.25
_GONE_WITHIN_S = 5.0
_READ_WITHIN_S = 120.0
INCOMPLETE = 121
REFUSED = 125
# Findings by which the verbs say so (docs/reading.md).
_NOT_WHOLE = {"incomplete_recording", "stopped_early", "discarded_unknown", "damaged_manifest"}
_REFUSALS = (REFUSED, 126, 127)
# LTTng-UST's for all programs that will ever be traced, ours, and killed nodes' of Fast DDS.
_SHM_OF_OTHERS = re.compile(r"lttng-ust-wait-\d+(-\d+)?|filler|(sem\.)?fast(rtps|dds)_.*")
_OWN_FILES = {"manifest.json", "trace", "thread_cpu"}
_OF_ITS_WATCHDOG = {".strata-reserve"}
_OF_A_KILLED = {"recording.json", "CLEANUP.txt", "perf.data"}


@dataclass(frozen=True)
class Broken:
    """A promise that was not kept, and how."""

    promise: str
    text: str


@dataclass
class Findings:
    """What became of a trial's numbers; times in s.

    `oldest_s` is how long before the fault the first number was emitted that is lost; null when
    none from before it is. `slack_s` is what the machine's load is granted beside the one second.
    """

    emitted: int = 0
    recorded: int = 0
    lost: int = 0
    counted: int = 0
    oldest_s: float | None = None
    slack_s: float = 0.0
    broken: list[Broken] = field(default_factory=list)


@dataclass(frozen=True)
class Reading:
    """How the readers ended: status, output, error output; and the numbers, null if unreadable."""

    info: subprocess.CompletedProcess[str]
    analyze: subprocess.CompletedProcess[str]
    babeltrace: subprocess.CompletedProcess[str]
    numbers: set[Number] | None

    @property
    def document(self) -> dict[str, Any]:
        """Return the JSON of the analysis; empty when there is none."""
        try:
            content: dict[str, Any] = json.loads(self.analyze.stdout)
        except ValueError:
            return {}
        return content

    @property
    def discarded(self) -> int:
        """Return how many events the analysis says that LTTng discarded."""
        findings = self.document.get("quality", [])
        counts = [one["count"] for one in findings if one["code"] == "discarded_events"]
        return sum(counts) or self.document.get("trace", {}).get("discarded_events") or 0

    @property
    def tells_of_loss(self) -> bool:
        """Tell whether both verbs say that the recording is not whole."""
        codes = {finding["code"] for finding in self.document.get("quality", [])}
        return "Nothing was lost" not in self.info.stdout and bool(codes & _NOT_WHOLE)


def judge(trial: Trial) -> Findings:
    """Hold all promises against a finished trial."""
    left = list(_left(trial))
    reading = _read(trial)
    emitted = trial.workload.emitted_ns()
    dropped_ns = _dropped_before_ns(trial, reading.numbers or set())
    kept = {number for number, at_ns in emitted.items() if at_ns >= dropped_ns}
    missing = kept - (reading.numbers or set())
    found = Findings(
        emitted=len(emitted),
        recorded=len(reading.numbers or ()),
        lost=len(missing),
        counted=reading.discarded,
        slack_s=_SLACK_S + 2 * trial.lateness.longest_s,
    )
    found.broken += [Broken(CLEAN, text) for text in left]
    if trial.output_lost:
        missing = set()
    else:
        found.broken += [Broken(READABLE, text) for text in _unreadable(trial, reading, found)]
        found.broken += [Broken(BOUNDED, text) for text in _unbounded(trial, missing, found)]
    found.broken += [Broken(HONEST, text) for text in _dishonest(trial, reading, found)]
    found.broken += [Broken(HARMLESS, text) for text in _harmed(trial)]
    found.broken = [
        Broken(broken.promise, broken.text.replace(f"{trial.place}/", ""))
        for broken in found.broken
    ]
    return found


def _dropped_before_ns(trial: Trial, recorded: set[Number]) -> int:
    """Return the time before which --max-size may have dropped events (CLOCK_MONOTONIC), or 0."""
    manifest = trial.manifest() or {}
    since = (manifest.get("rotation") or {}).get("kept_since_utc")
    if since is not None:
        offset_ns = int(manifest["start"]["clocks"]["realtime_minus_monotonic_ns"])
        # It is told to the second.
        return int((datetime.fromisoformat(since).timestamp() + 1) * 1e9) - offset_ns
    if "--max-size" in trial.options and trial.recorder_killed_in is not None and recorded:
        # Who could have told was killed; without a gap it is from the first event on.
        emitted_ns = trial.workload.emitted_ns()
        return min(emitted_ns[number] for number in recorded & emitted_ns.keys())
    return 0


def _run(*line: str | Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            line,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_READ_WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(line, 124, "", f"no end in {_READ_WITHIN_S:.0f} s")


def _read(trial: Trial) -> Reading:
    strata = (sys.executable, "-m", "strata")
    lines = (
        (*strata, "info", trial.output),
        (*strata, "analyze", trial.output, "--format", "json"),
        ("babeltrace2", trial.output / "trace"),
    )
    with ThreadPoolExecutor() as pool:
        read = pool.map(lambda line: _run(*line, environment=trial.environment), lines)
        numbers = trial.workload.recorded(trial.output)
        info, analyze, babeltrace = read
    return Reading(info, analyze, babeltrace, numbers)


def _unreadable(trial: Trial, reading: Reading, found: Findings) -> Iterator[str]:
    outcomes = {"info": reading.info, "analyze": reading.analyze}
    for verb, done in outcomes.items():
        if "Traceback (most recent call last)" in done.stderr:
            yield f"strata {verb}: a traceback: {done.stderr.strip()[-200:]}"
    if not _must_be_readable(trial, found):
        return
    if not found.recorded:
        yield f"0 of {found.emitted} numbers are in the trace"
    for verb, done in outcomes.items():
        if done.returncode != 0:
            yield f"strata {verb} ended with {done.returncode}: {done.stderr.strip()[-300:]}"
    if reading.babeltrace.returncode != 0:
        yield f"babeltrace2: {' '.join(reading.babeltrace.stderr.split())[-300:]}"
    elif not trial.workload.with_ros:
        lines = reading.babeltrace.stdout.count(trial.workload.event)
        if lines != found.recorded:
            yield f"babeltrace2 reads {lines} numbers, Strata {found.recorded}"


def _size(trace: Path) -> int:
    return sum(path.stat().st_size for path in trace.rglob("*") if path.is_file())


def _must_be_readable(trial: Trial, found: Findings) -> bool:
    """Tell whether so much was emitted before events may be lost that some must be there."""
    if not found.emitted:
        return False
    end_ns = trial.lossy_from_ns
    if end_ns is None:
        return True
    first_ns = min(trial.workload.emitted_ns().values())
    return end_ns - first_ns > (LOST_AT_MOST_S + found.slack_s) * 1e9


def _unbounded(trial: Trial, missing: set[Number], found: Findings) -> Iterator[str]:
    size = _size(trial.output / "trace")
    if trial.most_bytes is not None and size > trial.most_bytes:
        yield f"the trace has {size} bytes, more than {trial.most_bytes}"
    emitted_ns = trial.workload.emitted_ns()
    times = sorted(emitted_ns[number] for number in missing)
    if not times:
        return
    from_ns = trial.lossy_from_ns
    if from_ns is None:
        if len(times) > found.counted:
            yield f"{len(times)} numbers lost, {found.counted} counted, though nothing may be lost"
        return
    if times[0] < from_ns:
        found.oldest_s = (from_ns - times[0]) / 1e9
    bound_ns = from_ns - (LOST_AT_MOST_S + found.slack_s) * 1e9
    early = sum(at_ns < bound_ns for at_ns in times)
    if early > found.counted:
        yield (
            f"{early} numbers from more than {LOST_AT_MOST_S + found.slack_s:.2f} s before the "
            f"fault are lost, {found.counted} counted; the first from {found.oldest_s:.2f} s before"
        )


def _dishonest(trial: Trial, reading: Reading, found: Findings) -> Iterator[str]:
    if "Traceback (most recent call last)" in trial.said:
        yield f"strata record: a traceback: {trial.said.strip()[-200:]}"
    if not trial.workload.begun():
        if trial.status == 0:
            yield "strata record ended with 0, and the program did not run"
        if not trial.refusal_is_fine and not any(SET_UP in fault for fault in trial.faults):
            yield f"nothing was recorded: {trial.said.strip()[-200:]}"
        status = trial.status or 0
        if status > 0 and status not in _REFUSALS and not trial.interpreter_fails:
            yield f"strata record ended with {status}, and recorded nothing: {trial.said[-200:]}"
        return
    uncounted = found.lost > found.counted
    manifest = trial.manifest()
    complete = (manifest or {}).get("complete")
    killed = trial.recorder_killed_in is not None
    yield from _wrong_status(trial, uncounted)
    if manifest is None and not trial.output_lost:
        yield "there is no manifest"
    if uncounted and complete is True:
        yield f"the manifest says complete; {found.lost} numbers lost, {found.counted} counted"
    if uncounted and reading.numbers and not reading.tells_of_loss:
        yield f"{found.lost} numbers lost, {found.counted} counted, and the readers do not say so"
    sure = trial.lossy_from_ns is None and not trial.doubt_is_fine
    if sure and not uncounted and not killed and complete is not True:
        problems = (manifest or {}).get("problems")
        yield f"all is there, and the manifest says complete: {complete} ({problems})"


def _wrong_status(trial: Trial, uncounted: bool) -> Iterator[str]:
    status = trial.status
    if status is None or trial.recorder_killed_in is not None:
        return
    own = trial.command_status()
    if own is None and trial.workload.wrong_output(trial.printed) is None:
        own = trial.workload.status
    if trial.ended_by is not None and own == -trial.ended_by:
        own = 0
    own = 128 - own if own is not None and own < 0 else own
    if own:
        if status != own and status not in _REFUSALS:
            yield f"strata record ended with {status}, its command with {own}"
    elif uncounted and status not in (INCOMPLETE, REFUSED):
        yield f"strata record ended with {status}, and numbers are lost"
    elif status not in (0, INCOMPLETE, *_REFUSALS):
        yield f"strata record ended with {status}, its command with 0"
    elif trial.lossy_from_ns is None and not trial.doubt_is_fine and not uncounted and status:
        yield f"strata record ended with {status}, and all is there"


def _left(trial: Trial) -> Iterator[str]:
    deadline = time.monotonic() + _GONE_WITHIN_S
    while (running := processes.all_running()) and time.monotonic() < deadline:
        time.sleep(0.05)
    for process in running:
        yield f"process {process.text}"
    if any(process.name == SESSION_DAEMON for process in running):
        listed = _run("lttng", "--no-sessiond", "list", environment=trial.environment)
        yield f"sessions: {' '.join(listed.stdout.split())[:200]}"
    if trial.cleanup_failure:
        yield f"sh CLEANUP.txt: {trial.cleanup_failure}"
    for path in Path("/dev/shm").iterdir():
        if not _SHM_OF_OTHERS.fullmatch(path.name):
            yield f"shared memory {path}"
    yield from (f"file {path}" for path in (trial.place / "tmp").iterdir())
    allowed = _OWN_FILES | (_OF_A_KILLED if trial.recorder_killed_in else set())
    if trial.watchdog_killed:
        allowed |= _OF_ITS_WATCHDOG
    if trial.output.is_dir() and not trial.output_fixed:
        names = {path.name for path in trial.output.iterdir()} - allowed
        yield from (f"file {trial.output / name}" for name in sorted(names))
        if trial.recorder_killed_in == SET_UP and (trial.output / "CLEANUP.txt").exists():
            yield "CLEANUP.txt of a recorder that was killed in its set-up"


def _harmed(trial: Trial) -> Iterator[str]:
    if trial.hangs:
        yield trial.hangs
    harm, status = _harm(trial), trial.command_status()
    if harm and (status == trial.workload.status or status != _status_without_recording(trial)):
        yield harm


def _harm(trial: Trial) -> str | None:
    """Say how the program's end or output is not what it is when nothing is disturbed."""
    usual = trial.workload.status
    status = trial.command_status()
    if not trial.workload.begun():
        return f"the program ended with {status} before it emitted anything" if status else None
    expected = -int(trial.harmed_by) if trial.harmed_by else usual
    told = -int(trial.ended_by) if trial.ended_by else expected
    if status not in (None, expected, told, usual):
        return f"the program ended with {status} instead of {expected}"
    undisturbed = status == usual or told == expected == usual
    wrong = trial.workload.wrong_output(trial.printed) if undisturbed else None
    return f"the program was disturbed: {wrong}" if wrong else None


def _status_without_recording(trial: Trial) -> int:
    """Run the program in what the trial left, such as a full /dev/shm; return how it ends."""
    return subprocess.run(
        [*trial.around_program, *trial.workload.unheard_line()],
        env=trial.environment,
        preexec_fn=trial.before_program,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=_READ_WITHIN_S,
        check=False,
    ).returncode
