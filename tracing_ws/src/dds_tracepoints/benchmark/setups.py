# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is loaded and recorded in a run, and the runs themselves, each in a session of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from strata.read import open_trace
from strata.record.config import SessionConfig, load_config
from strata.record.host import possible_cpus
from strata.record.lttng import METADATA_TIMER_US
from strata.record.ring import Ring
from strata.record.thread_cpu import ThreadSampling

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
sys.path.insert(0, str(HERE.parents[1]))

from others import MOST, Others, wait_for_quiet  # noqa: E402
from traced_ros import Lttng, Ros  # noqa: E402

_DOMAIN = "96"
_PROFILES = ROOT / "trace_configs/rmw"
_DEADLINE_S = 120.0
_ATTEMPTS = 3


@dataclass(frozen=True)
class Setup:
    """What is preloaded, patched and recorded; `config` null: no session.

    `timers`: metadata and packets are flushed as configured, else only when they are full.
    `sampled`: the waits of the program's threads for a CPU are read, as `strata record` does.
    `look_every_s`: events go to ring buffers, which are looked at so often; null: to disk.
    """

    name: str
    provider: bool = True
    hooks: bool = False
    rclpy: bool = False
    config: str | None = None
    timers: bool = True
    sampled: bool = False
    look_every_s: float | None = None


STOCK = Setup("stock", provider=False)
PROVIDER = Setup("provider loaded")
LOADED = Setup("hooks loaded, off", hooks=True)
ROS2 = Setup("`ros2` on", config="ros2")
FULL = Setup("`ros2` + `dds` on", hooks=True, config="full")
GUARD = Setup("the same, `guard`", hooks=True, config="full", look_every_s=2.0)
LIVE = Setup("the same, `live`", hooks=True, config="full", look_every_s=1.4)
RCLPY = Setup("the same, rclpy traced", hooks=True, rclpy=True, config="full")


@dataclass(frozen=True)
class Workload:
    """What runs: a program's first argument, how often, over which transport.

    `shared`: the processes of a round trip share a CPU, else each has one of its own.
    """

    program: str
    name: str
    count: int
    transport: str = "shm"
    shared: bool = False

    @property
    def kind(self) -> str:
        """Name it for readers."""
        if self.name == "ping":
            return f"round trip, {self.transport.upper()}" + ", one CPU" * self.shared
        return f"publish() to {'nobody' if self.name == 'publish' else 'a subscriber'}"

    @property
    def legs(self) -> int:
        """Tell how many messages one timed unit is."""
        return 2 if self.name == "ping" else 1

    @property
    def setups(self) -> list[Setup]:
        """List the setups that make a difference."""
        if self.name == "publish":
            return [STOCK, PROVIDER, LOADED, ROS2, FULL, GUARD, LIVE]
        patched = self.name == "ping" and self.program == "rclpy"
        return [STOCK, LOADED, ROS2, FULL, GUARD, LIVE, *([RCLPY] if patched else [])]


@dataclass(frozen=True)
class Run:
    """What a run measured; `events` by name and `trace_bytes` are of its trace, if it has one.

    `others`: the share of the CPUs' time that other programs took.
    """

    p50_ns: float
    p99_ns: float
    least_ns: float
    clock_ns: float
    messages: int
    events: Counter[str]
    trace_bytes: int
    others: float


