# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes with intra-process communication and message links.

scene = IntraScene()
scene.publisher("/t", node="/source", pid=1)
scene.ring("/t", node="/sink", pid=1, symbol="on_t")
scene.play('''
    100 1.1 rclcpp_intra_publish /t
    101 1.1 enqueue on_t 0 1            slot, messages in the buffer, [overwritten]
    110 1.2 dequeue on_t 0 0            slot, messages left
    112 1.2 callback_start on_t intra
    120 1.2 callback_end on_t
''')
"""

from __future__ import annotations

from typing import Any

from scene import Scene


class IntraScene(Scene):
    """A scene whose subscriptions may have a ring buffer."""

    def ring(self, topic: str, *, node: str, pid: int, symbol: str, capacity: int = 10) -> None:
        """Add a subscription that takes from the middleware and from a ring buffer.

        Its two callbacks are named `symbol` and `symbol`.dds, as rclcpp registers two.
        """
        handles = self._endpoint("subscription", topic, node, pid)
        buffer, ipb, within, outside = (self._new() for _ in range(4))
        inner, outer = self._new(), self._new()
        # In the order of rclcpp: buffer, links, callback, and only then the subscription.
        self._add("rclcpp_construct_ring_buffer", pid, buffer=buffer, capacity=capacity)
        self._add("rclcpp_buffer_to_ipb", pid, buffer=buffer, ipb=ipb)
        self._add("rclcpp_ipb_to_subscription", pid, ipb=ipb, subscription=within)
        self._add("rclcpp_subscription_callback_added", pid, subscription=within, callback=inner)
        self._add("rclcpp_callback_register", pid, callback=inner, symbol=symbol)
        for subscription in (within, outside):
            self._add(
                "rclcpp_subscription_init",
                pid,
                subscription_handle=handles["handle"],
                subscription=subscription,
            )
        self._add("rclcpp_subscription_callback_added", pid, subscription=outside, callback=outer)
        self._add("rclcpp_callback_register", pid, callback=outer, symbol=f"{symbol}.dds")
        self.entities[symbol] = handles | {"callback": inner, "buffer": buffer}
        self.entities[f"{symbol}.dds"] = handles | {"callback": outer, "buffer": buffer}

    def own_buffer(self, name: str, *, pid: int) -> None:
        """Add a publisher's own buffer, which no subscription reads (transient local)."""
        buffer = self._new()
        self._add("rclcpp_construct_ring_buffer", pid, buffer=buffer, capacity=10)
        self._add("rclcpp_buffer_to_ipb", pid, buffer=buffer, ipb=self._new())
        self.entities[name] = {"buffer": buffer}

    def link(self, kind: str, *, pid: int, subs: list[str], pubs: list[str]) -> None:
        """Add the annotation message_link_`kind`."""
        self._add(
            f"message_link_{kind}",
            pid,
            subs=[self.entities[name]["handle"] for name in subs],
            pubs=[self.entities[name]["handle"] for name in pubs],
        )

    def _runtime(self, ns: int, pid: int, tid: int, name: str, rest: list[str]) -> None:
        fields: dict[str, Any]
        if name in ("enqueue", "dequeue"):
            fields = {"buffer": self.entities.get(rest[0], {"buffer": 5})["buffer"]}
            fields |= {"index": int(rest[1]), "size": int(rest[2])}
            if name == "enqueue":
                fields["overwritten"] = int("overwritten" in rest)
            self._row(f"rclcpp_ring_buffer_{name}", ns, pid, tid, fields)
        elif name == "rclcpp_intra_publish":
            handle = self.entities.get(rest[0], {"handle": 7})["handle"]
            self._row(name, ns, pid, tid, {"publisher_handle": handle})
        elif name == "callback_start" and "intra" in rest:
            callback = self.entities[rest[0]]["callback"]
            self._row(name, ns, pid, tid, {"callback": callback, "is_intra_process": 1})
        else:
            super()._runtime(ns, pid, tid, name, rest)
