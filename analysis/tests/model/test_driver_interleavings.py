# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Random drivers at work: every message is linked to its own frame, and every loss counts once.

Several drivers run in one process, each in one of the ways that drivers are made: all on one
thread, outside of callbacks or inside (a timer that polls its socket), or one thread that reads and
one that publishes; cameras; unmodified ones that only the hooks see. Beside them callbacks publish
what is made of no frame. What is true is written down while the events are made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scene import BASE, Scene

from strata.layers.transfers import cut_layers
from strata.model.build import Model
from strata.model.event_uses import UNEXPLAINED

PID = 1
TOPICS = ("/one", "/two", "/three", "/status")
KINDS = ("lidar", "imu", "camera", "hooked udp", "hooked appsink")

Draw = Callable[[int], int]
"""A number below another."""


@dataclass
class Driver:
    """One driver's events, as (thread, line without its time), and what is true of them.

    `made_of` says of each publication, by its place in `lines`, its frame (of hooks in a UDP
    socket: the read), or None.
    """

    source: int
    kind: str
    draw: Draw
    thread: int
    polled: bool = False
    other_thread: bool = False
    lines: list[tuple[int, str]] = field(default_factory=list)
    made_of: dict[int, int | None] = field(default_factory=dict)
    waiting: list[int] = field(default_factory=list)
    sequence: int = 0
    drops: int = 0
    never_came: int = 0

    @property
    def hooked(self) -> bool:
        return self.kind.startswith("hooked")

    def add(self, line: str, thread: int | None = None) -> None:
        self.lines.append((thread or self.thread, line))

    def event(self, name: str, thread: int | None = None, **fields: int) -> None:
        given = " ".join(f"{key}={value}" for key, value in fields.items())
        self.add(f"{name} source={self.source} {given}", thread)

    def read(self) -> int:
        queue_ns = self.draw(60) - 1
        self.event("packet_received", sequence=self.sequence, queue_ns=queue_ns, dropped=self.drops)
        self.sequence += 1
        return self.sequence - 1

    def publish(self, made_of: int | None, thread: int | None = None) -> None:
        for topic in TOPICS[: 1 + self.draw(3)]:
            self.made_of[len(self.lines)] = made_of
            self.add(f"rmw_publish {topic}", thread)

    def turn(self, work: Callable[[], None]) -> None:
        """One turn of the driver's loop, and perhaps something else on its thread."""
        if self.polled:
            self.add("callback_start on_timer")
        work()
        if self.polled:
            self.add("callback_end on_timer")
        if self.draw(3) == 0:
            self.add("callback_start on_timer")
            self.made_of[len(self.lines)] = None
            self.add("rmw_publish /status")
            self.add("callback_end on_timer")

    def deliver(self, frame: int) -> None:
        thread = self.thread + 1 if self.other_thread else None
        if self.kind != "imu":
            self.event("copy_done" if self.kind == "camera" else "cloud_ready", thread, frame=frame)
        self.publish(frame, thread)

    def run(self) -> None:
        if self.kind in ("lidar", "imu"):
            self.sweeps()
        elif self.kind == "hooked udp":
            for _ in range(self.draw(5)):
                self.turn(self.guess)
        else:
            for frame in range(self.draw(5)):
                self.turn(lambda frame=frame: self.image(frame))

    def guess(self) -> None:
        reads = [self.read() for _ in range(1 + self.draw(3))]
        self.publish(reads[-1])

    def image(self, frame: int) -> None:
        self.event("buffer_pulled", frame=frame, queue_ns=self.draw(60) - 1)
        if self.draw(4):
            self.publish(frame) if self.hooked else self.deliver(frame)

    def sweeps(self) -> None:
        """Frames of packets that are read (0), dropped by the socket (1) or lost before (2).

        One packet of each frame is read, and the frame after the last begins without a loss. A
        frame is closed by its last packet, or if that is lost by the next frame's first.
        """
        frames = [[0] if self.kind == "imu" else self.fates() for _ in range(self.draw(5))]
        first, count, missing = {}, [0] * (len(frames) + 1), [0] * (len(frames) + 1)
        open_frame: int | None = None

        def receive(frame: int, last: bool) -> None:
            nonlocal open_frame
            at = self.read()
            if open_frame not in (None, frame):
                self.complete(open_frame, count, missing, first, at)
            first.setdefault(frame, at)
            count[frame] += 1
            open_frame = frame
            if last:
                self.complete(frame, count, missing, first, at)
                open_frame = None

        for frame, fates in enumerate([*frames, [0, 0]]):
            for place, fate in enumerate(fates):
                if fate:
                    missing[frame] += 1
                    self.drops += fate == 1
                    self.never_came += fate == 2
                    continue
                last = place == len(fates) - 1 and frame < len(frames)
                self.turn(lambda frame=frame, last=last: receive(frame, last))
        while self.waiting:
            self.deliver(self.waiting.pop(0))

    def fates(self) -> list[int]:
        fates = [max(0, self.draw(6) - 3) for _ in range(1 + self.draw(5))]
        fates[self.draw(len(fates))] = 0
        return fates

    def complete(
        self,
        frame: int | None,
        count: list[int],
        missing: list[int],
        first: dict[int, int],
        last: int,
    ) -> None:
        assert frame is not None
        self.event(
            "frame_boundary",
            frame=frame,
            packets=count[frame],
            missing=missing[frame],
            first_sequence=first[frame],
            last_sequence=last,
        )
        if not self.other_thread:
            self.deliver(frame)
            return
        self.waiting.append(frame)
        while self.waiting and self.draw(2):
            self.deliver(self.waiting.pop(0))


