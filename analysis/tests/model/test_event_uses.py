# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Uses of events: what contradicts the rest of a trace is unexplained, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from intra_scene import IntraScene
from scene import BASE, Scene

import strata
from strata.engine.windows import NO_LOSSES, Windows
from strata.model.event_uses import UNEXPLAINED
from strata.model.of_tables import model_of_tables
from strata.read import open_trace
from strata.schema.events import DRIVER_PROVIDER, PROVIDER, RCLPY_PROVIDER

Sample = Callable[[str], Path]
Tables = dict[str, pa.Table]
Counts = dict[str, int]

TAKE, EXECUTE = "rmw_take", "rclcpp_executor_execute"
DEQUEUE, ENQUEUE = "rclcpp_ring_buffer_dequeue", "rclcpp_ring_buffer_enqueue"
WAIT, READY = "rclcpp_executor_wait_for_work", "rclcpp_executor_get_next_ready"
ADDED = "rclcpp_subscription_callback_added"
TIMER_ADDED, LINKED = "rclcpp_timer_callback_added", "rclcpp_timer_link_node"
REGISTERED = "rclcpp_callback_register"

# What a whole trace holds without any contradiction.
SOUND = """
    100 1.1 rclcpp_intra_publish /t
    101 1.1 enqueue on_t 0 1
    102 1.1 rcl_publish /u
    103 1.1 rmw_publish /u 103
    110 1.1 rmw_send_request ana 1
    120 1.3 dequeue on_t 0 0
    121 1.3 callback_start on_t intra
    122 1.3 callback_end on_t
    130 2.2 ready
    131 2.2 wait
    132 2.2 ready
    133 2.2 execute on_u
    134 2.2 rmw_take on_u 103
    135 2.2 callback_start on_u
    136 2.2 callback_end on_u
    137 2.2 ready
    138 2.2 execute on_timer
    139 2.2 callback_start on_timer
    140 2.2 callback_end on_timer
    141 2.2 ready
    142 2.2 rmw_take_request on_add ana 1
    143 2.2 callback_start on_add
    144 2.2 callback_end on_add
    145 2.2 rmw_send_response on_add ana 1 145
    146 2.2 ready
    147 2.2 wait
    150 1.1 rmw_take_response ana 1 145
"""

