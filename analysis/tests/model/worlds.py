# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Random ROS systems: what happened in them, and the events that a trace would hold of it.

    happened = draw(worlds())            processes, endpoints, and what each published and took
    record(happened)                     the events, as the model reads them, with the truth beside
    record(...).without(drops)           the same with events lost

A world is plain data: a list of what happens, each with its time. `record` turns it into event rows
that carry, in `truth`, which publication each publication and take is. What is not a transfer
through the middleware (ring buffers, services) can be added as further kinds of `Step`, with a
function like `_publish` or `_take` that writes its events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import pyarrow as pa
from hypothesis import strategies as st

from strata.engine.windows import NO_LOSSES, Windows
from strata.model.build import Model
from strata.model.of_tables import model_of_tables
from strata.read.columns import declared_schema

START = 1_700_000_000_000_000_000
"""Time 0 of a world, ns since the epoch."""

_STEP_NS = 1_000_000
_ADDRESSES = 4
_TOPICS = ("/a", "/b")

Row = dict[str, Any]


@dataclass(frozen=True)
class Endpoint:
    """A publisher or subscription. Addresses are few, so that they are used again."""

    number: int
    kind: str
    process: int
    domain: int
    topic: str
    address: int
    depth: int
    born_ns: int


@dataclass(frozen=True)
class Step:
    """A publication, a take of publication `message`, or an empty take (`message` is None)."""

    kind: str
    at_ns: int
    thread: int
    endpoint: Endpoint
    message: int | None
    stamp: int = 0


@dataclass(frozen=True)
class World:
    """What happened; `steps` are in order of time, messages are numbered in that order."""

    endpoints: tuple[Endpoint, ...]
    steps: tuple[Step, ...]

    def stamps(self) -> dict[int, tuple[str, int]]:
        """Return topic and stamp of each message."""
        return {
            step.message: (step.endpoint.topic, step.stamp)
            for step in self.steps
            if step.kind == "publish" and step.message is not None
        }


@dataclass(frozen=True)
class Recording:
    """Event rows by name; each row may say in `truth` which message it is of."""

    rows: dict[str, list[Row]]
    world: World

    def without(self, lost: Callable[[str, Row], bool]) -> Recording:
        """Return the recording without the rows that are lost."""
        kept = {
            event: [row for row in rows if not lost(event, row)]
            for event, rows in self.rows.items()
        }
        return replace(self, rows={event: rows for event, rows in kept.items() if rows})

    def changed(self, change: Callable[[str, Row], Row]) -> Recording:
        """Return the recording with each row changed."""
        return replace(
            self,
            rows={event: [change(event, row) for row in rows] for event, rows in self.rows.items()},
        )

    def shuffled(self, order: list[int]) -> Recording:
        """Return the recording with rows of equal time in another order."""
        return replace(
            self,
            rows={
                event: [
                    row
                    for _, row in sorted(
                        zip(_cycled(order, rows), rows, strict=True), key=lambda item: item[0]
                    )
                ]
                for event, rows in self.rows.items()
            },
        )

    def tables(self) -> dict[str, pa.Table]:
        """Return the event tables, in order of time."""
        return {event: _table(event, rows) for event, rows in self.rows.items()}

    def model(self, losses: Windows = NO_LOSSES) -> Model:
        """Return the model and what it counted."""
        return model_of_tables(self.tables(), losses)

    def named(self, event: str) -> dict[tuple[int, int, int], int | None]:
        """Return the message of each row of an event, by process, thread and time."""
        return {
            (row["vpid"], row["vtid"], row["timestamp"]): row["truth"]
            for row in self.rows.get(event, [])
        }


def _cycled(order: list[int], rows: list[Row]) -> list[int]:
    return [order[at % len(order)] for at in range(len(rows))] if order else [0] * len(rows)


def _table(event: str, rows: list[Row]) -> pa.Table:
    schema = declared_schema(event, {})
    plain = pa.schema(
        pa.field(item.name, pa.string()) if pa.types.is_dictionary(item.type) else item
        for item in schema
    )
    known = [
        {key: value for key, value in row.items() if key != "truth"}
        for row in sorted(rows, key=lambda row: row["timestamp"])
    ]
    return pa.Table.from_pylist(known, schema=plain).cast(schema)


