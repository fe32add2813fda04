# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Live traces of unmodified rclpy programs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from traced_ros import Event, Lttng, Ros

PROGRAMS = Path(__file__).parent / "programs"

pytestmark = pytest.mark.live
MESSAGES = 40
LATER = "__main__.Everything.on_message_later"


class Scene:
    """A traced run of everything.py."""

    def __init__(self, calls: dict[str, int], events: list[Event]) -> None:
        self.calls = calls
        self.events = events
        self.symbols = {
            event["callback"]: event["symbol"] for event in self.of("rclcpp_callback_register")
        }

    def of(self, name: str) -> list[Event]:
        return [event for event in self.events if event.name == name]

    def callbacks(self, symbol: str) -> list[str]:
        return [callback for callback, name in self.symbols.items() if name == symbol]

    def counts(self, name: str) -> Counter[str]:
        found = Counter(self.symbols[event["callback"]] for event in self.of(name))
        return Counter({symbol: n for symbol, n in found.items() if symbol in self.calls})

    def threads(self) -> dict[int, list[Event]]:
        threads: dict[int, list[Event]] = {}
        for event in self.events:
            threads.setdefault(event.vtid, []).append(event)
        return threads


@pytest.fixture(scope="module", params=["single", "multi"])
def scene(request: pytest.FixtureRequest, ros: Ros, lttng: Lttng) -> Scene:
    done, events = lttng.trace(ros, PROGRAMS / "everything.py", request.param, str(MESSAGES))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    scene = Scene(json.loads(done.stdout), events)
    scene.kind = request.param
    return scene


def test_counts_are_the_programs_own(scene):
    starts, ends = scene.counts("callback_start"), scene.counts("callback_end")
    assert starts == ends
    # It awaits once: it runs in two pieces, unless another thread has the answer sooner.
    pieces = starts.pop(LATER)
    assert scene.calls[LATER] == MESSAGES
    assert pieces == 2 * MESSAGES if scene.kind == "single" else MESSAGES < pieces <= 2 * MESSAGES
    assert starts == {name: n for name, n in scene.calls.items() if name != LATER}
    assert starts["__main__.on_message"] == 2 * MESSAGES


def test_every_callback_is_registered_once_with_its_own_id(scene):
    registered = [event["callback"] for event in scene.of("rclcpp_callback_register")]
    assert len(set(registered)) == len(registered)
    assert len(scene.callbacks("__main__.on_message")) == 2
    assert set(scene.calls) <= set(scene.symbols.values())
    # A node's own services have callbacks; guard conditions have no ids.
    assert "rclpy.parameter_service.ParameterService._get_parameters_callback" in set(
        scene.symbols.values()
    )
    assert not any("guard" in symbol for symbol in scene.symbols.values())
    started = {event["callback"] for event in scene.of("callback_start")}
    assert started <= set(registered)


def test_subscriptions_lead_to_the_rcl_handle(scene):
    handles = {event["subscription_handle"] for event in scene.of("rcl_subscription_init")}
    inits = {
        e["subscription"]: e["subscription_handle"] for e in scene.of("rclcpp_subscription_init")
    }
    added = {
        e["subscription"]: e["callback"] for e in scene.of("rclcpp_subscription_callback_added")
    }
    assert set(inits.values()) == handles
    assert set(inits) == set(added)
    assert len(inits) == 7
    assert set(added.values()) <= set(scene.symbols)


def test_timers_lead_to_the_rcl_handle_and_the_node(scene):
    (added,) = scene.of("rclcpp_timer_callback_added")
    (link,) = scene.of("rclcpp_timer_link_node")
    (node,) = scene.of("rcl_node_init")
    assert added["timer_handle"] == link["timer_handle"]
    assert added["timer_handle"] in {e["timer_handle"] for e in scene.of("rcl_timer_init")}
    assert link["node_handle"] == node["node_handle"]
    assert scene.symbols[added["callback"]] == "__main__.Everything.on_timer"


def test_services_lead_to_the_rcl_handle(scene):
    names = {e["service_handle"]: e["service_name"] for e in scene.of("rcl_service_init")}
    added = {names[e["service_handle"]]: e for e in scene.of("rclcpp_service_callback_added")}
    assert set(added) == set(names.values())
    callback = added["/answer"]["callback"]
    assert scene.symbols[callback] == "__main__.Everything.on_request"


