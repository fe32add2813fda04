# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The node `ping`: sends a message, waits for its return, sends the next. A relay is its `pong`.

Parameters beside those of all (nodes.py): output, input, messages, rate (Hz, at most), timeout_s
(after which a ping that did not return is lost), peers, listeners.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from relay_chain.nodes import Starter


class Ping(Starter):
    """Measures round trips by its own clock; done when every ping returned or was given up.

    The next ping goes out in a timer's callback, not in that of the return: the second would make
    one chain of all of them.
    """

    ends = True

    def __init__(self, name: str = "ping") -> None:
        """Make a ping."""
        super().__init__(name, "/ping")
        self._messages = self.setting("messages", 500, least=1)
        self._period_s = self.hz("rate", 50.0)
        self._timeout_ns = round(self.setting("timeout_s", 5.0, least=0.0) * 1e9)
        self._sent_ns: list[int] = []
        self._round_trips: list[int | None] = []
        self._late = 0
        self._waiting = False
        self._subscription = self.create_subscription(
            self.message_class, self.setting("input", "/pong"), self.on_return, self.qos
        )

    def missing(self) -> str | None:
        """Say which peer is not there; null when all are."""
        missing = super().missing()
        if not missing and not self._subscription.get_publisher_count():
            return f"no publisher on {self._subscription.topic_name}"
        return missing

    def begin(self) -> None:
        """Start the timer."""
        sys.stderr.write(f"{self.get_name()}: all connected, sending {self._messages} pings\n")
        self._timer = self.create_timer(self._period_s, self.on_timer)

    def on_timer(self) -> None:
        """Send the next ping, unless one is under way."""
        with self.calling:
            if self._timer.is_canceled():
                return
            if self._waiting:
                if time.monotonic_ns() - self._sent_ns[-1] <= self._timeout_ns:
                    return
                self._waiting = False
            if len(self._sent_ns) == self._messages:
                self._timer.cancel()
                self.finish()
                return
            number = len(self._sent_ns)
            self._round_trips.append(None)
            self._waiting = True
            self._sent_ns.append(0)
            self._sent_ns[number] = stamp_ns = self.send(number)
            self.truth.add("publish", number, stamp_ns, stamp_ns)

    def on_return(self, message: Any) -> None:
        """Note a round trip."""
        started_ns = time.monotonic_ns()
        with self.calling:
            number = message.msgid
            if not self._waiting or number != len(self._sent_ns) - 1:
                self._late += 1
                return
            self._waiting = False
            self._round_trips[number] = started_ns - message.nanosec
            self.work()
            self.truth.add("cb_start", number, started_ns, message.nanosec)
            self.truth.add("cb_end", number, time.monotonic_ns(), message.nanosec)

    @property
    def _returned(self) -> int:
        return sum(trip is not None for trip in self._round_trips)

    def says(self) -> str:
        """Say how many returned."""
        return f"{self._returned} of {len(self._sent_ns)} pings returned"

    def cut_short(self) -> bool:
        """Tell whether pings are still to be sent, or to return."""
        return not self.done.done()

    def summary(self) -> dict[str, Any]:
        """Give the round trips by number, in ns; null where one was lost."""
        return {
            "payload": self.payload,
            "rate": 1.0 / self._period_s,
            "sent": len(self._sent_ns),
            "returned": self._returned,
            "lost": len(self._sent_ns) - self._returned - self._waiting,
            "late": self._late,
            "round_trips_ns": self._round_trips,
        }
