# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Run the whole chain: all nodes in this process, or one process a node."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from relay_chain.options import ChainOptions
from relay_chain.stop import hold_signals, wait_signal
from relay_chain.truth import truth_file

_DISCOVERY_S = 30.0
_QUIET_S = 5.0
_END_S = 10.0
_POLL_S = 0.05
_TERMINATED = 128 + signal.SIGTERM

Parameters = dict[str, dict[str, object]]


def parameters(options: ChainOptions) -> Parameters:
    """Return the parameters of every node, by name."""
    common = {
        "reliability": options.reliability,
        "durability": options.durability,
        "depth": options.depth,
        "log": options.log,
        "force": options.force,
        "discovery_s": _DISCOVERY_S,
    }
    out: Parameters = {
        "source": {
            "rate": options.rate,
            "messages": options.messages,
            "payload": options.payload,
            "output": "/chain_0",
            "peers": options.relays + 1 + (options.block is not None),
        },
        "sink": {
            "input": f"/chain_{options.relays}",
            "messages": options.messages,
            "quiet_s": _QUIET_S + 10 * slowest_s(options),
        },
    }
    for index in range(options.relays):
        out[f"relay_{index}"] = {"input": f"/chain_{index}", "output": f"/chain_{index + 1}"}
    for node, ms in options.work.items():
        out[node]["work_ms"] = ms
    if options.block:
        out[options.block.node]["block_ms"] = options.block.ms
        out["distractor"] = {"rate": options.block.hz}
    return {name: {**common, **own} for name, own in out.items()}


def slowest_s(options: ChainOptions) -> float:
    """Estimate the longest time between two messages at the sink, in seconds."""
    held_ms = max(options.work.values(), default=0.0) + (options.block.ms if options.block else 0.0)
    return max(1.0 / options.rate, held_ms / 1e3)


def longest_s(options: ChainOptions) -> float:
    """Bound the time of a run, in seconds: far above what a loaded machine needs."""
    return 2 * _DISCOVERY_S + 10 * (_QUIET_S + (options.messages + 10) * slowest_s(options))


def run_in_one_process(options: ChainOptions) -> int:
    """Run all nodes on one executor; the exit status."""
    # Only now, with the signals held: these start threads.
    from rclpy.parameter import Parameter

    from relay_chain.node import ChainNode
    from relay_chain.process import KINDS, run_nodes

    def make() -> list[ChainNode]:
        nodes: list[ChainNode] = []
        for name, own in parameters(options).items():
            overrides = [Parameter(key, value=value) for key, value in own.items()]
            named = {} if name in KINDS else {"name": name}
            nodes.append(KINDS[_kind(name)](overrides, **named))
        return nodes

    return run_nodes(make, [], (options.executor, options.threads))


def _kind(name: str) -> str:
    return "relay" if name.startswith("relay_") else name


Children = dict[str, subprocess.Popen[bytes]]


def run_in_processes(options: ChainOptions) -> int:
    """Run one process a node; the exit status."""
    children: Children = {}
    number = None
    status = 1
    try:
        for name, own in parameters(options).items():
            children[name] = _start(name, own, options)
        number = _wait(children, time.monotonic() + longest_s(options))
    finally:
        failed = _end(children)
    if number is not None:
        sys.stderr.write("relay_chain: ended by a signal\n")
        status = 128 + number
    elif not failed:
        status = 0
    else:
        sys.stderr.write(f"relay_chain: did not end well: {', '.join(failed)}\n")
    return status


def _start(name: str, own: dict[str, object], options: ChainOptions) -> subprocess.Popen[bytes]:
    settings = {**own, "executor": options.executor, "threads": options.threads}
    arguments = ["--parent", str(os.getpid()), "--ros-args", "-r", f"__node:={name}"]
    for key, value in settings.items():
        # An empty string is no valid value on a ROS command line; it is the default anyway.
        if value != "":
            arguments += ["-p", f"{key}:={_yaml(value)}"]
    # Its own session: Ctrl-C reaches this process only, which ends the children in order.
    return subprocess.Popen(
        [sys.executable, "-m", "relay_chain.single", _kind(name), *arguments],
        start_new_session=True,
    )


def _yaml(value: object) -> str:
    """Write a parameter's value so that it keeps its type; strings may look like numbers."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _wait(children: Children, deadline: float) -> int | None:
    """Wait until a child ends or time runs out; the number of a signal, null when none came.

    The sink ends by itself; another child that ends by itself has failed.
    """
    while all(child.poll() is None for child in children.values()):
        if time.monotonic() > deadline:
            sys.stderr.write("relay_chain: the sink did not end in time\n")
            children["sink"].kill()
        number = wait_signal(_POLL_S)
        if number is not None:
            return number
    return None


def _end(children: Children) -> list[str]:
    """End every child that still runs; describe those that failed."""
    running = [name for name, child in children.items() if child.poll() is None]
    for name in running:
        children[name].terminate()
    failed = []
    until = time.monotonic() + _END_S
    for name, child in children.items():
        try:
            status = child.wait(max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            status = child.wait()
        # A sink that was ended before it had everything says so; the fault is another's.
        if status and not (name in running and status == _TERMINATED):
            failed.append(f"{name} (exit status {status})")
    return failed


def run(options: ChainOptions) -> int:
    """Run the chain; the exit status."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    hold_signals()
    if options.log:
        try:
            for name in parameters(options):
                truth_file(options.log, name, force=options.force)
        except FileExistsError as error:
            sys.stderr.write(f"{error}\n")
            return 1
    return run_in_one_process(options) if options.processes == "one" else run_in_processes(options)
