# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Record a trace of a known size: ROS 2 relay chains at full speed, or an executor that spins.

usage: record_load.py --events 1000000 [--load executor_load] -o DIR

Builds chain_load.c (or executor_load.c) against the workspace's libtracetools.so, records it with
an LTTng of its own. The trace is in DIR/ust. A recording that lost an event is an error: its size
would not be known.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIBRARIES = ROOT / "tracing_ws/install/jazzy/lib/tracetools_provider"
HEADERS = Path(sys.prefix) / "include/tracetools"
SESSION = "load"
CHAINS = "chain_load"
EXECUTOR = "executor_load"
# Sub-buffers of 1 MiB on each CPU: those of trace_configs/ros2.yaml, and what 40 MB a second need.
SUB_BUFFERS = {CHAINS: 8, EXECUTOR: 32}
_DEADLINE_S = 30.0
# Root's session daemon has fixed paths below /run, and the buffers are in /dev/shm: with both
# private, it neither meets another session daemon nor leaves anything behind.
_PRIVATE = "mount -t tmpfs none /run && mount -t tmpfs none /dev/shm && echo ready && exec cat"


@dataclass(frozen=True)
class Recording:
    """A recorded load: where it is, and how many events were recorded and lost."""

    directory: Path
    events: int
    discarded: int
    seconds: float