@dataclass
class _Recorder:
    rows: dict[str, list[Row]] = field(default_factory=dict)

    def add(self, event: str, at_ns: int, process: int, thread: int, **fields: Any) -> None:
        row = {
            "timestamp": START + at_ns,
            "host": "h",
            "vpid": 100 + process,
            "vtid": 1000 * (100 + process) + thread,
            "procname": "p",
            "truth": None,
        }
        self.rows.setdefault(f"ros2:{event}", []).append(row | fields)


def record(world: World) -> Recording:
    """Return the events of a world, none lost."""
    recorder = _Recorder()
    for process in sorted({endpoint.process for endpoint in world.endpoints}):
        recorder.add(
            "rcl_node_init",
            -10 * _STEP_NS,
            process,
            0,
            node_handle=1,
            namespace="/",
            node_name=f"n{process}",
        )
    for endpoint in world.endpoints:
        _init(recorder, endpoint)
    for step in world.steps:
        {"publish": _publish, "take": _take}[step.kind](recorder, step)
    return Recording(recorder.rows, world)


def _init(recorder: _Recorder, endpoint: Endpoint) -> None:
    what = endpoint.kind
    recorder.add(
        f"rcl_{what}_init",
        endpoint.born_ns,
        endpoint.process,
        0,
        **{
            f"{what}_handle": _rcl(endpoint),
            "node_handle": 1,
            f"rmw_{what}_handle": endpoint.address,
            "topic_name": endpoint.topic,
            "queue_depth": endpoint.depth,
        },
    )
    if what == "subscription":
        own = {"process": endpoint.process, "thread": 0}
        object_ = {"subscription": 0x2000 + endpoint.address}
        callback = {"callback": _callback(endpoint)}
        for after, event, fields in (
            (1, "rclcpp_subscription_init", object_ | {"subscription_handle": _rcl(endpoint)}),
            (2, "rclcpp_subscription_callback_added", object_ | callback),
            (3, "rclcpp_callback_register", callback | {"symbol": f"on{endpoint.topic}"}),
        ):
            recorder.add(event, endpoint.born_ns + after, **own, **fields)


def _callback(endpoint: Endpoint) -> int:
    return 0x3000 + endpoint.address


def _rcl(endpoint: Endpoint) -> int:
    return 0x1000 + endpoint.address


def _publish(recorder: _Recorder, step: Step) -> None:
    at, process, message = step.at_ns, step.endpoint.process, 0x9000 + step.thread
    own = {"process": process, "thread": step.thread, "message": message}
    recorder.add("rclcpp_publish", at - 800, **own)
    recorder.add("rcl_publish", at - 400, **own, publisher_handle=_rcl(step.endpoint))
    recorder.add(
        "rmw_publish",
        at,
        **own,
        rmw_publisher_handle=step.endpoint.address,
        source_timestamp=step.stamp,
        truth=step.message,
    )
    # What the thread does when publish has returned bounds it.
    recorder.add("rclcpp_executor_get_next_ready", at + 20_000, process, step.thread)


def _take(recorder: _Recorder, step: Step) -> None:
    taken = step.message is not None
    recorder.add(
        "rmw_take",
        step.at_ns,
        step.endpoint.process,
        step.thread,
        rmw_subscription_handle=step.endpoint.address,
        source_timestamp=step.stamp if taken else 0,
        taken=int(taken),
        truth=step.message,
    )
    if taken:
        own = {"process": step.endpoint.process, "thread": step.thread, "truth": step.message}
        callback = _callback(step.endpoint)
        recorder.add(
            "callback_start", step.at_ns + 500, **own, callback=callback, is_intra_process=0
        )
        recorder.add("callback_end", step.at_ns + 5000, **own, callback=callback)


class Choices(Protocol):
    """What chooses: random.Random does."""

    def randint(self, a: int, b: int, /) -> int:
        """Return one of a .. b."""

    def choice(self, seq: Sequence[Any], /) -> Any:
        """Return an element."""


@dataclass(frozen=True)
class _Drawn:
    """Choices that hypothesis makes, and makes simpler when a test fails."""

    draw: st.DrawFn

    def randint(self, a: int, b: int) -> int:
        return self.draw(st.integers(a, b))

    def choice(self, seq: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(seq))


@st.composite
def worlds(draw: st.DrawFn, *, collisions: bool = True, foreign: bool = True) -> World:
    """Draw a world; see `chosen_world`."""
    return chosen_world(_Drawn(draw), collisions=collisions, foreign=foreign)