def test_order_of_every_message(scene):
    inits = {
        e["subscription"]: e["subscription_handle"] for e in scene.of("rclcpp_subscription_init")
    }
    handles = {
        e["callback"]: inits[e["subscription"]]
        for e in scene.of("rclcpp_subscription_callback_added")
    }
    order = ["rclcpp_executor_execute", "rmw_take", "rcl_take", "callback_start"]
    seen = 0
    for events in scene.threads().values():
        for i, event in enumerate(events):
            # What resumes an awaiting callback takes nothing.
            if event.name != "callback_start" or event["callback"] not in handles:
                continue
            if scene.symbols[event["callback"]] == LATER and events[i - 1].name != "rcl_take":
                continue
            assert [e.name for e in events[i - 3 : i + 1]] == order
            assert events[i - 3]["handle"] == handles[event["callback"]]
            assert events[i - 1]["message"] == events[i - 2]["message"]
            end = next(e for e in events[i + 1 :] if e.name.startswith("callback_"))
            assert (end.name, end["callback"]) == ("callback_end", event["callback"])
            seen += 1
    assert seen == 7 * MESSAGES


def test_waits_are_on_one_thread_and_pair(scene):
    waits = [
        event
        for event in scene.events
        if "executor_wait" in event.name or "next_ready" in event.name
    ]
    assert len({event.vtid for event in waits}) == 1
    pair = ["rclcpp_executor_wait_for_work", "rclcpp_executor_get_next_ready"]
    assert [event.name for event in waits] == pair * (len(waits) // 2)
    assert {event["timeout"] for event in waits[::2]} == {"1000000000"}
    executing = {event.vtid for event in scene.of("rclcpp_executor_execute")}
    if scene.kind == "multi":
        assert len(executing) > 1
        assert waits[0].vtid not in executing
    else:
        assert executing == {waits[0].vtid}


def test_a_wait_precedes_what_it_found(scene):
    if scene.kind == "multi":
        return  # Another thread waits: test_waits_are_on_one_thread_and_pair.
    (events,) = [e for e in scene.threads().values() if any("execute" in x.name for x in e)]
    last = None
    for event in events:
        if event.name.startswith("rclcpp_executor_"):
            if event.name == "rclcpp_executor_execute":
                assert last in ("rclcpp_executor_get_next_ready", "rclcpp_executor_execute")
            last = event.name


def test_callbacks_nest_on_their_thread(scene):
    for events in scene.threads().values():
        running = []
        for event in events:
            if event.name == "callback_start":
                running.append(event["callback"])
            elif event.name == "callback_end":
                assert running.pop() == event["callback"]
        assert running == []


def test_changed_destroyed_and_raising(ros, lttng):
    done, events = lttng.trace(ros, PROGRAMS / "changes.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "ValueError the program's own error 3 [True]\n"
    scene = Scene({}, events)
    names = Counter(scene.symbols[event["callback"]] for event in scene.of("callback_start"))
    assert names.pop("threading.Event.set") >= 1
    assert names == {
        "__main__.Changes.first": 1,
        "__main__.Changes.second": 3,
        "__main__.Changes.last": 1,
    }
    assert len(scene.of("callback_end")) == len(scene.of("callback_start"))
    timers = {e["callback"]: e["timer_handle"] for e in scene.of("rclcpp_timer_callback_added")}
    (first,), (second,) = (
        scene.callbacks("__main__.Changes.first"),
        scene.callbacks("__main__.Changes.second"),
    )
    assert timers[first] == timers[second]
    assert scene.callbacks("builtins.print")


def test_the_events_executor_is_reported(ros, lttng):
    if ros.distro == "jazzy":
        pytest.skip("rclpy of Jazzy has no EventsExecutor")
    done, events = lttng.trace(ros, PROGRAMS / "events_executor.py")
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert done.stderr.count("RuntimeWarning: rclpy_tracepoints: The EventsExecutor calls") == 1
    scene = Scene({}, events)
    assert scene.callbacks("__main__.on_timer")
    assert scene.of("callback_start") == []


def test_warnings_as_errors_do_not_stop_a_program(ros):
    if ros.distro == "jazzy":
        pytest.skip("rclpy of Jazzy has no EventsExecutor, which is what is warned of")
    done = ros.run("-W", "error::RuntimeWarning", PROGRAMS / "events_executor.py")
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert "The EventsExecutor calls callbacks from C++" in done.stderr


def test_a_timer_that_wants_its_information(ros, lttng):
    if ros.distro == "jazzy":
        pytest.skip("rclpy of Jazzy has no TimerInfo")
    done, events = lttng.trace(ros, PROGRAMS / "timer_info.py")
    assert done.returncode == 0, done.stderr
    scene = Scene({"__main__.on_timer": 3}, events)
    assert scene.counts("callback_start") == scene.counts("callback_end") == scene.calls
