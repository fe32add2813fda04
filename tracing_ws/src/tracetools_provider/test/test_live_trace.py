# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A real rclpy program under a real session: what can be emitted is emitted, and nothing else."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from provider_trace import Event, trace
from traced_ros import Lttng, Ros

pytestmark = pytest.mark.live
PROGRAM = Path(__file__).parent / "programs/every_entity.py"
MESSAGES = 20
GID_BYTES = {"jazzy": 24, "kilted": 16}

_CORE = {
    *("rcl_init", "rcl_node_init", "rcl_timer_init", "rcl_service_init", "rcl_client_init"),
    *("rcl_publisher_init", "rmw_publisher_init", "rcl_subscription_init"),
    *("rmw_subscription_init", "rcl_publish", "rmw_publish", "rmw_take", "rcl_take"),
    *("rcl_lifecycle_state_machine_init", "rcl_lifecycle_transition"),
}
_SERVICES = {
    *("rmw_client_init", "rmw_send_request", "rmw_take_request"),
    *("rmw_send_response", "rmw_take_response"),
}
STOCK = {"jazzy": _CORE, "kilted": _CORE | _SERVICES}
HOOK = {
    *("rclcpp_subscription_init", "rclcpp_subscription_callback_added"),
    *("rclcpp_timer_callback_added", "rclcpp_timer_link_node", "rclcpp_service_callback_added"),
    *("rclcpp_callback_register", "callback_start", "callback_end"),
    *("rclcpp_executor_wait_for_work", "rclcpp_executor_get_next_ready"),
    *("rclcpp_executor_execute", "rclcpp_publish"),
}


class Run(NamedTuple):
    ros: Ros
    hook: bool
    received: list[str]
    libraries: list[str]
    events: list[Event]

    def of(self, name: str) -> list[dict]:
        return [event.fields for event in self.events if event.name == name]


@pytest.fixture(scope="module", params=STOCK)
def ros(request: pytest.FixtureRequest) -> Ros:
    found = Ros(request.param)
    library = found.provider / "libtracetools.so"
    assert library.is_file(), f"{library} is not built; run make setup and make setup-kilted"
    return found


@pytest.fixture(scope="module", params=[False, True], ids=["stock", "with-hook"])
def run(request: pytest.FixtureRequest, ros: Ros, lttng: Lttng) -> Run:
    environment = ros.environment(hook=request.param)
    text, events = trace(lttng, ros, environment, PROGRAM, str(MESSAGES))
    told = json.loads(text)
    return Run(ros, request.param, told["received"], told["libraries"], events)


def test_the_expected_set_is_what_the_libraries_call(ros):
    called = set()
    for pattern in ("librc*.so", "librmw_fastrtps*.so"):
        for library in (ros.wheels / "lib").glob(pattern):
            called |= _calls(library)
    assert called == STOCK[ros.distro]


def _calls(library: Path) -> set[str]:
    done = subprocess.run(
        ["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True
    )
    return set(re.findall(r"\bros_trace_(?:do_|enabled_)?(\w+)", done.stdout))


def test_the_enabled_events_that_the_run_can_emit_are_those_observed(run):
    assert {event.name for event in run.events} == STOCK[run.ros.distro] | (
        HOOK if run.hook else set()
    )


def test_only_the_provider_and_the_systems_lttng_are_in_the_process(run):
    names = [Path(library).name for library in run.libraries if "liblttng" not in library]
    assert names == ["libnoust.so", "libtracetools.so"]
    assert str(run.ros.provider / "libtracetools.so") in run.libraries
    lttng = [library for library in run.libraries if "liblttng" in library]
    assert lttng, "no lttng-ust in the process"
    assert not any(re.search(r"liblttng-ust-[0-9a-f]{8}", library) for library in lttng), lttng


def test_gids_have_the_length_of_the_distribution(run):
    gids = run.of("rmw_publisher_init") + run.of("rmw_subscription_init")
    assert gids
    assert {len(fields["gid"]) for fields in gids} == {GID_BYTES[run.ros.distro]}
    assert len({tuple(fields["gid"][:16]) for fields in gids}) == len(gids)


def test_every_message_is_published_and_taken_once(run):
    assert run.received == [f"message {i}" for i in range(MESSAGES)]
    (topic,) = [p for p in run.of("rcl_publisher_init") if p["topic_name"] == "/space/topic"]
    (subscription,) = [
        s for s in run.of("rcl_subscription_init") if s["topic_name"] == "/space/topic"
    ]
    published = [
        fields["timestamp"]
        for fields in run.of("rmw_publish")
        if fields["rmw_publisher_handle"] == topic["rmw_publisher_handle"]
    ]
    taken = [
        fields["source_timestamp"]
        for fields in run.of("rmw_take")
        if fields["rmw_subscription_handle"] == subscription["rmw_subscription_handle"]
        and fields["taken"]
    ]
    assert len(published) == MESSAGES
    assert published == taken


def test_names_arrive_as_the_program_gave_them(run):
    nodes = {(fields["namespace"], fields["node_name"]) for fields in run.of("rcl_node_init")}
    assert nodes == {("/space", "everything"), ("/", "machine")}
    assert "/space/ask" in {fields["service_name"] for fields in run.of("rcl_service_init")}
    assert [fields["service_name"] for fields in run.of("rcl_client_init")] == ["/space/ask"]
    assert 5_000_000 in {fields["period"] for fields in run.of("rcl_timer_init")}
    labels = [(f["start_label"], f["goal_label"]) for f in run.of("rcl_lifecycle_transition")]
    assert labels == [("unconfigured", "configuring"), ("configuring", "inactive")]


def test_services_carry_the_clients_gid(run):
    if run.ros.distro == "jazzy":
        return  # Jazzy has no service events in rmw: held by the observed set.
    (client,) = run.of("rmw_client_init")
    requests = run.of("rmw_take_request")
    taken = [fields for fields in requests if fields["taken"]]
    assert len(taken) == len(run.of("rmw_send_request")) == MESSAGES
    assert {len(fields["client_gid"]) for fields in taken} == {GID_BYTES["kilted"]}
    assert {tuple(fields["client_gid"]) for fields in taken} == {tuple(client["gid"])}


def test_without_the_provider_the_wheels_emit_nothing(ros, lttng):
    """Hold the reason for which this package exists; it may go when this fails."""
    variables = ros.environment(hook=False, preload=False)
    # The bundled lttng-ust finds no daemon that speaks its protocol: it must not wait for one.
    variables["LTTNG_UST_REGISTER_TIMEOUT"] = "0"
    _, events = trace(lttng, ros, variables, PROGRAM, "2")
    assert Counter(event.name for event in events) == Counter()
