# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A long trace of several robots, written as CTF in about a second: 100,000 messages.

Each robot has a namespace of its own; the nodes that watch them are in another one:

    /robot_0/camera -> /robot_0/filter -> /robot_0/detector -> /robot_0/planner -> /station/watch_0

Filter and detector share a thread, and with it an executor, with a timer of /robot_0/logger that
runs for 11 ms before every fiftieth image is taken: that image waits behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scene import BASE, Scene
from written_trace import write_tables

Ints = npt.NDArray[np.int64]

PERIOD_NS = 20_000_000
BLOCKED_NS = 10_100_000
BLOCKED_EVERY = 50
TOPICS = [f"/robot_{{}}/{name}" for name in ("image", "filtered", "objects", "plan")]
NODES = [
    *(f"/robot_{{}}/{name}" for name in ("camera", "filter", "detector", "planner")),
    "/station/watch_{}",
]

_HEAD = """/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 32; align = 8; signed = true; } := s32;
typealias integer { size = 64; align = 8; signed = true; } := s64;
trace { major = 1; minor = 8; byte_order = le; };
env { hostname = "h"; };
clock { name = c; freq = 1000000000; };
stream {
  event.header := struct {
    u32 id; integer { size = 64; align = 8; map = clock.c.value; } t;
  };
  event.context := struct { s32 _vpid; s32 _vtid; string _procname; };
};
"""
_FIELDS = {
    "rclcpp_publish": ("message",),
    "rcl_publish": ("publisher_handle", "message"),
    "rmw_publish": ("rmw_publisher_handle", "message", "timestamp"),
    "rclcpp_executor_wait_for_work": ("timeout",),
    "rclcpp_executor_get_next_ready": (),
    "rclcpp_executor_execute": ("handle",),
    "rmw_take": ("rmw_subscription_handle", "message", "source_timestamp", "taken"),
    "callback_start": ("callback", "is_intra_process"),
    "callback_end": ("callback",),
}


@dataclass(frozen=True)
class Fleet:
    """What to make: of each robot so many images."""

    robots: int = 4
    images: int = 6_250
    seed: int = 3

    @property
    def messages(self) -> int:
        """How many messages all robots exchange."""
        return self.robots * self.images * len(TOPICS)


def write_fleet(directory: Path, fleet: Fleet) -> Path:
    """Write the trace and return its directory."""
    random = np.random.default_rng(fleet.seed)
    scene = Scene()
    writer = _Writer(directory / "run")
    for robot in range(fleet.robots):
        _introduce(scene, robot)
        _drive(scene, writer, robot, fleet.images, random)
    write_tables(directory / "init", scene.tables())
    writer.finish()
    return directory


def _introduce(scene: Scene, robot: int) -> None:
    camera, filter_, detector, planner, watch = (name.format(robot) for name in NODES)
    image, filtered, objects, plan = (name.format(robot) for name in TOPICS)
    first = _first_pid(robot)
    scene.publisher(image, node=camera, pid=first)
    scene.subscription(image, node=filter_, pid=first + 1, symbol=f"Filter{robot}::on_image")
    scene.publisher(filtered, node=filter_, pid=first + 1)
    scene.subscription(filtered, node=detector, pid=first + 1, symbol=f"Detector{robot}::detect")
    scene.publisher(objects, node=detector, pid=first + 1)
    scene.timer(
        node=f"/robot_{robot}/logger",
        pid=first + 1,
        symbol=f"Logger{robot}::flush",
        period=BLOCKED_EVERY * PERIOD_NS,
    )
    scene.subscription(objects, node=planner, pid=first + 2, symbol=f"Planner{robot}::make_plan")
    scene.publisher(plan, node=planner, pid=first + 2)
    scene.subscription(plan, node=watch, pid=first + 3, symbol=f"Watch{robot}::on_plan")


def _first_pid(robot: int) -> int:
    return 100 + 10 * robot


