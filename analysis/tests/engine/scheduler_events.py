# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the kernel's scheduler did, made up: threads that sleep, are woken and get CPUs.

tables = scheduler_work(Random(7))
"""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
from kernel_scene import table_of
from scene import BASE

EVENTS = ("sched_switch", "sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new")
"""Names by how often each is chosen."""
TRACED_STEP = {"event": "ros2:rclcpp_executor_wait_for_work", "host": "h", "vpid": 1}
"""An event of a program, without its thread and the time since the one before."""


def scheduler_work(chance: Random) -> dict[str, pa.Table]:
    """Return tables of three threads of a program, and of what the kernel tells of five."""
    threads = [TRACED_STEP | {"pause": 1, "vtid": thread} for thread in (1, 2, 3)]
    steps = threads + machine(chance, chance.randint(0, 150))
    return tables_of(steps, contexts=chance.random() < 0.5)


def tables_of(steps: list[dict[str, Any]], *, contexts: bool) -> dict[str, pa.Table]:
    """Tables of steps; a context is the vpid and vtid of the thread that leaves a CPU."""
    at = 0
    rows: dict[str, list[dict[str, Any]]] = {}
    had: dict[tuple[str, int], int] = {}
    for step in steps:
        at += step["pause"]
        row = {"timestamp": BASE + at, **step}
        if step["event"] == "sched_switch":
            cpu = (step["host"], step["cpu_id"])
            if row["prev_tid"] is None:
                row["prev_tid"] = had.get(cpu)
            had[cpu] = step["next_tid"]
            vpid, vtid = row.get("context") or (None, None)
            vtid = row["prev_tid"] if vpid is not None and vtid is None else vtid
            row |= {"vpid": vpid if contexts else None, "vtid": vtid if contexts else None}
        rows.setdefault(step["event"], []).append(row)
    return {event: table_of(event, found) for event, found in rows.items()}


def machine(chance: Random, events: int) -> list[dict[str, Any]]:
    """The events of threads that sleep, are woken and scheduled on CPUs; but for some lost."""
    cpus, losses, pauses = (
        chance.randint(1, 3),
        chance.choice((0, 0.02, 0.2)),
        chance.choice((1, 9)),
    )
    had = [0] * cpus
    asleep = set(range(1, 6))
    queue: list[int] = []
    steps: list[dict[str, Any]] = []
    while len(steps) < events:
        cpu, thread, stays = chance.randrange(cpus), chance.randint(1, 5), chance.random() < 0.3
        step: dict[str, Any]
        if thread in asleep and chance.random() < 0.5:
            asleep.remove(thread)
            queue.append(thread)
            step = {"event": chance.choice(EVENTS[2:]), "tid": thread, "target_cpu": cpu}
        elif had[cpu] or queue:
            left, came = had[cpu], queue.pop(0) if queue else 0
            if left:
                (queue.append if stays else asleep.add)(left)
            had[cpu] = came
            step = {
                "event": "sched_switch",
                "prev_tid": left,
                "next_tid": came,
                "prev_state": 0 if stays else 1,
                "prev_comm": f"t{left}",
                "cpu_id": cpu,
                "context": (1, None),
            }
        else:
            continue
        if chance.random() >= losses:
            steps.append(step | {"pause": chance.randint(0, pauses), "host": "h"})
        if chance.random() < 0.2:
            steps.append(TRACED_STEP | {"pause": 0, "vtid": had[cpu] or thread})
    return steps