# Further events, and which of them a whole trace cannot explain; and one that begins too late to
# tell who was there before.
CONTRADICTIONS: dict[str, tuple[str, Counts, Counts]] = {
    "taken twice, stored never": (
        """
        200 1.3 dequeue on_t 7 0
        210 1.3 dequeue on_t 7 0
        """,
        {DEQUEUE: 2},
        {DEQUEUE: 1},
    ),
    "from a buffer that was never made": ("200 1.3 dequeue unknown 0 0", {DEQUEUE: 1}, {}),
    "stored over a message that nobody took": (
        """
        200 1.1 enqueue on_t 3 1
        210 1.1 enqueue on_t 3 1
        """,
        {ENQUEUE: 1},
        {ENQUEUE: 1},
    ),
    "passed over in the buffer": (
        """
        200 1.1 enqueue on_t 3 1
        210 1.1 enqueue on_t 4 2
        220 1.3 dequeue on_t 4 0
        """,
        {ENQUEUE: 1},
        {ENQUEUE: 1},
    ),
    "a subscription was picked, a timer fired": (
        """
        200 2.2 ready
        201 2.2 execute on_u
        202 2.2 callback_start on_timer
        203 2.2 callback_end on_timer
        """,
        {EXECUTE: 1},
        {EXECUTE: 1},
    ),
    "a timer was picked, a message was taken": (
        """
        200 2.2 ready
        201 2.2 execute on_timer
        202 2.2 rmw_take on_u 103
        """,
        {EXECUTE: 1},
        {EXECUTE: 1},
    ),
    "nobody's handle was picked": (
        """
        200 2.2 ready
        201 2.2 execute unknown
        202 2.2 ready
        """,
        {EXECUTE: 1},
        {},
    ),
    "ended twice": (
        """
        200 2.2 ready
        201 2.2 callback_start on_timer
        202 2.2 callback_end on_timer
        203 2.2 callback_end on_timer
        """,
        {"callback_end": 1},
        {"callback_end": 1},
    ),
    "begun within itself": (
        """
        200 2.2 ready
        201 2.2 callback_start on_timer
        202 2.2 callback_start on_timer
        203 2.2 callback_end on_timer
        """,
        {"callback_start": 1},
        {"callback_start": 1},
    ),
    "nobody's callback": (
        """
        200 2.2 ready
        201 2.2 callback_start unknown
        202 2.2 callback_end unknown
        """,
        {"callback_start": 1},
        {},
    ),
    "waits within a wait": (
        """
        200 2.2 wait
        201 2.2 wait
        """,
        {WAIT: 2},
        {WAIT: 2},
    ),
    "nobody's message was taken": ("200 2.2 rmw_take unknown 103", {TAKE: 1}, {}),
    "nobody took nothing": ("200 2.2 rmw_take unknown 0 empty", {TAKE: 1}, {}),
    "rcl took what the middleware did not": (
        "200 2.2 ready\n201 2.2 rcl_take on_u",
        {"rcl_take": 1},
        {"rcl_take": 1},
    ),
    "nobody published": ("200 1.1 rmw_publish unknown 200", {"rmw_publish": 1}, {}),
    "published and went on": (
        """
        200 1.3 rcl_publish /u
        201 1.3 rcl_publish /u
        202 1.3 rmw_publish /u 202
        """,
        {"rcl_publish": 1},
        {"rcl_publish": 1},
    ),
    "publish() was left, and the context is still there": (
        """
        200 1.3 rclcpp_publish /u
        201 1.3 wait
        210 1.1 rcl_publish /u
        211 1.1 rmw_publish /u 211
        """,
        {"rclcpp_publish": 1},
        {},
    ),
    "a callback runs within a wait": (
        """
        200 2.2 wait 0
        201 2.2 callback_start on_timer
        202 2.2 callback_end on_timer
        """,
        {WAIT: 1},
        {WAIT: 1},
    ),
    "nobody published within the process": (
        "200 1.1 rclcpp_intra_publish unknown",
        {"rclcpp_intra_publish": 1},
        {},
    ),
    "a request that was never sent": (
        "200 2.2 rmw_take_request on_add ana 9",
        {"rmw_take_request": 1},
        {},
    ),
    "a response to nothing": (
        "200 2.2 rmw_send_response on_add ana 8 200",
        {"rmw_send_response": 1},
        {},
    ),
    "a response that was never sent": (
        "200 1.1 rmw_take_response ana 7 200",
        {"rmw_take_response": 1},
        {},
    ),
}

# Events that name handles which nothing introduced.
DANGLING: dict[str, dict[str, object]] = {
    "message_link_partial_sync": {"subs": [5], "pubs": [6]},
    "message_link_periodic_async": {"subs": [5], "pubs": [6]},
    "rcl_publisher_init": {"publisher_handle": 5, "node_handle": 6, "topic_name": "/x"},
    "rcl_service_init": {"service_handle": 5, "node_handle": 6, "service_name": "/x"},
    "rclcpp_subscription_init": {"subscription": 5, "subscription_handle": 6},
    ADDED: {"subscription": 5, "callback": 6},
    TIMER_ADDED: {"timer_handle": 5, "callback": 6},
    LINKED: {"timer_handle": 5, "node_handle": 6},
    "rclcpp_service_callback_added": {"service_handle": 5, "callback": 6},
    REGISTERED: {"callback": 6, "symbol": "f()"},
    "rclcpp_buffer_to_ipb": {"buffer": 5, "ipb": 6},
    "rclcpp_ipb_to_subscription": {"ipb": 5, "subscription": 6},
    "rclcpp_ring_buffer_clear": {"buffer": 5},
    "rcl_lifecycle_state_machine_init": {"node_handle": 5, "state_machine": 6},
    "rcl_lifecycle_transition": {"state_machine": 5, "start_label": "a", "goal_label": "b"},
}