class Bench:
    """Runs workloads of one distribution, each process on one CPU.

    Left to the scheduler, the two of a round trip share a CPU in some runs and not in others, which
    makes more of a difference than tracing.
    """

    def __init__(self, ros: Ros, lttng: Lttng) -> None:
        self.ros = ros
        self.cpu = max(os.sched_getaffinity(0))
        self.other_cpu = min(os.sched_getaffinity(0))
        self._lttng = lttng
        self._rcl_load = compiled(ros, lttng.home)
        self._configs = {name: load_config(name) for name in ("ros2", "full")}

    def run(self, setup: Setup, workload: Workload) -> Run:
        """Measure, again while other programs take much; give the run that they disturbed least."""
        runs: list[Run] = []
        while not runs or (runs[-1].others > MOST and len(runs) < _ATTEMPTS):
            wait_for_quiet()
            runs.append(self._run(setup, workload))
        return min(runs, key=lambda run: run.others)

    def _run(self, setup: Setup, workload: Workload) -> Run:
        with self._session(setup) as trace:
            others = Others()
            with self._peer(setup, workload):
                measured = self._measured(setup, workload)
            share = others.share()
        events: Counter[str] = Counter()
        size = 0
        if setup.config is not None and setup.look_every_s is None:
            events = require_all(trace)
            size = sum(file.stat().st_size for file in trace.rglob("*") if file.is_file())
            shutil.rmtree(trace)
        return Run(**measured, events=events, trace_bytes=size, others=share)

    def _measured(self, setup: Setup, workload: Workload) -> dict[str, Any]:
        arguments = (workload.name, str(workload.count))
        program = self._start(setup, workload, *arguments, cpu=self.cpu)
        sampling = ThreadSampling(self._lttng.home, os.environ) if setup.sampled else None
        if sampling:
            sampling.follow(program.pid)
        output, errors = finish(program)
        if sampling:
            sampling.stop()
        if program.returncode != 0:
            raise SystemExit(f"{setup.name}, {workload}: failed ({program.returncode}).\n{errors}")
        return json.loads(output)

    @contextmanager
    def _session(self, setup: Setup) -> Iterator[Path]:
        trace = self._lttng.home / "trace"
        if setup.config is None:
            yield trace
            return
        config = self._configs[setup.config]
        if not setup.timers:
            config = replace(config, channel=replace(config.channel, switch_timer=0))
        ring = setup.look_every_s is not None
        if ring:
            config = Ring().config(config, possible_cpus())
        self._create(config, trace, timers=setup.timers and not ring, ring=ring)
        try:
            with self._looking(setup, trace, config.channel.subbuf_size):
                yield trace
        finally:
            self._lttng.command("destroy", "bench")

    @contextmanager
    def _looking(self, setup: Setup, trace: Path, subbuf_size: int) -> Iterator[None]:
        """Have windows of the ring buffers analyzed beside, as `strata guard` and `live` do."""
        if setup.look_every_s is None:
            yield
            return
        given = [f"{name}={value}" for name, value in self._lttng.variables.items()]
        numbers = [str(int(setup.look_every_s * 1e9)), str(subbuf_size)]
        line = ["env", *given, sys.executable, str(HERE / "look.py"), "bench", str(trace), *numbers]
        process = subprocess.Popen(
            [*self._lttng.prefix, *line], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        try:
            # It has taken its first window.
            assert process.stdout is not None
            process.stdout.readline()
            yield
        finally:
            process.communicate()
            shutil.rmtree(trace, ignore_errors=True)

    def _create(self, config: SessionConfig, trace: Path, *, timers: bool, ring: bool) -> None:
        """Start the session that `strata record` would, or `strata guard`."""
        of = ("-u", "-s", "bench")
        command = self._lttng.command
        command("create", "bench", *(["--snapshot"] if ring else []), f"--output={trace}")
        if timers:
            flushed = f"--switch-timer={METADATA_TIMER_US}"
            buffers = f"--buffers-{config.buffers.removeprefix('per-')}"
            command("enable-channel", *of, flushed, buffers, "metadata")
        command(
            "enable-channel",
            *of,
            f"--subbuf-size={config.channel.subbuf_size}",
            f"--num-subbuf={config.channel.num_subbuf}",
            f"--switch-timer={config.channel.switch_timer}",
            f"--read-timer={config.channel.read_timer}",
            f"--{config.channel.mode}",
            f"--output={config.channel.output}",
            f"--buffers-{config.buffers.removeprefix('per-')}",
            "ust",
        )
        contexts = [f"--type={context}" for context in config.contexts]
        command("add-context", *of, "-c", "ust", *contexts)
        command("enable-event", *of, "-c", "ust", ",".join(config.ust))
        command("start", "bench")

    @contextmanager
    def _peer(self, setup: Setup, workload: Workload) -> Iterator[None]:
        if workload.name == "publish":
            yield
            return
        if workload.name == "ping":
            cpu = self.cpu if workload.shared else self.other_cpu
            peer = self._start(setup, workload, "pong", cpu=cpu)
        else:
            sink = replace(workload, program="rcl")
            peer = self._start(setup, sink, "sink", cpu=self.other_cpu)
        try:
            yield
        except BaseException:
            peer.kill()
            raise
        finally:
            _, errors = finish(peer)
            sys.stderr.write(errors)

    def _start(
        self, setup: Setup, workload: Workload, *arguments: str, cpu: int
    ) -> subprocess.Popen[str]:
        environment = self._environment(setup, workload)
        given = [f"{name}={value}" for name, value in environment.items()]
        command = self.ros.python(HERE / "rclpy_load.py")
        if workload.program == "rcl":
            command = [*self.ros.python()[:-1], str(self._rcl_load)]
        # Not nsenter's environment: threads of a preloaded LTTng would keep it from entering.
        pinned = ["taskset", "-c", str(cpu), "env", "-i", *given]
        return subprocess.Popen(
            [*self._lttng.prefix, *pinned, *command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _environment(self, setup: Setup, workload: Workload) -> dict[str, str]:
        variables = self.ros.environment(hook=setup.rclpy, preload=setup.provider)
        # It would add transports to those of the profile.
        del variables["ROS_AUTOMATIC_DISCOVERY_RANGE"]
        profile = str(_PROFILES / f"fastdds_{workload.transport}.xml")
        vendor = "FASTRTPS" if self.ros.distro == "jazzy" else "FASTDDS"
        variables |= {"ROS_DOMAIN_ID": _DOMAIN, f"{vendor}_DEFAULT_PROFILES_FILE": profile}
        if setup.provider:
            variables |= self._lttng.variables
        if setup.hooks:
            library = self.ros.install / "lib/dds_tracepoints/libdds_tracepoints.so"
            guard = self.ros.install / "lib/ust_guard/libust_guard.so"
            statedump = self.ros.install / "lib/ros2_statedump/libros2_statedump.so"
            before = variables.get("LD_PRELOAD", "")
            variables["LD_PRELOAD"] = f"{library}:{guard}:{statedump}:{before}".rstrip(":")
        return variables


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait for a process's end; return what it wrote."""
    try:
        return process.communicate(timeout=_DEADLINE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise


def compiled(ros: Ros, directory: Path) -> Path:
    """Compile rcl_load.c against a distribution."""
    prefix = ros.wheels or Path(f"/opt/ros/{ros.distro}")
    program = directory / f"rcl_load_{ros.distro}"
    includes = [f"-I{path}" for path in sorted((prefix / "include").iterdir())]
    names = ["rcl", "rcutils", "rosidl_runtime_c"]
    names += ["std_msgs__rosidl_typesupport_c", "std_msgs__rosidl_generator_c"]
    libraries = [f"-l{name}" for name in names]
    command = ["cc", "-O2", "-o", program, HERE / "rcl_load.c", *includes]
    command += [f"-L{prefix}/lib", *libraries, "-Wl,--allow-shlib-undefined"]
    if ros.wheels is not None:
        # librcl.so of the wheels needs a library of Python's, and leaves it to Python to load it.
        command += ["-Wl,--no-as-needed", _libpython()]
    subprocess.run(command, check=True)
    return program


def _libpython() -> Path:
    directory, name = sysconfig.get_config_vars("LIBDIR", "INSTSONAME")
    return Path(directory) / name


def require_all(path: Path) -> Counter[str]:
    """Count a trace's events; end unless it has all: a lost one costs less."""
    trace = open_trace(str(path))
    events: Counter[str] = Counter()
    for chunk in trace.chunks():
        for name, batches in chunk.items():
            events[name] += sum(len(batch) for batch in batches)
    if trace.losses:
        lost = ", ".join(f"{loss.count} {loss.code}" for loss in trace.losses)
        raise SystemExit(f"Cannot measure: events were lost ({lost}). Run it again.")
    return events
