# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Event tables from a few readable lines, for tests of the model and the layers.

    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="on_message")
    scene.play('''
        100 1.1 rmw_publish /t 100      time, process.thread, event, its entity, source timestamp
        150 2.2 ready
        160 2.2 execute on_message
        170 2.2 rmw_take on_message 100
        180 2.2 callback_start on_message
        190 2.2 callback_end on_message
    ''')
    tables = scene.tables()

Those by which rclpy suspends and resumes a coroutine callback number its execution:

    190 2.2 callback_suspend on_message 1

Events of service calls name their client or service, and, where they carry one, the client whose
GID it is:

    100 1.1 rmw_send_request ana 1                client, sequence number
    110 2.2 rmw_take_request on_add ana 1         service, client, sequence number
    120 2.2 rmw_send_response on_add ana 1 120    .. and source timestamp
    130 1.1 rmw_take_response ana 1 120           client, sequence number, source timestamp

``wait 0`` waits for no time, ``wait`` for ever. Init events lie before time 0. An entity is named
by its topic (publisher) or symbol (subscription, timer). ``rclpy_publish`` is the rclcpp_publish by
which rclpy names its publisher. ``unknown`` as entity gives a handle that no init event introduced.
Events of the middleware take ``key=value``; see `_middleware`. Those of drivers do too:

    100 1.1 packet_received source=1 sequence=0 queue_ns=5
    110 1.1 frame_boundary source=1 frame=0 packets=1 first_sequence=0 last_sequence=0
    120 1.1 cloud_ready source=1 frame=0
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from strata.engine.windows import NO_LOSSES, Windows
from strata.model.build import Model
from strata.model.of_tables import model_of_tables
from strata.read.columns import declared_schema
from strata.schema.event import Kind
from strata.schema.events import CATALOGUE

_SHORT = {
    "wait": "rclcpp_executor_wait_for_work",
    "ready": "rclcpp_executor_get_next_ready",
    "execute": "rclcpp_executor_execute",
    "rclpy_publish": "rclcpp_publish",
}


_OF_CALLS = {
    "rmw_send_request": "client",
    "rmw_take_request": "service",
    "rmw_send_response": "service",
    "rmw_take_response": "client",
}