def sound() -> IntraScene:
    """A scene of two processes, whose begin `begun` adds."""
    made = IntraScene()
    made.publisher("/t", node="/a", pid=1)
    made.publisher("/u", node="/a", pid=1)
    made.ring("/t", node="/a", pid=1, symbol="on_t")
    made.client("ana", "/add", node="/a", pid=1)
    made.subscription("/u", node="/b", pid=2, symbol="on_u")
    made.timer(node="/b", pid=2, symbol="on_timer")
    made.service("/add", node="/b", pid=2, symbol="on_add")
    made.play(SOUND)
    return made


def begun(made: IntraScene) -> IntraScene:
    """Add the contexts, without which a process was there before the trace."""
    for pid in (1, 2):
        made._add("rcl_init", pid, context_handle=4, version="8.2.2")
    return made


def unexplained(made: Scene | Tables, losses: Windows = NO_LOSSES) -> Counts:
    """Unexplained events of a scene or of tables; every event has one use."""
    if isinstance(made, Scene):
        tables, model = made.tables(), made.model(losses)
    else:
        tables, model = made, model_of_tables(made, losses)
    uses = model.facts.event_uses()
    counted = {use.event: 0 for use in uses}
    for use in uses:
        counted[use.event] += use.count
    assert counted == {
        event: len(table)
        for event, table in tables.items()
        if event.split(":")[0] in (PROVIDER, RCLPY_PROVIDER, DRIVER_PROVIDER) and len(table)
    }
    return {use.event.removeprefix("ros2:"): use.count for use in uses if use.text == UNEXPLAINED}


def window(begin: int, end: int) -> Windows:
    return np.asarray([begin], np.int64), np.asarray([end], np.int64)


def test_nothing_is_unexplained_where_nothing_contradicts() -> None:
    assert unexplained(begun(sound())) == {}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_what_contradicts_a_whole_trace_is_unexplained(name: str) -> None:
    lines, whole, late = CONTRADICTIONS[name]
    made = sound()
    made.play(lines)
    assert unexplained(made) == late
    begun(made)
    assert unexplained(made) == whole
    # Beside the events themselves, and where all the inits were.
    lost = window(BASE - 2_000_000, BASE + 300)
    assert unexplained(made, lost) == {}


@pytest.mark.parametrize("event", DANGLING)
def test_an_event_that_names_the_unknown_is_unexplained(event: str) -> None:
    made = sound()
    made._add(event, 2, **DANGLING[event])
    assert unexplained(made) == {}
    begun(made)
    expected = {event: 1}
    assert unexplained(made) == expected
    lost = window(BASE - 2_000_000, BASE - 1_999_000)
    assert unexplained(made, lost) == {}


