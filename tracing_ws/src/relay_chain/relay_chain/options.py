# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of the chain."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Block:
    """A second subscription whose callback blocks: on which node, how long, how often."""

    node: str
    ms: float
    hz: float


@dataclass(frozen=True)
class ChainOptions:
    """What to run."""

    relays: int = 3
    rate: float = 100.0
    messages: int = 500
    payload: int = 1024
    reliability: str = "reliable"
    durability: str = "volatile"
    depth: int = 10
    executor: str = "single"
    threads: int = 0
    processes: str = "each"
    log: str = ""
    work: dict[str, float] = field(default_factory=dict)
    block: Block | None = None

    @property
    def nodes(self) -> list[str]:
        """Names of the chain's nodes, in order."""
        return ["source", *(f"relay_{index}" for index in range(self.relays)), "sink"]


def _work(text: str) -> tuple[str, float]:
    node, _, ms = text.partition("=")
    return node, _positive(ms)


def _block(text: str) -> Block:
    node, _, rest = text.partition("=")
    ms, _, hz = rest.partition("@")
    return Block(node, _positive(ms), _positive(hz))


def _positive(text: str) -> float:
    value = float(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return value


def parse(arguments: list[str]) -> ChainOptions:
    """Parse the command line; exits with 2 when it is wrong."""
    parser = argparse.ArgumentParser(
        prog="relay_chain", description="Run Source -> Relay_0 .. Relay_n -> Sink."
    )
    add = parser.add_argument
    add("--relays", type=_count, default=3, help="relays between source and sink")
    add("--rate", type=_positive, default=100.0, help="messages a second")
    add("--messages", type=_count, default=500, help="messages in all")
    add("--payload", type=_count, default=1024, help="bytes of ballast in a message")
    add("--reliability", choices=["reliable", "best_effort"], default="reliable")
    add("--durability", choices=["volatile", "transient_local"], default="volatile")
    add("--depth", type=_count, default=10, help="messages kept by the QoS history")
    add("--executor", choices=["single", "multi"], default="single", help="threads of an executor")
    add("--threads", type=_count, default=0, help="threads of a multi-threaded executor; 0: CPUs")
    add("--processes", choices=["one", "each"], default="each", help="all in one, or one a node")
    add("--log", default="", help="directory for the nodes' own stamps (CSV)")
    add("--work", type=_work, action="append", default=[], metavar="NODE=MS",
        help="busy work in that node's callback")  # fmt: skip
    add("--block", type=_block, metavar="NODE=MS@HZ",
        help="a second subscription on NODE whose callback sleeps MS, fed at HZ")  # fmt: skip
    values = vars(parser.parse_args(arguments))
    options = ChainOptions(**{**values, "work": dict(values["work"])})
    named = [*options.work, *([options.block.node] if options.block else [])]
    for node in named:
        if node not in options.nodes:
            parser.error(f"no node {node}: the chain has {', '.join(options.nodes)}")
    return options
