# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A node at the end of a chain: it counts what it receives, and ends when it has everything.

Parameters beside those of all (nodes.py): messages (ends when it has them all; 0 where only the
node that sends knows how many), quiet_s (or when none came for that long after one).
"""

from __future__ import annotations

import time
from typing import Any

from strata_interfaces.msg import Timing

from relay_chain.node import LAST_QOS, LAST_TOPIC, ChainError, ChainNode
from relay_chain.reception import Reception

AFTER_LAST_NS = 2_000_000_000
"""How long a node that counts losses waits for more, once the last was sent."""


class Receiver(ChainNode):
    """Done when it has every message, or when they stopped coming."""

    ends = True
    what = "messages"
    """What it receives, in words."""

    def __init__(self, name: str) -> None:
        """Make the node."""
        super().__init__(name)
        messages = self.setting("messages", 500, least=0)
        if not (messages or self.counts_losses):
            raise ChainError(
                "Cannot use parameter messages: 0, where the source says how many it sent, needs "
                "losses count."
            )
        self._sent = messages or None
        self._quiet_ns = round(self.setting("quiet_s", 5.0, least=0.0) * 1e9)
        self._last_ns = 0
        self.reception = Reception()
        self._last = None
        if self.counts_losses:
            self._last = self.create_subscription(Timing, LAST_TOPIC, self.on_last, LAST_QOS)
        self._watch = self.create_timer(0.5, self.on_watch)

    def missing(self) -> str | None:
        """Say that nobody publishes on /chain_last; null when somebody does."""
        if self._last and not self._last.get_publisher_count():
            return f"no publisher on {self._last.topic_name}"
        return None

    def receive(self, number: int, started_ns: int, size: int) -> None:
        """Count message `number`, with a payload of `size` bytes; call it with `calling` held."""
        self._last_ns = started_ns
        self.reception.receive(number, started_ns, size)
        self._look()

    def on_last(self, message: Timing) -> None:
        """Learn how many messages were sent."""
        with self.calling:
            self._sent = message.msgid
            self._quiet_ns = AFTER_LAST_NS
            self._last_ns = time.monotonic_ns()
            self._look()

    def _look(self) -> None:
        if self._sent is not None and self.reception.count >= self._sent:
            self.finish()

    def on_watch(self) -> None:
        """End when no message came for long after one."""
        if not self._last_ns or time.monotonic_ns() - self._last_ns <= self._quiet_ns:
            return
        if self.counts_losses:
            self.finish()
            return
        self.finish(
            f"Cannot receive every message: {self.reception.count} of {self._sent} came, then none "
            f"for {self._quiet_ns / 1e9:g} s. Lower the rate or the work, or raise the depth."
        )

    def says(self) -> str:
        """Say how many came."""
        of = "" if self._sent is None else f" of {self._sent}"
        return f"received {self.reception.count}{of} {self.what}"

    def cut_short(self) -> bool:
        """Tell whether messages are still to come."""
        if self.counts_losses:
            return not self.done.done()
        return self.reception.count < (self._sent or 0)

    def summary(self) -> dict[str, Any]:
        """Give what was received; times are those of the callbacks."""
        return self.reception.as_json(self._sent)