STOPPED = (
    "its executor stopped spinning after the wait (timeout, cancel or shutdown): it looked for no "
    "work"
)
REASONS: dict[str, tuple[str, dict[tuple[str, str], int]]] = {
    "a message was overwritten, one was left": (
        """
        200 1.1 enqueue on_t 1 1
        210 1.1 enqueue on_t 1 1 overwritten
        """,
        {
            (ENQUEUE, "a message was stored that another one overwrote"): 1,
            (ENQUEUE, "a message was stored that was left at the end"): 1,
        },
    ),
    "a publisher's own buffer": (
        "200 1.1 enqueue own 0 1",
        {(ENQUEUE, "a publisher's own buffer (transient local)"): 1},
    ),
    "a callback threw": (
        """
        200 2.2 ready
        201 2.2 execute on_timer
        202 2.2 callback_start on_timer
        203 2.2 ready
        """,
        {("callback_start", "begin of an execution that did not return (its callback threw)"): 1},
    ),
    "a callback runs at the end": (
        """
        200 2.2 ready
        201 2.2 execute on_timer
        202 2.2 callback_start on_timer
        """,
        {("callback_start", "begin of an execution at the end of its thread"): 1},
    ),
    "a callback spins": (
        """
        200 2.2 ready
        201 2.2 execute on_timer
        202 2.2 callback_start on_timer
        203 2.2 ready
        204 2.2 callback_end on_timer
        """,
        {(READY, "looked for work within a callback that spins"): 1},
    ),
    "a thread publishes, then spins": (
        """
        200 1.4 ready
        201 1.4 rcl_publish /u
        202 1.4 rmw_publish /u 202
        203 1.4 ready
        """,
        {
            (READY, "looked for work after the thread sent something outside of callbacks"): 1,
            # With that of the other process.
            (READY, "its thread's first look for work"): 2,
        },
    ),
    "a cancelled timer was picked": (
        """
        200 2.2 ready
        201 2.2 execute on_timer
        202 2.2 ready
        """,
        {(EXECUTE, "nothing was taken or called: the thread went on, or its events end"): 1},
    ),
    "a publish at the end": (
        "200 1.3 rcl_publish /u",
        {("rcl_publish", "its thread ends before its rmw_publish"): 1},
    ),
    "publishes after the shutdown": (
        """
        200 1.3 rclcpp_publish /u
        210 1.3 rclcpp_publish /u
        211 1.3 wait
        """,
        {("rclcpp_publish", "publish() after the context was shut down: refused"): 2},
    ),
    "another thread got its message out while the context was shut down": (
        """
        200 1.3 rclcpp_publish /u
        201 1.1 rclcpp_publish /u
        202 1.1 rcl_publish /u
        203 1.1 rmw_publish /u 203
        210 1.3 wait
        """,
        {("rclcpp_publish", "publish() after the context was shut down: refused"): 1},
    ),
    "spin_some whose time was over": (
        """
        200 2.3 wait 0
        201 2.3 wait 0
        202 2.3 ready
        203 2.3 callback_start on_timer
        204 2.3 wait 0
        205 2.3 callback_end on_timer
        """,
        {(WAIT, STOPPED): 2},
    ),
    "a request that nothing took": (
        "200 1.1 rmw_send_request ana 2",
        {("rmw_send_request", "a request that nothing took"): 1},
    ),
    "a request of another host": (
        "200 2.2 rmw_take_request on_add bob 1",
        {("rmw_take_request", "a request of a client that is not in the trace"): 1},
    ),
    "a request whose sending the end cut off": (
        "200 2.2 rmw_take_request on_add ana 2",
        {
            (
                "rmw_take_request",
                "a request that was taken before its send event, at the end of the trace",
            ): 1
        },
    ),
}


@pytest.mark.parametrize("name", REASONS)
def test_what_has_no_partner_for_a_reason_is_told(name: str) -> None:
    lines, expected = REASONS[name]
    made = begun(sound())
    made.own_buffer("own", pid=1)
    made.play(lines)
    model = made.model()
    assert unexplained(made) == {}
    found = {
        (use.event.removeprefix("ros2:"), use.text): use.count for use in model.facts.event_uses()
    }
    assert found.items() >= expected.items()


def test_a_loss_elsewhere_explains_no_thread() -> None:
    made = begun(sound())
    made.play(CONTRADICTIONS["ended twice"][0])
    assert unexplained(made, window(BASE + 100, BASE + 199)) == {"callback_end": 1}


