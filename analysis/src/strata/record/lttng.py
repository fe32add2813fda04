# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The `lttng` command-line tool, as small typed functions; nothing else here runs it.

Each function raises SessionError with LTTng's own words when the tool refuses, and when it does
not answer within its time. None of them starts a session daemon by itself.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import time
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from strata.errors import SessionError
from strata.record.config import Channel

# lttng 2.13 adds 2^63 to the count of discarded events of a stopped session.
_COUNT_BIAS = 1 << 63
_TIMEOUT_S = 20.0
_SOON_S = 5.0
_PROCESS_PATIENCE_S, _PROCESS_POLL_S = 10.0, 0.1
# The recorder waits for it while the command runs; a daemon that lives answers in milliseconds.
_ROTATE_TIMEOUT_S = 5.0
# Without it the metadata, and with them the whole trace, are written when the session is stopped.
METADATA_TIMER_US = 200_000
_NO_DAEMON = "No session daemon is available"
INSTALL_HINT = "Install lttng-tools (`make setup`, or the package lttng-tools)"


class LttngError(SessionError):
    """The tool refused; `reason` is its own words."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(text)
        self.reason = reason


@dataclass(frozen=True)
class Domain:
    """A tracer that a session records with: its option of `lttng` and its channel."""

    option: str
    channel: str


UST = Domain("--userspace", "ust")
KERNEL = Domain("--kernel", "kernel")


@dataclass(frozen=True)
class Session:
    """A recording session as the daemon describes it; `output` is empty for a snapshot session."""

    name: str
    output: str
    active: bool


def tool_environment(base: Mapping[str, str], ros_prefixes: Sequence[Path] = ()) -> dict[str, str]:
    """Give the environment for LTTng's own tools: none of a ROS prefix's libraries gets in."""
    environment = dict(base)
    prefixes = [f"{prefix}/" for prefix in ros_prefixes]
    for variable, names in (
        ("LD_PRELOAD", base.get("LD_PRELOAD", "").replace(" ", ":").split(":")),
        ("LD_LIBRARY_PATH", base.get("LD_LIBRARY_PATH", "").split(":")),
    ):
        kept = [name for name in names if name and not _inside(name, prefixes)]
        if kept:
            environment[variable] = ":".join(kept)
        else:
            environment.pop(variable, None)
    environment["LC_ALL"] = "C"
    return environment


def _inside(name: str, prefixes: list[str]) -> bool:
    return "libtracetools" in name or any(f"{name}/".startswith(prefix) for prefix in prefixes)


def _ownership(domain: Domain, *, per_pid: bool) -> tuple[str, ...]:
    return () if domain is KERNEL else ("--buffers-pid" if per_pid else "--buffers-uid",)


@dataclass(frozen=True)
class Lttng:
    """The tool, with the environment in which it runs."""

    environment: Mapping[str, str]

    def run(self, *arguments: str, timeout_s: float = _TIMEOUT_S) -> str:
        """Run `lttng` and give its stdout.

        It runs in its own process group, so that a terminal's Ctrl-C does not cut it short.
        """
        program = shutil.which("lttng", path=self.environment.get("PATH", os.defpath))
        if program is None:
            raise SessionError(f"Cannot run lttng: it is not installed. {INSTALL_HINT}.")
        what = f"lttng {' '.join(arguments)}"
        try:
            done = self._started([program, "--no-sessiond", *arguments], timeout_s)
        except OSError as error:
            raise SessionError(
                f"Cannot run `{what}`: {error.strerror}. Free memory or processes (ulimit -u)."
            ) from error
        except subprocess.TimeoutExpired as error:
            raise SessionError(
                f"Cannot finish `{what}`: no answer within {timeout_s:.0f} s. "
                "See `strata doctor` for the session daemon's state."
            ) from error
        if done.returncode != 0:
            words = " ".join((done.stderr or done.stdout).split()) or "no reason given"
            words = words.removeprefix("Error: ").rstrip(".")
            raise LttngError(
                f"Cannot finish `{what}`: {words} (exit status {done.returncode}). "
                "See `strata doctor`.",
                words,
            )
        return done.stdout

    def _started(self, line: list[str], timeout_s: float) -> subprocess.CompletedProcess[str]:
        """Run a command line, waiting for a process to be had where there are too many."""
        deadline = time.monotonic() + _PROCESS_PATIENCE_S
        while True:
            try:
                return subprocess.run(
                    line,
                    env=dict(self.environment),
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    timeout=timeout_s,
                    process_group=0,
                    check=False,
                )
            except OSError as error:
                passing = error.errno in (errno.EAGAIN, errno.ENOMEM)
                if not passing or time.monotonic() > deadline:
                    raise
                time.sleep(_PROCESS_POLL_S)

    def version(self) -> str | None:
        """Give the tool's version; null when it is not installed."""
        try:
            words = self.run("--version").split()
        except SessionError:
            return None
        return next((word for word in words if word[:1].isdigit()), None)

    def reachable(self) -> bool:
        """Return whether a session daemon answers.

        Raises SessionError when it cannot be told: the tool is missing, or the daemon hangs.
        """
        try:
            self.run("--mi", "xml", "list")
        except LttngError as error:
            if _NO_DAEMON in error.reason:
                return False
            raise
        return True

    def sessions(self, timeout_s: float = _TIMEOUT_S) -> list[Session]:
        """List the recording sessions that this user can see."""
        root = self._xml("list", timeout_s=timeout_s)
        return [
            Session(
                name=_text(node, "name"),
                output=_text(node, "path"),
                active=_text(node, "enabled") == "true",
            )
            for node in root.iterfind(".//{*}sessions/{*}session")
        ]

    def userspace_events(self) -> dict[int, set[str]]:
        """List the tracepoints that each live process of this user offers, by process id."""
        root = self._xml("list", "--userspace")
        return {
            int(_text(process, "id")): {
                _text(event, "name") for event in process.iterfind(".//{*}event")
            }
            for process in root.iterfind(".//{*}pid")
        }

    def kernel_available(self) -> str | None:
        """Give null when the daemon can trace the kernel, else its reason."""
        try:
            self.run("list", "--kernel")
        except LttngError as error:
            return error.reason
        return None

    def create(self, name: str, output: Path, *, snapshot: bool = False) -> None:
        """Create a session that writes below `output`, only when asked for where `snapshot`."""
        self.run("create", name, *(["--snapshot"] if snapshot else []), f"--output={output}")

    def snapshot(self, session: str, output: Path, max_bytes: int | None = None) -> None:
        """Write what the ring buffers hold, or its newest `max_bytes`.

        It goes into a directory in `output`, whose name LTTng chooses.
        """
        size = [] if max_bytes is None else [f"--max-size={max_bytes}"]
        self.run("snapshot", "record", f"--session={session}", *size, f"file://{output}")

    def track_nobody(self, session: str) -> None:
        """Record no process of user space until it is named (`lttng track`)."""
        self.run("untrack", UST.option, f"--session={session}", "--all", "--vpid")

    def regenerate_statedump(self, session: str) -> None:
        """Have processes announce again what they have."""
        self.run("regenerate", "statedump", f"--session={session}")

    def enable_channel(
        self, session: str, domain: Domain, channel: Channel, *, per_pid: bool = False
    ) -> None:
        """Create the domain's channel."""
        self.run(
            "enable-channel",
            domain.option,
            f"--session={session}",
            f"--subbuf-size={channel.subbuf_size}",
            f"--num-subbuf={channel.num_subbuf}",
            f"--switch-timer={channel.switch_timer}",
            f"--read-timer={channel.read_timer}",
            f"--{channel.mode}",
            f"--output={channel.output}",
            *_ownership(domain, per_pid=per_pid),
            domain.channel,
        )

    def flush_metadata(self, session: str, domain: Domain, *, per_pid: bool = False) -> None:
        """Have the domain's metadata written while the session records; before other channels."""
        self.run(
            "enable-channel",
            domain.option,
            f"--session={session}",
            f"--switch-timer={METADATA_TIMER_US}",
            *_ownership(domain, per_pid=per_pid),
            "metadata",
        )

    def enable_event(self, session: str, domain: Domain, event: str) -> None:
        """Enable one event or wildcard.

        Exclusions are left out on purpose: a session daemon of lttng-tools 2.13.9 crashes when a
        session that has one is listed.
        """
        self.run(
            "enable-event",
            domain.option,
            f"--session={session}",
            f"--channel={domain.channel}",
            event,
        )

    def add_contexts(self, session: str, domain: Domain, contexts: Sequence[str]) -> None:
        """Add context fields to every event of the domain's channel."""
        self.run(
            "add-context",
            domain.option,
            f"--session={session}",
            f"--channel={domain.channel}",
            *(f"--type={context}" for context in contexts),
        )

    def unknown_contexts(self, contexts: Sequence[str]) -> list[str]:
        """Return those of the contexts that this release of lttng-tools does not have.

        Only namespaces (`pid_ns`) are asked for: releases before 2.12 have none.
        """
        wanted = [context for context in contexts if context.endswith("_ns")]
        listed = self.run("add-context", "--list").split() if wanted else ()
        return [context for context in wanted if context not in listed]

    def start(self, session: str) -> None:
        """Start recording."""
        self.run("start", session)

    def rotate(self, session: str) -> None:
        """Ask that what was recorded so far becomes an archived chunk, without waiting for it.

        The chunk is complete once its directory stands in `archives/`.
        """
        self.run("rotate", "--no-wait", session, timeout_s=_ROTATE_TIMEOUT_S)

    def stop(self, session: str, timeout_s: float) -> None:
        """Stop recording and wait until the consumer has written everything."""
        self.run("stop", session, timeout_s=timeout_s)

    def destroy(self, session: str, *, wait: bool = True) -> None:
        """Remove a session; its files stay. Without `wait`, soon, or not at all."""
        if wait:
            self.run("destroy", session)
        else:
            self.run("destroy", "--no-wait", session, timeout_s=_SOON_S)

    def discarded(self, session: str) -> int | None:
        """Count the events that a stopped session lost to full buffers; null when not known."""
        counts = [
            int(node.text or 0)
            for node in self._xml("list", session).iterfind(".//{*}discarded_events")
        ]
        return sum(count % _COUNT_BIAS for count in counts) if counts else None

    def _xml(self, *arguments: str, timeout_s: float = _TIMEOUT_S) -> ET.Element:
        output = self.run("--mi", "xml", *arguments, timeout_s=timeout_s)
        try:
            return ET.fromstring(output)
        except ET.ParseError as error:
            raise SessionError(
                f"Cannot read the answer of `lttng {' '.join(arguments)}`: {error}. "
                "Check that lttng is version 2.13 or later."
            ) from error


def _text(node: ET.Element, tag: str) -> str:
    found = node.find(f"{{*}}{tag}")
    return (found.text or "") if found is not None else ""