@dataclass
class Scene:
    """Collects events; handles are numbers that are never used twice unless asked for."""

    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    entities: dict[str, dict[str, int]] = field(default_factory=dict)
    clock: int = -1_000_000
    handle: int = 1000
    provider: str = "ros2"

    def publisher(self, topic: str, *, node: str, pid: int) -> None:
        """Add a publisher, named by its topic in runtime lines (and by topic and node)."""
        handles = self._endpoint("publisher", topic, node, pid)
        self.entities[topic] = self.entities[f"{node}{topic}"] = handles

    def subscription(self, topic: str, *, node: str, pid: int, symbol: str) -> None:
        """Add a subscription with its callback, named by the callback's symbol."""
        handles = self._endpoint("subscription", topic, node, pid)
        handles |= {"callback": self._new()}
        subscription = self._new()
        self._add(
            "rclcpp_subscription_init",
            pid,
            subscription_handle=handles["handle"],
            subscription=subscription,
        )
        self._add(
            "rclcpp_subscription_callback_added",
            pid,
            subscription=subscription,
            callback=handles["callback"],
        )
        self._add("rclcpp_callback_register", pid, callback=handles["callback"], symbol=symbol)
        self.entities[symbol] = handles

    def timer(self, *, node: str, pid: int, symbol: str, period: int = 10_000_000) -> None:
        """Add a timer with its callback, named by the callback's symbol."""
        handle, callback = self._new(), self._new()
        self._add("rcl_timer_init", pid, timer_handle=handle, period=period)
        self._add("rclcpp_timer_callback_added", pid, timer_handle=handle, callback=callback)
        self._add("rclcpp_callback_register", pid, callback=callback, symbol=symbol)
        self._add(
            "rclcpp_timer_link_node", pid, timer_handle=handle, node_handle=self._node(node, pid)
        )
        self.entities[symbol] = {"handle": handle, "callback": callback}

    def service(self, name: str, *, node: str, pid: int, symbol: str) -> None:
        """Add a service with its callback, named by the callback's symbol."""
        handles = self._named_endpoint("service", name, node, pid)
        handles["callback"] = self._new()
        self._add(
            "rclcpp_service_callback_added",
            pid,
            service_handle=handles["handle"],
            callback=handles["callback"],
        )
        self._add("rclcpp_callback_register", pid, callback=handles["callback"], symbol=symbol)
        self.entities[symbol] = handles

    def client(
        self,
        key: str,
        name: str,
        *,
        node: str,
        pid: int,
        at: int | None = None,
        like: str = "",
        known: bool = True,
    ) -> None:
        """Add a client of a service, named by `key`, from which its GID is made.

        `like` names one whose handle it gets, `at` is when; not `known`: without init events.
        """
        begun, self.clock = self.clock, self.clock if at is None else at
        handles = {"handle": self._new(), "rmw_handle": self._new()}
        if like:
            handles = self.entities[like]
        if known:
            gid = guid(key)
            self._add("rmw_client_init", pid, rmw_client_handle=handles["rmw_handle"], gid=gid)
            self._named_endpoint("client", name, node, pid, handles)
        self.entities[key] = handles
        self.clock = max(begun, self.clock) if at is None else begun

    def _named_endpoint(
        self, what: str, name: str, node: str, pid: int, handles: dict[str, int] | None = None
    ) -> dict[str, int]:
        handles = handles or {"handle": self._new(), "rmw_handle": self._new()}
        fields: dict[str, Any] = {
            f"{what}_handle": handles["handle"],
            "node_handle": self._node(node, pid),
            f"rmw_{what}_handle": handles["rmw_handle"],
            "service_name": name,
        }
        self._add(f"rcl_{what}_init", pid, **fields)
        return handles

    def play(self, lines: str) -> None:
        """Add runtime events, one a line; text after the last argument is a comment."""
        for line in filter(None, map(str.strip, lines.splitlines())):
            ns, thread, name, *rest = line.split()
            pid, tid = map(int, thread.split("."))
            if f"driver:{name}" in CATALOGUE:
                given = {key: int(value) for key, value in (item.split("=") for item in rest)}
                self._driver(int(ns), pid, tid, name, given)
            elif f"rclpy:{name}" in CATALOGUE:
                self.provider = "rclpy"
                fields = {"callback": self.entities[rest[0]]["callback"], "execution": int(rest[1])}
                self._row(name, int(ns), pid, tid, fields)
                self.provider = "ros2"
            elif f"dds:{name}" in CATALOGUE:
                self._middleware(int(ns), pid, tid, name, rest)
            else:
                self._runtime(int(ns), pid, tid, name, rest)

    def source(self, number: int, *, pid: int, kind: str, name: str = "", address: str) -> None:
        """Add a source of sensor data; `source=NUMBER` names it in later lines."""
        self.clock += 1
        fields = {"source": number, "kind": kind, "name": name, "address": address}
        self._driver(self.clock, pid, pid, "source_init", fields)

    def _driver(self, ns: int, pid: int, tid: int, name: str, given: dict[str, Any]) -> None:
        declared = CATALOGUE[f"driver:{name}"].fields
        fields = {field.name: "" if field.kind is Kind.STRING else 0 for field in declared}
        fields |= {key: -1 for key in ("queue_ns", "pts_ns") if key in fields}
        self.provider = "driver"
        self._row(name, ns, pid, tid, fields | given)
        self.provider = "ros2"

    def reader(self, name: str, *, pid: int) -> None:
        """Add a DDS reader; `reader=NAME` names it in later lines."""
        self.entities[name] = {"reader": self._new()}
        fields = self.entities[name] | {
            "gid_prefix": guid(name)[:12],
            "gid_entity": guid(name)[12:],
        }
        self.clock += 1
        self._middleware_row("create_reader", self.clock, pid, pid, fields)

    def _middleware(self, ns: int, pid: int, tid: int, name: str, rest: list[str]) -> None:
        """Add an event of the middleware; `sample=A5` is the fifth sample of writer A."""
        given = dict(item.split("=") for item in rest if "=" in item)
        fields: dict[str, Any] = {}
        if "sample" in given:
            sample = given.pop("sample")
            fields = {"writer_guid": guid(sample[0]), "sequence_number": int(sample[1:])}
        if "stamp" in given:
            fields["source_timestamp"] = int(given.pop("stamp"))
        if "reader" in given:
            reader = given.pop("reader")
            known = self.entities.get(reader, {"reader": 7})
            key = "reader_guid" if name == "reader_notify" else "reader"
            fields[key] = guid(reader) if name == "reader_notify" else known["reader"]
        fields |= {key: int(value) for key, value in given.items()}
        self._middleware_row(name, ns, pid, tid, fields)

    def _middleware_row(
        self, name: str, ns: int, pid: int, tid: int, fields: dict[str, Any]
    ) -> None:
        empty = {Kind.BYTES: bytes(16), Kind.STRING: ""}
        declared = CATALOGUE[f"dds:{name}"].fields
        whole = {item.column or item.name: empty.get(item.kind, 0) for item in declared}
        self.provider = "dds"
        self._row(name, ns, pid, tid, whole | fields)
        self.provider = "ros2"

    def tables(self) -> dict[str, pa.Table]:
        """Return the event tables."""
        out = {}
        for event, rows in self.rows.items():
            schema = declared_schema(event, {})
            ordered = sorted(rows, key=lambda row: row["timestamp"])
            plain = pa.schema(
                [
                    pa.field(item.name, pa.string()) if pa.types.is_dictionary(item.type) else item
                    for item in schema
                ]
            )
            out[event] = pa.Table.from_pylist(ordered, schema=plain).cast(schema)
        return out

    def model(self, losses: Windows = NO_LOSSES) -> Model:
        """Return the model."""
        return model_of_tables(self.tables(), losses)

    def _runtime(self, ns: int, pid: int, tid: int, name: str, rest: list[str]) -> None:
        event = _SHORT.get(name, name)
        if event in _OF_CALLS:
            self._row(event, ns, pid, tid, self._call_fields(event, rest))
            return
        stamp = int(rest[1]) if len(rest) > 1 and rest[1].lstrip("-").isdigit() else 0
        handles = self.entities.get(rest[0], {}) if rest else {}
        unknown = {"handle": 7, "rmw_handle": 8, "callback": 9}
        named = handles or unknown
        fields: dict[str, Any] = {}
        if event == "rmw_publish":
            fields = {"rmw_publisher_handle": named["rmw_handle"], "source_timestamp": stamp}
        elif event == "rcl_publish":
            fields = {"publisher_handle": named["handle"]}
        elif name == "rclpy_publish":
            fields = {"message": named["handle"]}
        elif event == "rmw_take":
            taken = 0 if "empty" in rest else 1
            fields = {
                "rmw_subscription_handle": named["rmw_handle"],
                "source_timestamp": stamp,
                "taken": taken,
            }
        elif event == "rclcpp_executor_execute":
            fields = {"handle": named["handle"]}
        elif event in ("callback_start", "callback_end"):
            fields = {"callback": named["callback"]}
            if event == "callback_start":
                fields["is_intra_process"] = 0
        elif event == "rclcpp_executor_wait_for_work":
            fields = {"timeout": int(rest[0]) if rest and rest[0].isdigit() else -1}
        self._row(event, ns, pid, tid, fields)

    def _call_fields(self, event: str, rest: list[str]) -> dict[str, Any]:
        """Fields of `OWNER [CLIENT] SEQUENCE [STAMP]`; CLIENT where the event has a GID."""
        owner, names = _OF_CALLS[event], list(rest)
        handle = self.entities.get(names.pop(0), {"rmw_handle": 8})["rmw_handle"]
        fields: dict[str, Any] = {f"rmw_{owner}_handle": handle}
        if owner == "service":
            fields["client_gid"] = guid(names.pop(0))
        fields["sequence_number"] = int(names.pop(0))
        if "take" in event:
            fields["taken"] = 0 if "empty" in names else 1
        if "response" in event:
            fields["source_timestamp"] = int(names[0])
        return fields

    def _endpoint(self, what: str, topic: str, node: str, pid: int) -> dict[str, int]:
        handles = {"handle": self._new(), "rmw_handle": self._new()}
        fields: dict[str, Any] = {
            f"{what}_handle": handles["handle"],
            "node_handle": self._node(node, pid),
            f"rmw_{what}_handle": handles["rmw_handle"],
            "topic_name": topic,
            "queue_depth": 10,
        }
        self._add(f"rcl_{what}_init", pid, **fields)
        return handles

    def _node(self, name: str, pid: int) -> int:
        if name not in self.nodes:
            self.nodes[name] = self._new()
            space, _, base = name.rpartition("/")
            self._add(
                "rcl_node_init",
                pid,
                node_handle=self.nodes[name],
                namespace=space or "/",
                node_name=base,
            )
        return self.nodes[name]

    def _new(self) -> int:
        self.handle += 1
        return self.handle

    def _add(self, event: str, pid: int, **fields: Any) -> None:
        self.clock += 1
        self._row(event, self.clock, pid, pid, fields)

    def _row(self, event: str, ns: int, pid: int, tid: int, fields: dict[str, Any]) -> None:
        row = {"timestamp": ns + BASE, "host": "h", "vpid": pid, "vtid": tid, "procname": "p"}
        if fields.get("source_timestamp"):
            fields["source_timestamp"] += BASE
        self.rows.setdefault(f"{self.provider}:{event}", []).append(row | fields)


def guid(name: str) -> bytes:
    """Return the GUID of a writer or reader of a scene."""
    return hashlib.sha256(name.encode()).digest()[:15] + b"\x03"


BASE = 1_700_000_000_000_000_000
"""Time 0 of a scene, ns since the epoch."""