# One event taken out of the midst of a whole trace; what then is unexplained.
DROPPED: list[tuple[str, str, Counts]] = [
    ("fast_fusion", "callback_start", {"callback_end": 1, EXECUTE: 1}),
    ("fast_fusion", "rmw_publish", {"rclcpp_publish": 1, "rcl_publish": 1}),
    ("fast_fusion", TAKE, {"rcl_take": 1, "rclcpp_take": 1, EXECUTE: 1}),
    ("fast_fusion", "rcl_publisher_init", {"rmw_publisher_init": 1, "rmw_publish": 228}),
    (
        "fast_fusion",
        "rcl_subscription_init",
        {
            "rmw_subscription_init": 1,
            "rclcpp_subscription_init": 1,
            ADDED: 1,
            TAKE: 479,
            EXECUTE: 479,
        },
    ),
    ("fast_fusion", "rcl_timer_init", {TIMER_ADDED: 1, LINKED: 1, EXECUTE: 500}),
    ("fast_fusion", TIMER_ADDED, {REGISTERED: 1, "callback_start": 500, EXECUTE: 500}),
    ("fast_fusion", ADDED, {REGISTERED: 1, "callback_start": 479}),
    ("fast_relay1p_ipcmixed", ENQUEUE, {DEQUEUE: 1}),
    ("fast_relay1p_ipcmixed", DEQUEUE, {ENQUEUE: 1}),
    (
        "fast_relay1p_ipcmixed",
        "rclcpp_construct_ring_buffer",
        {"rclcpp_buffer_to_ipb": 1, ENQUEUE: 17, DEQUEUE: 17},
    ),
    ("fast_svc", "rclcpp_service_callback_added", {REGISTERED: 1, "callback_start": 500}),
    (
        "fast_lifecycle",
        "rcl_lifecycle_state_machine_init",
        {"rclcpp_service_callback_added": 5, "rcl_lifecycle_transition": 40},
    ),
    ("services_kilted", "rmw_send_request", {"rmw_take_request": 1}),
    ("services_kilted", "rmw_take_request", {"rmw_send_response": 1}),
    ("services_kilted", "rmw_send_response", {"rmw_take_response": 1}),
]


@pytest.mark.parametrize(("name", "event", "expected"), DROPPED)
def test_an_event_that_goes_missing_leaves_others_unexplained(
    sample: Sample, name: str, event: str, expected: Counts
) -> None:
    tables = open_trace(sample(name)).tables()
    assert unexplained(tables) == {}
    table = tables[f"ros2:{event}"]
    at = len(table) // 2
    gone_ns = table["timestamp"][at].as_py()
    rest = pa.concat_tables([table.slice(0, at), table.slice(at + 1)])
    dropped = tables | {f"ros2:{event}": rest}
    assert unexplained(dropped) == expected
    # A loss that is told explains what it left behind.
    assert unexplained(dropped, window(gone_ns, gone_ns)) == {}


@pytest.mark.parametrize("name", ["fast_throws", "fast_lifecycle", "services_kilted"])
def test_a_trace_that_is_cut_at_its_begin_or_end_is_explained(sample: Sample, name: str) -> None:
    trace = open_trace(sample(name))
    tables = trace.tables()
    ns = np.sort(np.concatenate([table["timestamp"].to_numpy() for table in tables.values()]))
    for at_ns in ns[np.linspace(0, len(ns) - 1, 12).astype(int)]:
        for later in (True, False):
            kept = {
                event: table.filter(pa.array((table["timestamp"].to_numpy() >= at_ns) == later))
                for event, table in tables.items()
            }
            assert unexplained(kept) == {}, (at_ns, later)


@pytest.mark.parametrize("name", ["dds_jazzy_udp_resends", "dds_kilted_shm", "services_kilted"])
def test_every_event_of_rclpy_is_explained(sample: Sample, name: str) -> None:
    assert unexplained(open_trace(sample(name)).tables()) == {}


def test_what_losses_left_is_told(sample: Sample) -> None:
    uses = strata.analyze(sample("fast_relay1p_mt_lossy")).event_uses
    lost = uses[uses["use"].str.contains("lost")].set_index("event")["count"].to_dict()
    assert lost == {
        "ros2:rcl_take": 1,
        "ros2:callback_start": 51,
        "ros2:callback_end": 50,
        f"ros2:{WAIT}": 1,
        f"ros2:{EXECUTE}": 2,
    }