def chosen_world(chance: Choices, *, collisions: bool = True, foreign: bool = True) -> World:
    """Return a world of a few processes, endpoints that come and go, and messages.

    With `collisions` two publications may get one stamp; with `foreign` processes may be of other
    domains, which use the same topics and never hear each other.
    """
    processes = chance.randint(1, 4)
    domains = [chance.choice([0, 0, 0, 1]) if foreign else 0 for _ in range(processes)]
    endpoints: list[Endpoint] = []
    steps: list[Step] = []
    queues: dict[int, list[int]] = {}
    alive: dict[tuple[str, int, int], Endpoint] = {}
    messages = clock = 0

    def create() -> None:
        process = chance.randint(0, processes - 1)
        kind = chance.choice(["publisher", "subscription"])
        made = Endpoint(
            len(endpoints),
            kind,
            process,
            domains[process],
            chance.choice(_TOPICS),
            16 * (1 + chance.randint(0, _ADDRESSES - 1)),
            chance.randint(1, 3),
            clock,
        )
        # A living endpoint of that address has been destroyed before.
        alive[kind, process, made.address] = made
        endpoints.append(made)
        queues[made.number] = []

    for _ in range(chance.randint(4, 8)):
        clock += 1000
        create()
    stamp_of: dict[int, int] = {}
    for _ in range(chance.randint(5, 40)):
        clock += _STEP_NS
        act = chance.choice(["publish", "publish", "take", "take", "take", "empty", "new"])
        if act == "new":
            create()
            continue
        kind = "publisher" if act == "publish" else "subscription"
        choice = sorted(
            (item for item in alive.values() if item.kind == kind), key=lambda item: item.number
        )
        if act == "take":
            choice = [item for item in choice if queues[item.number]]
        if not choice:
            continue
        endpoint, thread = chance.choice(choice), chance.randint(1, 2)
        if act == "publish":
            same = collisions and stamp_of and chance.randint(0, 2) == 0
            stamp = chance.choice(sorted(stamp_of.values())) if same else START + clock - 50
            steps.append(Step("publish", clock, thread, endpoint, messages, stamp))
            stamp_of[messages] = stamp
            for other in alive.values():
                if (other.kind, other.topic, other.domain) == (
                    "subscription",
                    endpoint.topic,
                    endpoint.domain,
                ):
                    queues[other.number] = [*queues[other.number], messages][-other.depth :]
            messages += 1
        elif act == "take" and queues[endpoint.number]:
            message = queues[endpoint.number].pop(0)
            steps.append(Step("take", clock, thread, endpoint, message, stamp_of[message]))
        else:
            steps.append(Step("take", clock, thread, endpoint, None))
    return World(tuple(endpoints), tuple(steps))


def steady_world(
    *,
    periods_ns: dict[str, int],
    count: int,
    jitter: list[int],
    delay: list[int],
    latency: list[int],
    offset: Callable[[int], int],
) -> World:
    """Return a world of periodic topics, each with a publisher and a subscription.

    `jitter`, `delay` (from rmw_publish to the stamp) and `latency` (to the take) are gone through
    again and again; `offset` is the clock of the stamps minus that of the events, by time.
    """
    endpoints, steps = [], []
    timed: list[tuple[int, str]] = []
    for topic, period in periods_ns.items():
        for at in range(count):
            wander = jitter[(at + len(timed)) % len(jitter)]
            timed.append((1_000_000 + at * period + wander, topic))
    for number, topic in enumerate(periods_ns):
        for kind in ("publisher", "subscription"):
            address = 16 * (1 + number)
            endpoints.append(
                Endpoint(len(endpoints), kind, int(kind == "subscription"), 0, topic, address, 9, 0)
            )
    of = {(item.kind, item.topic): item for item in endpoints}
    thread = {topic: 1 + number for number, topic in enumerate(periods_ns)}
    for message, (at_ns, topic) in enumerate(sorted(timed)):
        stamped = at_ns + delay[message % len(delay)]
        stamp = START + stamped + offset(stamped)
        taken = at_ns + latency[message % len(latency)]
        publisher, subscription = of["publisher", topic], of["subscription", topic]
        steps.append(Step("publish", at_ns, thread[topic], publisher, message, stamp))
        steps.append(Step("take", taken, thread[topic], subscription, message, stamp))
    return World(tuple(endpoints), tuple(sorted(steps, key=lambda step: step.at_ns)))


def as_humble(recording: Recording) -> Recording:
    """Return the recording as Humble and Iron make it: rmw_publish tells the message only."""
    gone = {"source_timestamp": None, "rmw_publisher_handle": None}
    return recording.changed(lambda event, row: row | gone if event == "ros2:rmw_publish" else row)