@dataclass
class Played:
    """A scene, and of each publication by its stamp the source and what it was made of, or None."""

    scene: Scene
    drivers: list[Driver]
    truth: dict[int, tuple[int, int] | None]

    def without(self, lost: Callable[[int], bool]) -> Scene:
        """The scene without the events at some times; those of init lie before BASE."""
        made = Scene()
        made.rows = {
            name: [row for row in rows if not lost(row["timestamp"])]
            for name, rows in self.scene.rows.items()
        }
        made.rows = {name: rows for name, rows in made.rows.items() if rows}
        return made


@st.composite
def worlds(draw: Any) -> Played:
    random = draw(st.randoms(use_true_random=False))

    def below(count: int) -> int:
        return random.randrange(count)

    made = Scene()
    for topic in TOPICS:
        made.publisher(topic, node="/driver", pid=PID)
        made.subscription(topic, node="/sink", pid=2, symbol=f"on{topic[1:]}")
    made.timer(node="/driver", pid=PID, symbol="on_timer")
    drivers = []
    for number in range(1 + below(4)):
        kind = KINDS[below(len(KINDS))]
        polled = bool(below(2))
        driver = Driver(number, kind, below, 10 + 2 * number, polled)
        driver.other_thread = kind == "lidar" and not polled and bool(below(2))
        driver.run()
        drivers.append(driver)
        appsink = kind in ("camera", "hooked appsink")
        made.source(
            number,
            pid=PID,
            kind="appsink" if appsink else "udp",
            name="" if driver.hooked else kind,
            address=f"sink{number}" if appsink else f"0.0.0.0:{7500 + number}",
        )
    truth: dict[int, tuple[int, int] | None] = {}
    left = {driver.source: 0 for driver in drivers}
    lines, ns = [], 100
    while any(left[driver.source] < len(driver.lines) for driver in drivers):
        going = [driver for driver in drivers if left[driver.source] < len(driver.lines)]
        driver = going[below(len(going))]
        at = left[driver.source]
        left[driver.source] += 1
        thread, line = driver.lines[at]
        ns += 1 + below(5)
        if at in driver.made_of:
            line = f"{line} {ns}"
            made_of = driver.made_of[at]
            truth[BASE + ns] = None if made_of is None else (driver.source, made_of)
            topic = line.split()[1][1:]
            lines.append(f"{ns + 1000} 2.{20 + len(topic)} rmw_take on{topic} {ns}")
        lines.append(f"{ns} {PID}.{thread} {line}")
    made.play("\n".join(lines))
    return Played(made, drivers, truth)


