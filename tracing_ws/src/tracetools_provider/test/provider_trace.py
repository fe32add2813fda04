# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Traces a program with a session daemon that exists for this one run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import bt2

ROOT = Path(__file__).resolve().parents[4]
PREFIXES = {"jazzy": ROOT / ".venv", "kilted": ROOT / ".venv-kilted"}
_TIMEOUT_S = 120

# Root's session daemon ignores LTTNG_HOME: a mount namespace gives it places of its own. The
# program's variables are set for the program only; a preloaded provider has no place in lttng.
_SCRIPT = r"""
set -eu
output=$1 variables=$2; shift 2
if [ "$(id -u)" = 0 ]; then
  mkdir -p /run/lttng
  mount -t tmpfs none /run/lttng
  mount -t tmpfs none /dev/shm
fi
lttng-sessiond --no-kernel >/dev/null 2>&1 &
daemon=$!
trap 'kill $daemon; wait $daemon || true' EXIT
until lttng --no-sessiond list >/dev/null 2>&1; do
  kill -0 $daemon
  sleep 0.1
done
{
  lttng --no-sessiond create provider --output="$output"
  lttng --no-sessiond enable-channel -u -s provider --subbuf-size=4M all
  lttng --no-sessiond enable-event -u -s provider -c all 'ros2:*'
  lttng --no-sessiond start provider
} >/dev/null
status=0
xargs -0 -a "$variables" sh -c 'exec env "$@"' sh >"$output.out" 2>"$output.err" || status=$?
lttng --no-sessiond destroy provider >/dev/null
exit $status
"""


class Event(NamedTuple):
    """An event's name without its provider, and its fields."""

    name: str
    fields: dict[str, Any]


def provider(distro: str) -> Path:
    """Return where the libraries to preload are."""
    return ROOT / f"tracing_ws/install/{distro}/lib/tracetools_provider"


def environment(distro: str, *, hook: bool, preload: bool = True) -> dict[str, str]:
    """Return what a program needs to run on the wheels, traced; `hook` adds rclpy's events."""
    prefix, install = PREFIXES[distro], ROOT / f"tracing_ws/install/{distro}"
    (packages,) = prefix.glob("lib/python3.*/site-packages")
    hooks = [install / "lib/rclpy_tracepoints", *install.glob("lib/python3.*/site-packages")]
    names = ("libtracetools.so", "libnoust.so") if preload else ()
    paths = {
        "LD_LIBRARY_PATH": [install / "lib", prefix / "lib", *packages.glob("ros_*.libs")],
        "AMENT_PREFIX_PATH": [install, prefix],
        "PYTHONPATH": [*(hooks if hook else []), packages],
        "LD_PRELOAD": [file for name in names if (file := provider(distro) / name).exists()],
    }
    return {
        "PATH": os.environ["PATH"],
        "ROS_DOMAIN_ID": "97",
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1",
        "LTTNG_UST_REGISTER_TIMEOUT": "-1",
        **{name: ":".join(str(path) for path in value) for name, value in paths.items()},
    }


def trace(variables: dict[str, str], *command: str | Path) -> tuple[str, list[Event]]:
    """Trace all `ros2` events of a command; return its output and its events in order."""
    # Short, and not pytest's: socket paths have 108 characters.
    home = Path(tempfile.mkdtemp(prefix="tp", dir="/tmp"))
    try:
        output, words = home / "trace", home / "words"
        given = {**variables, "LTTNG_HOME": str(home), "HOME": str(home)}
        items = [f"{name}={value}" for name, value in given.items()] + [str(c) for c in command]
        words.write_text("\0".join(["-i", *items]))
        _run(["bash", "-c", _SCRIPT, "bash", str(output), str(words)], home)
        events = read(output) if any(output.rglob("metadata")) else []
        return Path(f"{output}.out").read_text(), events
    finally:
        shutil.rmtree(home)


def _run(command: list[str], home: Path) -> None:
    if os.geteuid() == 0:
        command = ["unshare", "--mount", *command]
    process = subprocess.Popen(
        command,
        env={"PATH": os.environ["PATH"], "LTTNG_HOME": str(home)},
        stderr=subprocess.PIPE,
        text=True,
        # Its own group, which can be ended without a look at anybody else's daemon.
        start_new_session=True,
    )
    try:
        text = process.communicate(timeout=_TIMEOUT_S)[1]
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    err = home / "trace.err"
    program = err.read_text() if err.exists() else ""
    assert process.returncode == 0, f"{text}\n{program}"


def read(output: Path) -> list[Event]:
    """Return a trace's events in order; none may have been discarded."""
    events = []
    for message in bt2.TraceCollectionMessageIterator(str(output)):
        assert type(message) is not bt2._DiscardedEventsMessageConst, "events were discarded"
        if type(message) is bt2._EventMessageConst:
            payload = message.event.payload_field
            fields = {
                # Static arrays become lists of integers; the rest is compared by value.
                name: [int(item) for item in value]
                if isinstance(value, bt2._ArrayFieldConst)
                else str(value)
                if isinstance(value, bt2._StringFieldConst)
                else int(value)
                for name, value in payload.items()
            }
            events.append(Event(message.event.name.removeprefix("ros2:"), fields))
    return events
