# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Run the whole chain: all nodes in this process, in two, or one process a node."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from relay_chain.native import NotBuiltError, executable
from relay_chain.options import ChainOptions
from relay_chain.several import kind_of, run_several
from relay_chain.stop import DONE_BUT_HANGING, hold_signals, wait_signal
from relay_chain.truth import truth_file

_DISCOVERY_S = 30.0
_QUIET_S = 5.0
_END_S = 10.0
_POLL_S = 0.05
_TERMINATED = 128 + signal.SIGTERM

Parameters = dict[str, dict[str, object]]
"""The parameters of nodes, by name."""


def parameters(options: ChainOptions) -> Parameters:
    """Return the parameters of every node, by name."""
    common = {
        "reliability": options.reliability,
        "durability": options.durability,
        "type": options.type,
        "payload": options.payload,
        "depth": options.depth,
        "log": options.log,
        "force": options.force,
        "discovery_s": _DISCOVERY_S,
        "executor": options.executor,
        "threads": options.threads,
        **({"intra_process": True} if options.intra_process else {}),
    }
    out: Parameters = {
        "source": {
            "rate": options.rate,
            "messages": options.messages,
            "output": "/chain_0",
            "peers": options.relays + options.sinks + (options.block is not None),
        }
    }
    for name in options.sink_names:
        out[name] = {
            "input": f"/chain_{options.relays}",
            "messages": options.messages,
            "quiet_s": _QUIET_S + 10 * slowest_s(options),
        }
    for index in range(options.relays):
        out[f"relay_{index}"] = {"input": f"/chain_{index}", "output": f"/chain_{index + 1}"}
    # By its place, not its name: the last before the sinks.
    out[options.nodes[options.relays]]["listeners"] = options.sinks
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


def placement(options: ChainOptions) -> list[list[str]]:
    """Give the names of the nodes of each process."""
    names = list(parameters(options))
    if options.processes == "one":
        return [names]
    if options.processes == "each":
        return [[name] for name in names]
    # Every hop crosses, as neighbours are apart; all sinks are neighbours of the last relay.
    first = ["source", *(f"relay_{index}" for index in range(1, options.relays, 2))]
    second = [f"relay_{index}" for index in range(0, options.relays, 2)]
    (second if options.relays % 2 == 0 else first).extend(options.sink_names)
    if options.block:
        # A blocked executor could not run the timer of what blocks it.
        (second if options.block.node in first else first).append("distractor")
    return [first, second]


Children = dict[str, subprocess.Popen[bytes]]


def run_in_processes(options: ChainOptions) -> int:
    """Run the nodes in processes of their own; the exit status."""
    children: Children = {}
    number = None
    status = 1
    nodes = parameters(options)
    try:
        for names in placement(options):
            own = {name: nodes[name] for name in names}
            children[" + ".join(names)] = _start(own, options)
        ending = {child for child in children if set(child.split(" + ")) & {*options.sink_names}}
        number = _wait(children, ending, time.monotonic() + longest_s(options))
    finally:
        failed = _end(children)
    if number is not None:
        sys.stderr.write("relay_chain: ended by a signal\n")
        status = 128 + number
    elif not failed:
        status = 0
    else:
        sys.stderr.write(f"relay_chain: did not end cleanly: {', '.join(failed)}\n")
    return status


def _start(nodes: Parameters, options: ChainOptions) -> subprocess.Popen[bytes]:
    # Its own session: Ctrl-C reaches this process only, which ends the children in order.
    return subprocess.Popen(_words(nodes, options), start_new_session=True)


def _words(nodes: Parameters, options: ChainOptions) -> list[str]:
    """Write the command line of a process."""
    parent = ["--parent", str(os.getpid())]
    is_native = options.client == "rclcpp"
    if options.processes == "each":
        ((name, own),) = nodes.items()
        kind = kind_of(name)
        module = ["relay_chain.single", kind]
        program = [executable(f"{kind}_cpp")] if is_native else [sys.executable, "-m", *module]
        renamed = ["--ros-args", "-r", f"__node:={name}"]
        return [*program, *parent, *renamed, *_ros_arguments(own)]
    program = (
        [executable("chain_cpp")] if is_native else [sys.executable, "-m", "relay_chain.several"]
    )
    return [*program, *parent, *_named(nodes)]


def _named(nodes: Parameters) -> list[str]:
    """Write the arguments of a process with several nodes."""
    own = [word for name in nodes for word in _ros_arguments(nodes[name], f"{name}:")]
    return [*nodes, "--ros-args", *own]


def _ros_arguments(settings: dict[str, object], node: str = "") -> list[str]:
    """Write parameters for a ROS command line; `node` is a name and a colon, or empty for all."""
    # An empty string is no valid value there; it is the default anyway.
    given = [(key, value) for key, value in settings.items() if value != ""]
    return [word for key, value in given for word in ("-p", f"{node}{key}:={_yaml(value)}")]


def _yaml(value: object) -> str:
    """Write a parameter's value so that it keeps its type; strings may look like numbers."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _wait(children: Children, ending: set[str], deadline: float) -> int | None:
    """Wait until the children end or time runs out; the number of a signal, null when none came.

    Those in `ending`, with a sink, end by themselves; another that does so has failed.
    """
    while True:
        ended = {name for name, child in children.items() if child.poll() is not None}
        if ended >= ending or ended - ending:
            return None
        if time.monotonic() > deadline:
            late = sorted(ending - ended)
            sys.stderr.write(f"relay_chain: {', '.join(late)} did not end in time\n")
            for name in late:
                children[name].kill()
        number = wait_signal(_POLL_S)
        if number is not None:
            return number


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
        if status == -DONE_BUT_HANGING:
            sys.stderr.write(f"relay_chain: {name} was done, but its middleware did not end\n")
            continue
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
    try:
        if options.processes != "one":
            return run_in_processes(options)
        if options.client == "rclcpp":
            program = executable("chain_cpp")
            # Held signals stay so over this: no moment is without them.
            os.execv(program, [program, *_named(parameters(options))])
    except NotBuiltError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return run_several(_named(parameters(options)))