def made_of(model: Model, scene: Scene) -> dict[int, tuple[int, int, bool] | None]:
    """Source, frame or read, and whether it is inferred, of each publication by its stamp."""
    read_of = {
        (row["source"], row["timestamp"]): row[number]
        for name, number in (("packet_received", "sequence"), ("buffer_pulled", "frame"))
        for row in scene.rows.get(f"driver:{name}", [])
    }
    sources, frames, made = model.driver.sources, model.driver.frames, model.driver.made_of
    out: dict[int, tuple[int, int, bool] | None] = {}
    for at, stamp in enumerate(model.publications.source_timestamp.tolist()):
        frame = int(made.frame[at])
        if frame < 0:
            out[stamp] = None
            continue
        source = int(sources.number[frames.source[frame]])
        number = int(frames.number[frame])
        if number < 0:
            number = read_of[source, int(frames.read_ns[frame])]
        out[stamp] = (source, number, bool(made.inferred[at]))
    return out


def check_sums(model: Model) -> None:
    transfers, _ = cut_layers(model)
    spent = sum(np.where(ns > -1, ns, 0) for ns in transfers.durations.values())
    assert (spent == transfers.latency_ns).all()
    assert all((ns >= -1).all() for ns in transfers.durations.values())


@given(worlds())
def test_every_message_has_its_frame_and_every_loss_its_cause(played: Played) -> None:
    model = played.scene.model()
    hooked = {driver.source for driver in played.drivers if driver.hooked}
    expected = {
        stamp: None if one is None else (*one, one[0] in hooked)
        for stamp, one in played.truth.items()
    }
    assert made_of(model, played.scene) == expected
    check_sums(model)
    assert not unexplained(model)
    counts = model.findings.counts
    dropped = sum(driver.drops for driver in played.drivers)
    assert counts.get("driver_packets_dropped", 0) == dropped
    never_came = sum(driver.never_came for driver in played.drivers)
    assert counts.get("driver_packets_missing", 0) == never_came
    losses = model.driver.losses
    assert (losses.count > 0).all()
    assert ((losses.begin_ns <= losses.end_ns) | (losses.end_ns < 0)).all()


@given(worlds(), st.integers(-1, 200), st.integers(0, 300))
def test_a_cut_trace_has_no_wrong_link(played: Played, begin: int, length: int) -> None:
    # A trace that begins late has no init events: what drivers call their sources is not known.
    first = BASE + 100 + begin if begin >= 0 else 0
    last = BASE + 100 + max(begin, 0) + length
    model = played.without(lambda ns: not (first <= ns < last)).model()
    check(model, played, known=begin < 0)


@given(worlds(), st.data())
def test_lost_events_make_no_wrong_link(played: Played, data: st.DataObject) -> None:
    every = {row["timestamp"] for rows in played.scene.rows.values() for row in rows}
    runtime = sorted(ns for ns in every if ns >= BASE)
    lost = set(data.draw(st.lists(st.sampled_from(runtime), max_size=10))) if runtime else set()
    at = np.array(sorted(lost), np.int64)
    model = played.without(lambda ns: ns in lost).model((at, at))
    check(model, played, known=True)


def check(model: Model, played: Played, *, known: bool) -> None:
    """No link is wrong, sums are exact, nothing is unexplained; `known` are the sources' names."""
    hooked = {driver.source for driver in played.drivers if driver.hooked}
    for stamp, found in made_of(model, played.scene).items():
        if found is None:
            continue
        source, number, inferred = found
        # An instrumented driver whose events that say so were cut off looks like an unmodified one.
        if not inferred or source in hooked or known:
            assert (source, number) == played.truth[stamp]
            assert inferred == (source in hooked)
    check_sums(model)
    assert not unexplained(model)


def unexplained(model: Model) -> list[str]:
    return [use.event for use in model.facts.event_uses() if use.text == UNEXPLAINED]
