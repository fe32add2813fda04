# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""States of lifecycle nodes, from their transitions.

A node enters the goal of a transition when the event fires and stays until its next transition,
which begins in that state. Where it begins in another, events were lost: the time in between is in
no known state. A node begins in the state that its first transition leaves; without any transition
in `unconfigured`, as rcl makes it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, EventColumns, Ints
from strata.model.entities import UNKNOWN, Nodes
from strata.model.search import Lifetimes
from strata.schema.quality import Finding, Findings

_INIT = "ros2:rcl_lifecycle_state_machine_init"
_TRANSITION = "ros2:rcl_lifecycle_transition"
_FIRST_STATE = "unconfigured"


@dataclass(frozen=True)
class StateMachines:
    """One row a state machine and life; `node` is a row of the nodes, or `NONE`.

    `begin_ns` is `NONE` for one whose init event was not recorded.
    """

    process: Ints
    address: Ints
    node: Ints
    begin_ns: Ints
    end_ns: Ints


@dataclass(frozen=True)
class States:
    """One row a stay in a state, by machine and time.

    `begin_ns` and `end_ns` are `NONE` where the trace does not hold them.
    """

    machine: Ints
    state: npt.NDArray[np.object_]
    begin_ns: Ints
    end_ns: Ints


def find_states(events: EventColumns, nodes: Nodes) -> tuple[StateMachines, States, Findings]:
    """Return the state machines and their stays in states; missing transitions are counted."""
    process, at_ns = events.process(_TRANSITION), events.timestamps(_TRANSITION)
    address = events.ints(_TRANSITION, "state_machine")
    machines, machine = _machines(events, nodes, process, address, at_ns)
    order = np.lexsort((np.arange(len(at_ns)), at_ns, machine))
    machine, at_ns = machine[order], at_ns[order]
    start = events.text(_TRANSITION, "start_label")[order]
    goal = events.text(_TRANSITION, "goal_label")[order]
    first = np.ones(len(machine), bool)
    first[1:] = machine[1:] != machine[:-1]
    before = np.where(first, _FIRST_STATE, np.roll(goal, 1))
    # The first state of a node that was made before the trace began is any.
    begun = machines.begin_ns[machine] != NONE
    missing = (start != before) & (~first | begun)
    # One stay ends with each transition, and one lasts after the last of each machine.
    idle = np.setdiff1d(np.arange(len(machines.process)), machine)
    last = np.r_[np.flatnonzero(first)[1:] - 1, len(machine) - 1] if len(machine) else []
    last = np.asarray(last, np.int64)
    began = np.where(first, machines.begin_ns[machine], np.roll(at_ns, 1))
    states = States(
        np.concatenate([machine, machine[last], idle]),
        np.concatenate(
            [
                np.where(missing, UNKNOWN, start),
                goal[last],
                np.full(len(idle), _FIRST_STATE, dtype=object),
            ]
        ),
        np.concatenate([began, at_ns[last], machines.begin_ns[idle]]),
        np.concatenate([at_ns, machines.end_ns[machine[last]], machines.end_ns[idle]]),
    )
    final = np.lexsort((np.arange(len(states.machine)), states.machine))
    ordered = States(
        states.machine[final], states.state[final], states.begin_ns[final], states.end_ns[final]
    )
    return machines, ordered, Findings(Finding("missing_transitions", int(missing.sum())))


def _machines(
    events: EventColumns, nodes: Nodes, process: Ints, address: Ints, at_ns: Ints
) -> tuple[StateMachines, Ints]:
    """All state machines, those known by transitions only behind; and that of each transition."""
    made, begin_ns = events.process(_INIT), events.timestamps(_INIT)
    handle = events.ints(_INIT, "state_machine")
    lives = Lifetimes(made, handle, begin_ns)
    machine = lives.find(process, address, at_ns)
    node = nodes.by_handle.find(made, events.ints(_INIT, "node_handle"), begin_ns)
    end_ns = lives.ends(begin_ns)
    nameless = np.flatnonzero(machine == NONE)
    pairs, of_pair = np.unique(
        np.stack([process[nameless], address[nameless]]), axis=1, return_inverse=True
    )
    machine[nameless] = len(made) + of_pair
    unknown = np.full(pairs.shape[1], NONE, np.int64)
    # A machine that no init event introduced lives until one introduces its address again.
    reborn = lives.first_after(pairs[0], pairs[1], unknown) if pairs.size else unknown
    ends = np.where(reborn != NONE, begin_ns[reborn], NONE) if len(begin_ns) else unknown
    every = np.concatenate([made, pairs[0]])
    end = np.concatenate([end_ns, ends])
    gone = events.processes.end_ns[every]
    return (
        StateMachines(
            every,
            np.concatenate([handle, pairs[1]]),
            np.concatenate([node, unknown]),
            np.concatenate([begin_ns, unknown]),
            np.where(end != NONE, end, gone),
        ),
        machine,
    )