class _Writer:
    """Writes runtime events; those of one class and process are a stream file of their own."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True)
        self._count = 0

    def add(self, event: str, pid: int, name: str, ns: Ints, fields: Mapping[str, object]) -> None:
        """Add events of one class of a process with one thread, in order of time."""
        kind = [("id", "<u4"), ("t", "<i8"), ("vpid", "<i4"), ("vtid", "<i4")]
        kind += [("procname", f"S{len(name) + 1}")]
        kind += [(field, "<i8") for field in _FIELDS[event]]
        rows = np.zeros(len(ns), np.dtype(kind))
        rows["id"], rows["t"] = list(_FIELDS).index(event), ns + BASE
        rows["vpid"] = rows["vtid"] = pid
        rows["procname"] = name.encode()
        for field, values in fields.items():
            rows[field] = values
        order = np.argsort(rows["t"], kind="stable")
        (self._directory / f"stream_{self._count}").write_bytes(rows[order].tobytes())
        self._count += 1

    def finish(self) -> None:
        """Write what describes the events."""
        text = _HEAD
        for number, (event, fields) in enumerate(_FIELDS.items()):
            members = " ".join(f"s64 _{field};" for field in fields)
            text += (
                f'event {{ id = {number}; name = "ros2:{event}"; '
                f"fields := struct {{ {members} }}; }};\n"
            )
        (self._directory / "metadata").write_text(text)


class _Process:
    """The events of one process with one thread, collected by class."""

    def __init__(self, scene: Scene, pid: int, name: str) -> None:
        self._entities = scene.entities
        self._pid, self._name = pid, name
        self._rows: dict[str, list[tuple[Ints, dict[str, object]]]] = {}

    def add(self, event: str, ns: Ints, **fields: object) -> None:
        self._rows.setdefault(event, []).append((ns, fields))

    def publish(self, topic: str, ns: Ints) -> None:
        """Publish; `ns` is the source timestamp."""
        handles = self._entities[topic]
        message = 0x7F00_0000 + handles["handle"]
        self.add("rclcpp_publish", ns - 4_000, message=message)
        self.add("rcl_publish", ns - 2_000, publisher_handle=handles["handle"], message=message)
        self.add(
            "rmw_publish",
            ns,
            rmw_publisher_handle=handles["rmw_handle"],
            message=message,
            timestamp=ns + BASE,
        )

    def take(self, symbol: str, picked: Ints, sent: Ints) -> Ints:
        """Take messages that are picked at some times; returns when their callbacks start."""
        handles = self._entities[symbol]
        self.add("rclcpp_executor_get_next_ready", picked)
        self.add("rclcpp_executor_execute", picked + 1_000, handle=handles["handle"])
        self.add(
            "rmw_take",
            picked + 15_000,
            rmw_subscription_handle=handles["rmw_handle"],
            source_timestamp=sent + BASE,
            taken=1,
        )
        self.add("callback_start", picked + 18_000, callback=handles["callback"])
        return picked + 18_000

    def end(self, symbol: str, ns: Ints) -> None:
        self.add("callback_end", ns, callback=self._entities[symbol]["callback"])

    def wait(self, ns: Ints) -> None:
        self.add("rclcpp_executor_get_next_ready", ns)
        self.add("rclcpp_executor_wait_for_work", ns + 500, timeout=-1)

    def write(self, writer: _Writer) -> None:
        for event, parts in self._rows.items():
            ns = np.concatenate([part for part, _ in parts])
            fields = {
                field: np.concatenate(
                    [np.broadcast_to(given.get(field, 0), part.shape) for part, given in parts]
                )
                for field in _FIELDS[event]
            }
            writer.add(event, self._pid, self._name, ns, fields)


def _drive(
    scene: Scene, writer: _Writer, robot: int, images: int, random: np.random.Generator
) -> None:
    def around(median_ns: int) -> Ints:
        return (median_ns * random.lognormal(0.0, 0.2, images)).astype(np.int64).clip(1_000)

    first = _first_pid(robot)
    image, filtered, objects, plan = (name.format(robot) for name in TOPICS)
    camera, perception, planning, watching = (
        _Process(scene, first + at, f"{name}_{robot}")
        for at, name in enumerate(("camera", "perception", "planning", "watching"))
    )
    sent = np.arange(1, images + 1) * PERIOD_NS + robot * PERIOD_NS // 5
    camera.publish(image, sent)

    flushes = np.flatnonzero(np.arange(images) % BLOCKED_EVERY == BLOCKED_EVERY - 1)
    flush = f"Logger{robot}::flush"
    callback, handle = (scene.entities[flush][name] for name in ("callback", "handle"))
    begun = sent[flushes] - 900_000
    perception.add("rclcpp_executor_get_next_ready", begun - 2_000)
    perception.add("rclcpp_executor_execute", begun - 1_000, handle=handle)
    perception.add("callback_start", begun, callback=callback)
    perception.end(flush, sent[flushes] + BLOCKED_NS)

    ready = sent + around(150_000)
    ready[flushes] = sent[flushes] + BLOCKED_NS + 10_000
    perception.wait(np.array([-1_000]))
    start = perception.take(f"Filter{robot}::on_image", ready, sent)
    again = start + around(300_000)
    perception.publish(filtered, again)
    done = again + around(100_000)
    perception.end(f"Filter{robot}::on_image", done)
    start = perception.take(f"Detector{robot}::detect", done + 8_000, again)
    found = start + around(2_500_000).clip(max=6_000_000)
    perception.publish(objects, found)
    done = found + around(60_000)
    perception.end(f"Detector{robot}::detect", done)
    perception.wait(done + 5_000)

    planning.wait(np.array([-1_000]))
    start = planning.take(f"Planner{robot}::make_plan", found + around(200_000), found)
    planned = start + around(400_000)
    planning.publish(plan, planned)
    done = planned + around(20_000)
    planning.end(f"Planner{robot}::make_plan", done)
    planning.wait(done + 5_000)

    watching.wait(np.array([-1_000]))
    start = watching.take(f"Watch{robot}::on_plan", planned + around(180_000), planned)
    done = start + around(50_000)
    watching.end(f"Watch{robot}::on_plan", done)
    watching.wait(done + 5_000)
    for process in (camera, perception, planning, watching):
        process.write(writer)
