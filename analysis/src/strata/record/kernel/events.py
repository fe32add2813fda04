# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Events of the kernel: their names with lttng-modules and with perf, and how perf prints them.

The fields are those of lttng-modules; the patterns are the kernel's own print formats
(`/sys/kernel/tracing/events/*/*/format`), with a group for each field in order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase


class Form(StrEnum):
    """What a field is in the trace that is written; integers are little endian."""

    COMM = "16 characters"
    NAME = "32 characters"
    INT32 = "int32"
    INT64 = "int64"
    UINT32 = "uint32"
    HEX = "uint64, printed as hexadecimal"
    STATE = "int64, printed as letters"
    HANDLED = "int32, printed as a word"


@dataclass(frozen=True)
class PerfEvent:
    """One event: its name for LTTng and for perf, its fields, and the pattern of its text."""

    name: str
    perf: str
    fields: tuple[tuple[str, Form], ...]
    pattern: str


_COMM = r"(?P<{0}comm>.*) {0}pid=(?P<{0}tid>\d+) {0}prio=(?P<{0}prio>-?\d+)"
_SWITCH_FIELDS = (
    ("prev_comm", Form.COMM),
    ("prev_tid", Form.INT32),
    ("prev_prio", Form.INT32),
    ("prev_state", Form.STATE),
    ("next_comm", Form.COMM),
    ("next_tid", Form.INT32),
    ("next_prio", Form.INT32),
)
_WAKE_FIELDS = (
    ("comm", Form.COMM),
    ("tid", Form.INT32),
    ("prio", Form.INT32),
    ("target_cpu", Form.INT32),
)
_WAKE = "comm=" + _COMM.format("") + r"(?: success=\d)? target_cpu=(?P<target_cpu>\d+)"
_PACKET_FIELDS = (("skbaddr", Form.HEX), ("len", Form.UINT32), ("name", Form.NAME))
_PACKET = r"dev=(?P<name>.*) skbaddr=(?:0x)?(?P<skbaddr>[0-9a-f]+) len=(?P<len>\d+)"
_VECTOR = r"vec=(?P<vec>\d+)(?: .*)?"

PERF_EVENTS: tuple[PerfEvent, ...] = (
    PerfEvent(
        "sched_switch",
        "sched:sched_switch",
        _SWITCH_FIELDS,
        "prev_comm="
        + _COMM.format("prev_")
        + r" prev_state=(?P<prev_state>\S+) ==> next_comm="
        + _COMM.format("next_"),
    ),
    PerfEvent("sched_waking", "sched:sched_waking", _WAKE_FIELDS, _WAKE),
    PerfEvent("sched_wakeup", "sched:sched_wakeup", _WAKE_FIELDS, _WAKE),
    PerfEvent("sched_wakeup_new", "sched:sched_wakeup_new", _WAKE_FIELDS, _WAKE),
    PerfEvent(
        "irq_handler_entry",
        "irq:irq_handler_entry",
        (("irq", Form.INT32), ("name", Form.NAME)),
        r"irq=(?P<irq>\d+) name=(?P<name>.*)",
    ),
    PerfEvent(
        "irq_handler_exit",
        "irq:irq_handler_exit",
        (("irq", Form.INT32), ("ret", Form.HANDLED)),
        r"irq=(?P<irq>\d+) ret=(?P<ret>\w+)",
    ),
    PerfEvent("irq_softirq_entry", "irq:softirq_entry", (("vec", Form.UINT32),), _VECTOR),
    PerfEvent("irq_softirq_exit", "irq:softirq_exit", (("vec", Form.UINT32),), _VECTOR),
    PerfEvent("net_dev_queue", "net:net_dev_queue", _PACKET_FIELDS, _PACKET),
    PerfEvent("net_if_receive_skb", "net:netif_receive_skb", _PACKET_FIELDS, _PACKET),
    PerfEvent(
        "power_cpu_frequency",
        "power:cpu_frequency",
        (("state", Form.UINT32), ("cpu_id", Form.UINT32)),
        r"state=(?P<state>\d+) cpu_id=(?P<cpu_id>\d+)",
    ),
)

DEFAULT_EVENTS: tuple[str, ...] = (
    "sched_switch",
    "sched_waking",
    "sched_wakeup_new",
    "irq_handler_entry",
    "irq_handler_exit",
    "irq_softirq_entry",
    "irq_softirq_exit",
    "net_dev_queue",
    "net_if_receive_skb",
)
"""What `strata record --kernel` records when the configuration lists no kernel event."""


def of_perf(wanted: Iterable[str]) -> tuple[list[PerfEvent], list[str]]:
    """Return the events that perf can record for names or patterns, and names without any."""
    found: dict[str, PerfEvent] = {}
    without = []
    for name in wanted:
        matching = [event for event in PERF_EVENTS if fnmatchcase(event.name, name)]
        found |= {event.name: event for event in matching}
        if not matching:
            without.append(name)
    return [event for event in PERF_EVENTS if event.name in found], without
