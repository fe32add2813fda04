# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel's part of a recording: with lttng-modules, else with perf beside it, else without."""

from __future__ import annotations

import contextlib
import os
import platform
import select
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.errors import SessionError
from strata.record.command import forget_signals, waiting_signal
from strata.record.directory import PERF_DATA
from strata.record.host import boot_id, clock_offset
from strata.record.kernel.ctf import KernelTrace, Origin
from strata.record.kernel.perf import Perf, PerfPlan, plan_perf, script
from strata.record.kernel.text import read_script

KERNEL_TRACE = "kernel"
_POLL_S = 0.2
_SAY_EVERY_S = 10.0

LTTNG_MODULES, PERF, PERF_SWITCHES = "lttng-modules", "perf", "perf, context switches only"

ClockOffset = Callable[[Path], int | None]
"""Gives what the userspace traces below a path add to CLOCK_MONOTONIC; null without any."""


@dataclass(frozen=True)
class KernelPlan:
    """What records the kernel's events. `lttng_why_not` and `perf_why_not`: null when usable.

    `events` are wanted; none: nothing is recorded.
    """

    events: tuple[str, ...]
    lttng_why_not: str | None
    perf: PerfPlan | None = None
    perf_why_not: str | None = None

    @property
    def by_lttng(self) -> bool:
        """Return whether LTTng's kernel domain is used."""
        return bool(self.events) and self.lttng_why_not is None

    def as_json(self) -> dict[str, Any]:
        """Give the manifest's form, before anything was recorded."""
        return {
            "available": self.lttng_why_not is None,
            "why_not": self.lttng_why_not,
            "recorded": self.by_lttng,
            "recorded_by": LTTNG_MODULES if self.by_lttng else None,
            "events": list(self.events) if self.by_lttng else [],
            "left_out": [],
            "perf": None,
        }


def plan_kernel(
    events: Sequence[str], lttng_why_not: str | None, environment: Mapping[str, str]
) -> KernelPlan:
    """Choose who records the wanted events."""
    if not events or lttng_why_not is None:
        return KernelPlan(tuple(events), lttng_why_not)
    try:
        return KernelPlan(tuple(events), lttng_why_not, plan_perf(events, environment))
    except SessionError as error:
        return KernelPlan(tuple(events), lttng_why_not, perf_why_not=str(error))


class PerfRecording:
    """perf beside a recording: started, stopped, and its data made part of the trace.

    Nothing of it fails the recording: what goes wrong is in `problems`, and said.
    """

    def __init__(
        self,
        plan: KernelPlan,
        directory: Path,
        environment: Mapping[str, str],
        say: Callable[[str], None],
    ) -> None:
        self._plan = plan
        self._data = directory / PERF_DATA
        self._environment = environment
        self._say = say
        self._perf: Perf | None = None
        self._result: dict[str, Any] = {}
        self.problems: list[str] = []

    @property
    def pid(self) -> int | None:
        """Process id of perf; null when it does not run."""
        return self._perf.pid if self._perf else None

    def start(self) -> None:
        """Start perf, if it is what records the kernel's events here."""
        plan = self._plan
        if not plan.events or plan.by_lttng:
            return
        why_not = plan.perf_why_not
        if plan.perf:
            try:
                self._perf = Perf(plan.perf, self._data, self._environment)
            except SessionError as error:
                self._data.unlink(missing_ok=True)
                why_not = str(error)
        if self._perf is None or plan.perf is None:
            self._result = {"perf": {"why_not": why_not}}
            self._say(f"no kernel events: no lttng-modules ({plan.lttng_why_not}). {why_not}")
            return
        names = ", ".join(plan.perf.left_out)
        self._result = {
            "recorded": True,
            "recorded_by": PERF_SWITCHES if plan.perf.switches else PERF,
            "events": [event.name for event in plan.perf.events],
            "left_out": list(plan.perf.left_out),
            "perf": {"why_not": None, "version": plan.perf.version},
        }
        self._say(
            f"kernel events by {self._result['recorded_by']} {plan.perf.version}, as there are no "
            f"lttng-modules" + (f"; not available: {names}" if names else "")
        )

    def stop(self) -> None:
        """End perf; a failure is a problem, not an error."""
        if self._perf is None:
            return
        try:
            self._perf.stop()
        except SessionError as error:
            self._problem(str(error))

    def kill(self) -> None:
        """End perf at once and remove its data; for a recording that failed."""
        if self._perf is not None:
            self._perf.kill()
            self._data.unlink(missing_ok=True)

    def convert(self, trace: Path, offset_of: ClockOffset) -> None:
        """Write what perf recorded as CTF below `trace`, and remove perf's own file.

        A signal that comes meanwhile ends it, and perf's file stays, as when it fails.
        """
        if self._perf is None or self._plan.perf is None:
            return
        target = trace / KERNEL_TRACE
        # Those that came until now were to end the recording, not this.
        forget_signals()
        try:
            mib = self._data.stat().st_size / (1 << 20)
            self._say(f"converting {mib:.1f} MiB of perf's data (Ctrl-C leaves {self._data})")
            self._convert(self._plan.perf, target, offset_of(trace))
        except (OSError, SessionError, ValueError) as error:
            shutil.rmtree(target, ignore_errors=True)
            self._result["recorded"] = False
            self._problem(f"Cannot convert {self._data}: {error}. It is left unchanged.")
        else:
            with contextlib.suppress(OSError):
                self._data.unlink()

    def _convert(self, plan: PerfPlan, target: Path, offset_ns: int | None) -> None:
        if offset_ns is None:
            offset_ns = clock_offset().realtime_ns
        origin = Origin(
            platform.node(), f"perf {plan.version}", platform.release(), offset_ns, boot_id() or ""
        )
        printing = script(plan, self._data, self._environment)
        unread = 0
        try:
            assert printing.stdout is not None
            events = list(plan.events)
            text = _Interruptible(printing.stdout.fileno())
            said = time.monotonic()
            with KernelTrace(target, events, origin) as written:
                for block in read_script(text, events, switches=plan.switches):
                    written.write(block)
                    unread += block.unread
                    if time.monotonic() > said + _SAY_EVERY_S:
                        said = time.monotonic()
                        self._say(f"converted {written.events:,} kernel events so far")
            status = printing.wait()
        finally:
            printing.kill()
            printing.wait()
        if status != 0:
            raise SessionError(f"`perf script` ended with status {status}")
        self._result["perf"] |= {
            "events": written.events,
            "lost_events": written.lost,
            "unread_lines": unread,
        }
        if written.lost:
            self._say(f"perf lost {written.lost} kernel events: the machine was too busy")

    def as_json(self) -> dict[str, Any]:
        """Give what the manifest says of it, beside the plan's."""
        return self._result

    def _problem(self, text: str) -> None:
        self.problems.append(text)
        self._say(text)


class _Interruptible:
    """A pipe's end whose reading is ended by a held signal, by SessionError."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read(self, size: int, /) -> bytes:
        """Return `size` bytes; less only at the end."""
        parts = []
        while size:
            if name := waiting_signal():
                raise SessionError(f"{name} came")
            if not select.select([self._descriptor], [], [], _POLL_S)[0]:
                continue
            part = os.read(self._descriptor, size)
            if not part:
                break
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
