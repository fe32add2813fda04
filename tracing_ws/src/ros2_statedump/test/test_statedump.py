# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a process announced is announced again when a session starts that it was there before."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import bt2
import pytest
from provider_trace import read as read_fields
from traced_ros import Lttng, Ros, alone

from strata.schema.event import Phase
from strata.schema.ros2_events import ROS2_EVENTS

pytestmark = pytest.mark.live
PROGRAMS = Path(__file__).parent / "programs"
EVENTS = "ros2:*,ros2_statedump:*"
INITS = {event.name for event in ROS2_EVENTS if event.phase is Phase.INIT}
MOST = 65536


class Program:
    """A program that runs, and its answers to lines of its stdin."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert self.answer() == "made"

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, line: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self.answer()

    def answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@pytest.fixture(scope="module", params=["jazzy", "kilted"])
def ros(request: pytest.FixtureRequest) -> Ros:
    return Ros(request.param)


def environment(ros: Ros) -> dict[str, str]:
    variables = ros.environment()
    statedump = ros.install / "lib/ros2_statedump/libros2_statedump.so"
    assert statedump.is_file(), f"{statedump} is not built; run make setup and make setup-kilted"
    # Which has LTTng-UST begin again in forked children.
    guard = ros.install / "lib/ust_guard/libust_guard.so"
    return variables | {"LD_PRELOAD": f"{statedump}:{guard}:{variables.get('LD_PRELOAD', '')}"}


@contextmanager
def running(lttng: Lttng, ros: Ros, program: str, *arguments: str) -> Iterator[Program]:
    line = alone(ros.python(PROGRAMS / program, *arguments), environment(ros), lttng)
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield Program(process)
            process.stdin.close()
            assert process.wait(60) == 0
        finally:
            process.kill()


@contextmanager
def recording(lttng: Lttng) -> Iterator[Path]:
    session, output = lttng.start(EVENTS)
    try:
        yield output
    finally:
        lttng.stop(session)


class Found(NamedTuple):
    name: str
    vpid: int
    vtid: int
    fields: dict[str, Any]


def read(trace: Path) -> list[Found]:
    contexts = [
        message.event.common_context_field
        for message in bt2.TraceCollectionMessageIterator(str(trace))
        if type(message) is bt2._EventMessageConst
    ]
    return [
        Found(event.name, int(context["vpid"]), int(context["vtid"]), event.fields)
        for event, context in zip(read_fields(trace), contexts, strict=True)
    ]


def dumps(events: list[Found]) -> list[list[Found]]:
    """The events of each dump, its two ends included."""
    found: list[list[Found]] = []
    opened: dict[int, list[Found]] = {}
    for event in events:
        if event.name == "ros2_statedump:dump_begin":
            opened[event.vtid] = []
            found.append(opened[event.vtid])
        if event.vtid in opened:
            opened[event.vtid].append(event)
        if event.name == "ros2_statedump:dump_end":
            del opened[event.vtid]
    assert not opened
    return found


def announced(events: list[Found]) -> list[tuple[str, str]]:
    return [(event.name, str(event.fields)) for event in events if event.name in INITS]


def test_a_late_session_has_what_an_early_one_has(lttng, ros):
    with (
        recording(lttng) as early,
        running(lttng, ros, "lasting_entities.py") as program,
        recording(lttng) as late,
    ):
        program.ask("more")
    live = [event for event in read(early) if event.vtid == event.vpid]
    first, *further = dumps(read(late))
    assert not further
    # The publisher that was made later is announced as ever.
    before = [one for one in announced(live) if one in announced(first)]
    later = announced(live)[len(before) :]
    assert {name for name, _ in before} == INITS & {event.name for event in live}
    assert announced(first) == before
    assert later
    assert announced([event for event in read(late) if event.vtid == event.vpid]) == later
    # Both sessions have the dump.
    assert [announced(one) for one in dumps(read(early))] == [before]
    assert first[0].fields == {"announcements": len(before), "forgotten": 0}
    assert len({event.vtid for event in first}) == 1
    assert first[0].vtid != first[0].vpid == program.pid


def test_lttng_can_ask_for_it_again(lttng, ros):
    with running(lttng, ros, "lasting_entities.py") as program:
        session, output = lttng.start(EVENTS)
        program.ask("more")
        lttng.command("regenerate", "statedump", "-s", session)
        lttng.stop(session)
    first, second = dumps(read(output))
    added = announced(second)[len(announced(first)) :]
    assert announced(second)[: len(announced(first))] == announced(first)
    assert [name for name, _ in added] == ["rmw_publisher_init", "rcl_publisher_init"]


def test_a_child_announces_what_it_made_itself(lttng, ros):
    with running(lttng, ros, "lasting_entities.py") as program:
        answers = {program.ask("fork"), program.answer()}
        child = next(int(line.split()[1]) for line in answers if line.startswith("child"))
        with recording(lttng) as late:
            pass
    of_child = [one for one in dumps(read(late)) if one[0].vpid == child]
    assert [[event.fields.get("context_handle") for event in one[1:-1]] for one in of_child] == [
        [0x1234]
    ]


def test_of_an_address_that_is_used_again_the_last_entity_is_announced(lttng, ros):
    with running(lttng, ros, "many_announcements.py", "3"), recording(lttng) as late:
        pass
    ((_, *events, _),) = dumps(read(late))
    assert [event.fields["period"] for event in events[:-1]] == [0, 1, 2]
    assert events[-1].fields["node_name"] == "present"


def test_of_too_many_the_oldest_are_forgotten_and_counted(lttng, ros):
    with running(lttng, ros, "many_announcements.py", f"{MOST + 9}"), recording(lttng) as late:
        pass
    ((begin, *events, _),) = dumps(read(late))
    assert begin.fields == {"announcements": MOST, "forgotten": 10}
    assert [event.fields["period"] for event in events[:-1]] == list(range(10, MOST + 9))


def test_it_brings_no_lttng_into_a_process(ros):
    done = subprocess.run(
        ["cat", "/proc/self/maps"],
        env={"LD_PRELOAD": str(ros.install / "lib/ros2_statedump/libros2_statedump.so")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "libros2_statedump.so" in done.stdout
    assert "lttng" not in done.stdout


def test_all_events_that_introduce_entities_are_announced(ros):
    library = ros.install / "lib/ros2_statedump/libros2_statedump.so"
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    ).stdout
    functions = {line.split()[-1].removeprefix("ros_trace_") for line in symbols.splitlines()}
    known = {
        event.name for event in ROS2_EVENTS if event.phase is Phase.INIT and event.since != "kilted"
    }
    if ros.distro == "kilted":
        known = INITS
    links = {"message_link_periodic_async", "message_link_partial_sync"}
    assert {name for name in functions if name in INITS} == known - links
