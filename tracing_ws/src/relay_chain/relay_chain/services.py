# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of a chain of services: caller -> forwarder_0 .. forwarder_n -> responder.

The caller calls at a rate. A forwarder serves a call by calling the next service; the responder
serves the last. Parameters beside those of all (nodes.py): caller: service (that it calls), rate
(Hz), messages (calls), timeout_s (how long it waits for answers after its last call), peers.
Forwarder: input (the service that it serves), output (the one that it calls), answers (at_once, or
after_next: when it has the answer of the next). Responder: input, and those of receiver.py.
Reliability, durability, history and depth are those of the services.
"""

from __future__ import annotations

import array
import sys
import time
from typing import Any

from rclpy.callback_groups import (
    CallbackGroup,
    MutuallyExclusiveCallbackGroup,
    ReentrantCallbackGroup,
)
from rclpy.client import Client
from rclpy.task import Future
from strata_interfaces.msg import Timing
from strata_interfaces.srv import TimingCall

from relay_chain.node import LAST_QOS, LAST_TOPIC, ChainNode
from relay_chain.receiver import AFTER_LAST_NS, Receiver


class Requester(ChainNode):
    """A node that calls a service."""

    def make_client(self, service: str, group: CallbackGroup | None = None) -> Client:
        """Make the client."""
        client = self.create_client(TimingCall, service, qos_profile=self.qos, callback_group=group)
        self._client = client
        return client

    def missing(self) -> str | None:
        """Say that nobody serves; null when somebody does."""
        return None if self._client.service_is_ready() else f"no service {self._client.srv_name}"


class Caller(Requester):
    """Calls a service at a rate, once every peer is ready; done when it has every answer.

    It does not wait for an answer before the next call.
    """

    ends = True

    def __init__(self, name: str = "caller") -> None:
        """Make a caller."""
        super().__init__(name)
        self.make_client(self.setting("service", "/service_0"))
        self._messages = self.setting("messages", 500, least=1)
        self._period_s = self.hz("rate", 100.0)
        self._peers = self.setting("peers", 0, least=0)
        self._timeout_ns = round(self.setting("timeout_s", AFTER_LAST_NS / 1e9, least=0.0) * 1e9)
        self._payload = array.array("B", bytes(self.payload))
        self._round_trips: list[int | None] = []
        self._answered = 0
        self._last_ns = 0
        self._timer = None
        self._last_publisher = None
        if self.counts_losses:
            self._last_publisher = self.create_publisher(Timing, LAST_TOPIC, LAST_QOS)

    def missing(self) -> str | None:
        """Say which peers are not there or not ready; null when all are."""
        return super().missing() or self.missing_peers(self._peers)

    def begin(self) -> None:
        """Start the timer."""
        sys.stderr.write(f"{self.get_name()}: all connected, sending {self._messages} requests\n")
        self._timer = self.create_timer(self._period_s, self.on_timer)

    def on_timer(self) -> None:
        """Send the next request; after the last one wait for the answers."""
        started_ns = time.monotonic_ns()
        with self.calling:
            number = len(self._round_trips)
            if number == self._messages:
                if self.done.done() or started_ns - self._last_ns <= self._timeout_ns:
                    return
                self._end()
                return
            self._round_trips.append(None)
            request = TimingCall.Request(
                msgid=number, source=self.get_name(), payload=self._payload
            )
            self._last_ns = request.nanosec = stamp_ns = time.monotonic_ns()
            future = self._client.call_async(request)
            self.truth.add("cb_start", number, started_ns, stamp_ns)
            self.truth.add("request", number, stamp_ns, stamp_ns)
            self.truth.add("cb_end", number, time.monotonic_ns(), stamp_ns)
        future.add_done_callback(lambda done: self.on_answer(number, stamp_ns, done))
        if number + 1 == self._messages and self._last_publisher:
            self._last_publisher.publish(Timing(msgid=self._messages, source=self.get_name()))

    def on_answer(self, number: int, stamp_ns: int, future: Future) -> None:
        """Note a round trip."""
        at_ns = time.monotonic_ns()
        del future
        with self.calling:
            self._round_trips[number] = at_ns - stamp_ns
            self._answered += 1
            self.truth.add("response", number, at_ns, stamp_ns)
            if self._answered == self._messages:
                self._end()

    def _end(self) -> None:
        if self._timer:
            self._timer.cancel()
        self.finish()

    def says(self) -> str:
        """Say how many were answered."""
        return f"{self._answered} of {len(self._round_trips)} requests answered"

    def cut_short(self) -> bool:
        """Tell whether requests are still to be sent, or answers to come."""
        return not self.done.done()

    def summary(self) -> dict[str, Any]:
        """Give the round trips by number, in ns; null where no answer came."""
        sent = len(self._round_trips)
        return {
            "payload": self.payload,
            "rate": 1.0 / self._period_s,
            "sent": sent,
            "answered": self._answered,
            "lost": sent - self._answered,
            "round_trips_ns": self._round_trips,
        }


class Forwarder(Requester):
    """Serves a call by calling the next service.

    It answers at once, as the published chain does, or after the next one answered. Then a request
    waits in a coroutine: several may do so at once, and the group of the client is another one, so
    that its answers are not kept out by the requests that wait for them.
    """

    def __init__(self, name: str = "forwarder") -> None:
        """Make a forwarder."""
        super().__init__(name)
        waits = self.choice("answers", "at_once", "after_next") == "AFTER_NEXT"
        act = self.on_request_wait if waits else self.on_request
        self._service = self.create_service(
            TimingCall,
            self.setting("input", "/service_0"),
            act,
            qos_profile=self.qos,
            callback_group=ReentrantCallbackGroup() if waits else None,
        )
        group = MutuallyExclusiveCallbackGroup() if waits else None
        self.make_client(self.setting("output", "/service_1"), group)

    def on_request(
        self, request: TimingCall.Request, response: TimingCall.Response
    ) -> TimingCall.Response:
        """Call the next service, and answer at once."""
        self._pass_on(request)
        response.msgid = request.msgid
        return response

    async def on_request_wait(
        self, request: TimingCall.Request, response: TimingCall.Response
    ) -> TimingCall.Response:
        """Call the next service, and answer when it did."""
        answer = await self._pass_on(request)
        response.msgid = answer.msgid
        return response

    def _pass_on(self, request: TimingCall.Request) -> Future:
        started_ns = time.monotonic_ns()
        with self.calling:
            self.work()
            stamp_ns = time.monotonic_ns()
            future = self._client.call_async(request)
            self.truth.add("cb_start", request.msgid, started_ns, request.nanosec)
            self.truth.add("request", request.msgid, stamp_ns, request.nanosec)
            self.truth.add("cb_end", request.msgid, time.monotonic_ns(), request.nanosec)
        return future


class Responder(Receiver):
    """Serves the last call of a chain; done when it has every request, or when they stopped."""

    what = "requests"

    def __init__(self, name: str = "responder") -> None:
        """Make a responder."""
        super().__init__(name)
        self._service = self.create_service(
            TimingCall, self.setting("input", "/service_1"), self.on_request, qos_profile=self.qos
        )

    def on_request(
        self, request: TimingCall.Request, response: TimingCall.Response
    ) -> TimingCall.Response:
        """Count a request and answer it."""
        started_ns = time.monotonic_ns()
        with self.calling:
            self.work()
            response.msgid = request.msgid
            self.truth.add("cb_start", request.msgid, started_ns, request.nanosec)
            self.truth.add("cb_end", request.msgid, time.monotonic_ns(), request.nanosec)
            self.receive(request.msgid, started_ns, len(request.payload))
        return response