class Lttng:
    """An LTTng that no other program uses, see `private_lttng`."""

    def __init__(self, home: Path, prefix: list[str]) -> None:
        # Nothing outlives this process, however it ends.
        self.prefix = [*prefix, "setpriv", "--pdeathsig=TERM", "--"]
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("LTTNG_")
        } | {"LTTNG_HOME": str(home), "LD_LIBRARY_PATH": str(LIBRARIES)}

    def popen(self, *command: str | Path, stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
        """Start a command beside the daemon."""
        return subprocess.Popen(
            [*self.prefix, *map(str, command)],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *command: str | Path) -> str:
        """Run a command beside the daemon and return what it printed."""
        process = self.popen(*command)
        output, _ = process.communicate()
        if process.returncode != 0:
            line = " ".join(map(str, command))
            raise click.ClickException(f"{line} failed:\n{output.strip()}")
        return output

    def control(self, *arguments: str | Path) -> str:
        """Run a command of the `lttng` tool."""
        return self.run("lttng", "--no-sessiond", *arguments)

    def wait_until_ready(self, daemon: subprocess.Popen[str]) -> None:
        """Wait until the daemon answers."""
        deadline = time.monotonic() + _DEADLINE_S
        while time.monotonic() < deadline and daemon.poll() is None:
            if self.popen("lttng", "--no-sessiond", "list", stdout=subprocess.DEVNULL).wait() == 0:
                return
            time.sleep(0.05)
        raise click.ClickException("lttng-sessiond does not answer.")


@contextmanager
def private_namespace() -> Iterator[list[str]]:
    """Yield the prefix of commands that see a /run and a /dev/shm of their own."""
    holder = subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", _PRIVATE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    try:
        if holder.stdout.readline() != "ready\n":
            raise click.ClickException(f"No mount namespace: {holder.communicate()[1].strip()}")
        yield ["nsenter", f"--mount=/proc/{holder.pid}/ns/mnt", "--"]
    finally:
        holder.kill()
        holder.communicate()


@contextmanager
def private_lttng() -> Iterator[Lttng]:
    """Run a session daemon of our own: in a namespace for root, with an LTTNG_HOME for others."""
    with tempfile.TemporaryDirectory(prefix="strata_load_") as home:
        if os.geteuid() != 0:
            with _daemon(Lttng(Path(home), [])) as lttng:
                yield lttng
            return
        with private_namespace() as prefix, _daemon(Lttng(Path(home), prefix)) as lttng:
            yield lttng


@contextmanager
def _daemon(lttng: Lttng) -> Iterator[Lttng]:
    # Nobody reads what it prints: in a pipe that is full, it would wait for ever.
    daemon = lttng.popen("lttng-sessiond", "--no-kernel", stdout=subprocess.DEVNULL)
    try:
        lttng.wait_until_ready(daemon)
        yield lttng
    finally:
        daemon.terminate()
        daemon.wait()


def require_tools() -> None:
    """Refuse to start where a program is missing."""
    missing = [name for name in ("gcc", "lttng", "lttng-sessiond") if shutil.which(name) is None]
    if missing:
        raise click.ClickException(f"{', '.join(missing)} not found. Run make setup.")


def build(directory: Path, load: str) -> Path:
    """Compile the program of a load into a directory."""
    if not (LIBRARIES / "libtracetools.so").is_file():
        raise click.ClickException(f"{LIBRARIES} holds no libtracetools.so. Run make setup.")
    program = directory / load
    options = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-pthread", f"-I{HEADERS}"]
    line: list[str | Path] = [
        "gcc",
        *options,
        "-o",
        program,
        HERE / f"{load}.c",
        f"-L{LIBRARIES}",
        "-ltracetools",
    ]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode != 0:
        raise click.ClickException(f"gcc failed:\n{done.stderr.strip()}")
    return program


def create_session(lttng: Lttng, output: Path, sub_buffers: int) -> None:
    """Create and start the session, with the channel of trace_configs/ros2.yaml."""
    count = f"--num-subbuf={sub_buffers}"
    sizes = ["--subbuf-size=1M", count, "--switch-timer=0", "--read-timer=200000"]
    kind = ["--userspace", "--session", SESSION, "--buffers-uid", "--discard", "--output=mmap"]
    lttng.control("create", SESSION, "--output", output)
    lttng.control("enable-channel", *kind, *sizes, "ros2")
    contexts = [f"--type={name}" for name in ("vpid", "vtid", "procname")]
    where = ["--userspace", "--session", SESSION, "--channel", "ros2"]
    lttng.control("add-context", *where, *contexts)
    lttng.control("enable-event", *where, "ros2:*")
    lttng.control("start", SESSION)


def discarded_events(lttng: Lttng) -> int:
    """Return how many events the channels of the session have lost."""
    tree = ElementTree.fromstring(lttng.control("--mi", "xml", "list", SESSION))
    counts = [element.text for element in tree.iter() if element.tag.endswith("}discarded_events")]
    if not counts:
        raise click.ClickException("lttng list does not tell how many events were discarded.")
    return sum(int(count or 0) for count in counts)


def record(directory: Path, arguments: list[str], load: str = CHAINS) -> Recording:
    """Record a run of a load with these arguments into a directory that does not exist yet."""
    if directory.exists() and any(directory.iterdir()):
        raise click.ClickException(f"{directory} is not empty.")
    require_tools()
    with tempfile.TemporaryDirectory(prefix="strata_load_") as built, private_lttng() as lttng:
        program = build(Path(built), load)
        create_session(lttng, directory.resolve(), SUB_BUFFERS[load])
        begin = time.monotonic()
        printed = lttng.run(program, *arguments)
        seconds = time.monotonic() - begin
        lttng.control("stop", SESSION)
        discarded = discarded_events(lttng)
        lttng.control("destroy", SESSION)
    emitted = int(printed.removeprefix("emitted "))
    return Recording(directory, emitted - discarded, discarded, seconds)


@click.command()
@click.option("--events", type=int, required=True, help="How many events to emit, about.")
@click.option("--load", type=click.Choice(list(SUB_BUFFERS)), default=CHAINS, show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True)
@click.option(
    "--threads", type=int, help="How many chains, each in a thread; an executor's threads."
)
@click.option("--relays", type=int, help="How many relays a chain has.")
@click.option("--rate", type=int, help="chain_load: events a second and thread; 0: all it can.")
@click.option("--chains", type=int, help="executor_load: how many.")
@click.option("--wait-ns", type=int, help="executor_load: what a wait takes that finds work.")
def main(output: Path, load: str, **options: int | None) -> None:
    """Record a load; exits with 1 if an event was lost."""
    given = {name.replace("_", "-"): value for name, value in options.items() if value is not None}
    recording = record(output, [f"--{name}={value}" for name, value in given.items()], load)
    click.echo(
        f"{recording.directory}: {recording.events} events in {recording.seconds:.1f} s,"
        f" {recording.discarded} discarded"
    )
    if recording.discarded:
        raise click.ClickException(
            f"{recording.discarded} events were discarded, so that the trace is not of the size"
            " that was asked for. Try a lower --rate, or a longer --wait-ns."
        )


if __name__ == "__main__":
    main()
