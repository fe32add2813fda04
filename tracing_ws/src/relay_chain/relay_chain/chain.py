# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Run the whole chain: all nodes in this process, or one process a node."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import rclpy
from rclpy.parameter import Parameter

from relay_chain.nodes import Distractor, Relay, Sink, Source
from relay_chain.options import ChainOptions
from relay_chain.process import make_executor, spin

_DISCOVERY_S = 30.0
_END_S = 10.0


def parameters(options: ChainOptions) -> dict[str, dict[str, object]]:
    """Return the parameters of every node, by name."""
    common = {
        "reliability": options.reliability,
        "durability": options.durability,
        "depth": options.depth,
        "log": options.log,
    }
    last = f"/chain_{options.relays}"
    out: dict[str, dict[str, object]] = {
        "source": {
            "rate": options.rate,
            "messages": options.messages,
            "payload": options.payload,
            "output": "/chain_0",
            "peers": options.relays + 1 + (options.block is not None),
        },
        "sink": {"input": last, "messages": options.messages},
    }
    for index in range(options.relays):
        topics = {"input": f"/chain_{index}", "output": f"/chain_{index + 1}"}
        out[f"relay_{index}"] = dict(topics)
    for node, ms in options.work.items():
        out[node]["work_ms"] = ms
    if options.block:
        out[options.block.node]["block_ms"] = options.block.ms
        out["distractor"] = {"rate": options.block.hz}
    return {name: {**common, **own} for name, own in out.items()}


def longest_s(options: ChainOptions) -> float:
    """Bound the time that a run may take: discovery, sending, the slowest node, ending."""
    slowest = max([*options.work.values(), 0.0]) / 1e3
    if options.block:
        slowest += options.block.ms / 1e3
    per_message = max(1.0 / options.rate, slowest * 2)
    return _DISCOVERY_S + options.messages * per_message * 2 + _END_S


def run_in_one_process(options: ChainOptions) -> int:
    """Run all nodes on one executor; 0 when the sink got every message."""
    rclpy.init(args=[])
    made = {
        name: _make(name, [Parameter(key, value=value) for key, value in own.items()])
        for name, own in parameters(options).items()
    }
    sink = made["sink"]
    deadline = sink.create_timer(longest_s(options), lambda: _give_up(sink))
    executor = make_executor(options.executor, options.threads)
    spin(list(made.values()), sink.done, executor)
    deadline.cancel()
    received = sink.received
    rclpy.try_shutdown()
    return _verdict(received, options)


def _make(name: str, overrides: list[Parameter]) -> Source | Relay | Sink | Distractor:
    kinds = {"source": Source, "sink": Sink, "distractor": Distractor}
    return kinds[name](overrides) if name in kinds else Relay(name, overrides)


def _give_up(sink: Sink) -> None:
    if not sink.done.done():
        sink.done.set_result(False)


def _verdict(received: int, options: ChainOptions) -> int:
    sys.stderr.write(f"relay_chain: sink received {received} of {options.messages} messages\n")
    return 0 if received == options.messages else 1


def run_in_processes(options: ChainOptions) -> int:
    """Run one process a node; 0 when the sink got every message and all ended well."""
    children: dict[str, subprocess.Popen[str]] = {}
    previous = {
        number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        for name, own in parameters(options).items():
            children[name] = _start(name, own, options)
        text = _wait_for_sink(children, time.monotonic() + longest_s(options))
        received = int(text.split()[1]) if text else 0
    except KeyboardInterrupt:
        received = -1
    finally:
        failed = _end(children)
        for number, handler in previous.items():
            signal.signal(number, handler)
    if failed:
        sys.stderr.write(f"relay_chain: {', '.join(failed)} did not end well\n")
    if received < 0:
        sys.stderr.write("relay_chain: interrupted\n")
        return 130
    return _verdict(received, options) or int(bool(failed))


def _interrupt(number: int, frame: object) -> None:
    del number, frame
    raise KeyboardInterrupt


def _start(name: str, own: dict[str, object], options: ChainOptions) -> subprocess.Popen[str]:
    kind = "relay" if name.startswith("relay_") else name
    settings = {**own, "executor": options.executor, "threads": options.threads}
    arguments = ["--ros-args", "-r", f"__node:={name}"]
    for key, value in settings.items():
        # An empty string is no valid value on a ROS command line; it is the default anyway.
        if value != "":
            arguments += ["-p", f"{key}:={value}"]
    return subprocess.Popen(
        [sys.executable, "-m", "relay_chain.process", kind, *arguments],
        stderr=subprocess.PIPE if kind == "sink" else None,
        text=True,
        # Its own group: Ctrl-C reaches this process only, which ends the children in order.
        start_new_session=True,
    )


def _wait_for_sink(children: dict[str, subprocess.Popen[str]], deadline: float) -> str:
    """Return the sink's last line; empty when it or another child died, or time ran out."""
    sink = children["sink"]
    while time.monotonic() < deadline:
        if sink.poll() is not None:
            return (sink.communicate()[1].strip().splitlines() or [""])[-1]
        dead = [name for name, child in children.items() if child.poll() is not None]
        if dead:
            sys.stderr.write(f"relay_chain: {', '.join(dead)} ended too early\n")
            return ""
        time.sleep(0.05)
    sys.stderr.write("relay_chain: the sink did not end in time\n")
    return ""


def _end(children: dict[str, subprocess.Popen[str]]) -> list[str]:
    """End every child that still runs; return those that failed."""
    for child in children.values():
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
    failed = []
    until = time.monotonic() + _END_S
    for name, child in children.items():
        try:
            status = child.wait(max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            status = child.wait()
        if child.stderr:
            child.stderr.close()
        if status:
            failed.append(f"{name} (exit status {status})")
    return failed


def run(options: ChainOptions) -> int:
    """Run the chain; the exit status."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    if options.processes == "one":
        return run_in_one_process(options)
    return run_in_processes(options)
