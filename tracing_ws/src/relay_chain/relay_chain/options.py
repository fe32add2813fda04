# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of the chain."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, field
from typing import NoReturn

from relay_chain.messages import FIXED, fixed_sizes


@dataclass(frozen=True)
class Block:
    """A second subscription whose callback blocks: on which node, how long, how often."""

    node: str
    ms: float
    hz: float


@dataclass(frozen=True)
class ChainOptions:
    """What to run. `threads` 0 means one a CPU; an empty `log` means that no stamps are written."""

    relays: int = 3
    sinks: int = 1
    rate: float = 100.0
    messages: int = 500
    payload: int = 1024
    message: str = "timing"
    reliability: str = "reliable"
    durability: str = "volatile"
    depth: int = 10
    executor: str = "single"
    threads: int = 0
    processes: str = "each"
    client: str = "rclpy"
    intra_process: bool = False
    log: str = ""
    force: bool = False
    work: dict[str, float] = field(default_factory=dict)
    block: Block | None = None

    @property
    def nodes(self) -> list[str]:
        """Names of the chain's nodes, in order; without the distractor."""
        return ["source", *(f"relay_{index}" for index in range(self.relays)), *self.sink_names]

    @property
    def sink_names(self) -> list[str]:
        """Names of the sinks: one is `sink`, several are `sink_0`, `sink_1` ..."""
        return ["sink"] if self.sinks == 1 else [f"sink_{index}" for index in range(self.sinks)]

    @property
    def type(self) -> str:
        """Kind of the type that the chain's topics have: fixed or unbounded."""
        return "fixed" if self.message == "fixed" else "unbounded"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(
            2, f"Cannot read the command line: {message.rstrip('.')}. See {self.prog} --help.\n"
        )


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number above 0")
    return value


def _whole(text: str, *, least: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
    return value


def _count(text: str) -> int:
    return _whole(text, least=1)


def _size(text: str) -> int:
    return _whole(text, least=0)


def _work(text: str) -> tuple[str, float]:
    node, equals, ms = text.partition("=")
    if not (node and equals):
        raise argparse.ArgumentTypeError(f"{text!r} has not the form NODE=MS, like relay_1=5")
    return node, _positive(ms)


def _block(text: str) -> Block:
    node, equals, rest = text.partition("=")
    ms, at, hz = rest.partition("@")
    if not (node and equals and at):
        raise argparse.ArgumentTypeError(f"{text!r} has not the form NODE=MS@HZ, like relay_1=50@5")
    return Block(node, _positive(ms), _positive(hz))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="relay_chain",
        description="Run Source -> Relay_0 .. Relay_n -> Sink. Exits with 0 when every sink got "
        "every message and all nodes ended well, with 1 otherwise.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--relays", type=_size, default=3, help="relays between source and sink")
    add("--sinks", type=_count, default=1, help="subscribers of the last topic, each a node")
    add("--rate", type=_positive, default=100.0, metavar="HZ", help="messages a second")
    add("--messages", type=_count, default=500, help="messages in all")
    add("--payload", type=_size, default=1024, metavar="BYTES", help="ballast in a message")
    add("--message", choices=["timing", "fixed"], default="timing",
        help="type of the messages: Timing, of any size, or a plain type of a fixed size, which "
        f"data sharing needs; that has a --payload of {fixed_sizes()}",
        )  # fmt: skip
    add("--reliability", choices=["reliable", "best_effort"], default="reliable", help="QoS")
    add("--durability", choices=["volatile", "transient_local"], default="volatile", help="QoS")
    add("--depth", type=_count, default=10, help="messages that the QoS history keeps")
    add("--client", choices=["rclpy", "rclcpp"], default="rclpy",
        help="client library: nodes in Python, or in C++ where rclcpp was there to build them",
        )  # fmt: skip
    add("--executor", choices=["single", "multi", "events"], default="single",
        help="the client library's executor; events has rclcpp only",
        )  # fmt: skip
    add("--threads", type=_size, default=0, help="of a multi-threaded executor; 0: one a CPU")
    add("--processes", choices=["one", "two", "each"], default="each",
        help="one for all, two that the nodes alternate between, or one a node",
        )  # fmt: skip
    add("--intra-process", action="store_true",
        help="pass messages within a process by pointer; rclcpp only",
        )  # fmt: skip
    add("--log", default="", metavar="DIR", help="write the nodes' own stamps there, as CSV")
    add("--force", action="store_true", help="replace stamps that are in DIR already")
    add("--work", type=_work, action="append", default=[], metavar="NODE=MS",
        help="keep the CPU busy for MS ms in NODE's callback, before it publishes; repeatable",
        )  # fmt: skip
    add("--block", type=_block, metavar="NODE=MS@HZ",
        help="subscribe NODE to /slow too, with a callback that blocks its executor for MS ms; "
        "a node `distractor` publishes there at HZ",
        )  # fmt: skip
    return parser


def parse(arguments: list[str]) -> ChainOptions:
    """Parse the command line; exits with 2 when it is wrong."""
    parser = _parser()
    values = vars(parser.parse_args(arguments))
    options = ChainOptions(**{**values, "work": dict(values["work"])})
    named = [*options.work, *([options.block.node] if options.block else [])]
    for node in named:
        if node not in options.nodes:
            parser.error(f"no node {node!r}: the chain has {', '.join(options.nodes)}")
    if options.message == "fixed" and options.payload not in FIXED:
        parser.error(f"--message fixed needs a --payload of {fixed_sizes()}, not {options.payload}")
    if options.threads and options.executor != "multi":
        parser.error(f"--threads {options.threads} needs --executor multi")
    if options.client == "rclpy" and (options.intra_process or options.executor == "events"):
        named_option = "--intra-process" if options.intra_process else "--executor events"
        parser.error(f"{named_option} needs --client rclcpp")
    return options
