# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of kernel events, under their names in lttng-modules.

Their names have no provider prefix. Events that `strata record` takes from perf instead of
lttng-modules have the same names and fields. Thread ids are those of the initial pid namespace.
"""

from __future__ import annotations

from strata.schema.event import Event, Field, Kind, Phase


def _event(name: str, fields: tuple[Field, ...], doc: str) -> Event:
    return Event(name, Phase.RUNTIME, fields, doc, provider="")


def _thread(prefix: str, whose: str) -> tuple[Field, ...]:
    return (
        Field(f"{prefix}comm", Kind.STRING, f"name of {whose}, 15 characters"),
        Field(f"{prefix}tid", Kind.INT, f"id of {whose}; 0: the CPU's idle thread"),
        Field(f"{prefix}prio", Kind.INT, "kernel priority: 0-99 real-time, 120 nice 0"),
    )


_WOKEN = (*_thread("", "the thread"), Field("target_cpu", Kind.INT, "CPU that it will wait for"))
_IRQ = Field("irq", Kind.INT, "number of the interrupt")
_VECTOR = Field("vec", Kind.UINT, "1 timer, 2 net_tx, 3 net_rx, 4 block, 6 tasklet, 7 sched, 9 rcu")
_PACKET = (
    Field("skbaddr", Kind.HANDLE, "address of the packet's buffer"),
    Field("len", Kind.UINT, "bytes of the packet"),
    Field("name", Kind.STRING, "network device"),
)

SCHED_SWITCH, SCHED_WAKING = "sched_switch", "sched_waking"
SCHED_WAKEUP, SCHED_WAKEUP_NEW = "sched_wakeup", "sched_wakeup_new"

KERNEL_EVENTS: tuple[Event, ...] = (
    _event(
        SCHED_SWITCH,
        (
            *_thread("prev_", "the thread that leaves the CPU"),
            Field(
                "prev_state",
                Kind.INT,
                "why it leaves, in the lowest eight bits: 0 still runnable (preempted), 1 "
                "interruptible sleep, 2 uninterruptible sleep, others: stopped, dead, idle",
            ),
            *_thread("next_", "the thread that gets it"),
        ),
        "A CPU switches from one thread to another.",
    ),
    _event(SCHED_WAKING, _WOKEN, "A thread is being woken, by the thread that runs here."),
    _event(SCHED_WAKEUP, _WOKEN, "A woken thread is in the queue of a CPU."),
    _event(SCHED_WAKEUP_NEW, _WOKEN, "A new thread is in the queue of a CPU."),
    _event(
        "irq_handler_entry",
        (_IRQ, Field("name", Kind.STRING, "its handler")),
        "The handler of an interrupt begins.",
    ),
    _event(
        "irq_handler_exit",
        (_IRQ, Field("ret", Kind.INT, "1: handled")),
        "The handler of an interrupt returns.",
    ),
    _event("irq_softirq_entry", (_VECTOR,), "A deferred handler begins."),
    _event("irq_softirq_exit", (_VECTOR,), "A deferred handler returns."),
    _event("net_dev_queue", _PACKET, "A packet is passed to a network device."),
    _event("net_if_receive_skb", _PACKET, "A packet came from a network device."),
    _event(
        "power_cpu_frequency",
        (
            Field("state", Kind.UINT, "kHz"),
            Field("cpu_id", Kind.UINT, "CPU whose frequency it is", column="_cpu_id"),
        ),
        "A CPU changes its frequency.",
    ),
)


def is_of_kernel(name: str) -> bool:
    """Return whether an LTTng event is the kernel's, known or not: its name has no provider."""
    return ":" not in name
