# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Message links that nobody declared and that the trace makes probable.

A chain goes on from a message to what was published in its callback. Two kinds of nodes cut it, and
no event shows how:

* **stored**: the node publishes outside of the callbacks of its subscriptions: in a timer, or in a
  thread of its own. Its inputs are those whose callbacks publish nothing.
* **fan-in**: the node publishes in the callback of whichever input came last. Its inputs are those
  whose callbacks publish the output, and those whose callbacks publish nothing.

What is proposed follows the rules of strata.layers.links. Of each publication but the first it is
counted whether an input had a *new* message: one whose callback began after the publication before
and had ended at this one. What timers publish is periodic_async; else an input is partial_sync when
nearly all publications had a new message, and periodic_async when not.

Fan-in is *waiting* when the rule "publish once every input has a new message" foretells nearly all
callbacks of the inputs, and some had to wait. Where the callbacks of one input always publish, no
callback shows that they wait: another input that always had a new message is proposed all the same,
one that had not (a map, a calibration) is only possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from strata.layers.node_traffic import Input, NodeTraffic, Output
from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.links import NodeLink

_MOST = 0.95
"""Share that counts as nearly all."""
_FEWEST = 5
"""Publications with one before them that are needed to propose anything."""
STORED, FAN_IN = "stored", "fan-in"


@dataclass(frozen=True)
class Proposal:
    """`output.node` may publish `output.topic` from messages of `input`.

    `published` says where the publish calls were made. Of `publications`, `new` had a new message
    of the input, and `stored` any. Of fan-in that waits, `decided` callbacks of its inputs
    were looked at, and `foretold` did what the rule says; both are 0 otherwise.
    """

    output: Output
    input: str
    cut: str
    kind: str
    probable: bool
    published: str
    publications: int
    new: int
    stored: int
    decided: int = 0
    foretold: int = 0


def propose_links(model: Model, known: Sequence[NodeLink]) -> list[Proposal]:
    """Return what can be proposed, by node, output and input.

    Outputs of which links are `known` are left out: whoever declared these knows the node.
    """
    traffic = NodeTraffic(model)
    found: list[Proposal] = []
    for output in traffic.outputs():
        declared = any(np.isin(output.publishers, link.publishers).any() for link in known)
        if len(output.rows) > _FEWEST and not declared:
            found += _of_output(traffic, output, traffic.inputs(output))
    return found


def _of_output(traffic: NodeTraffic, output: Output, inputs: list[Input]) -> list[Proposal]:
    """Proposals for one topic that a node publishes."""
    active = [given for given in inputs if traffic.publishing(given, output).any()]
    ending = [given for given in inputs if traffic.publishing(given).mean() <= 1 - _MOST]
    if traffic.caused(output).mean() <= 1 - _MOST:
        return [found for given in ending if (found := _stored(traffic, output, given)).stored]
    ending = [given for given in ending if given not in active]
    return _fan_in(traffic, output, active, ending) if active else []


def _stored(traffic: NodeTraffic, output: Output, given: Input) -> Proposal:
    counts = _count(output, given)
    publications, new, _ = counts
    synchronous = not traffic.by_timers(output) and new >= _MOST * publications
    kind = "partial_sync" if synchronous else "periodic_async"
    return Proposal(output, given.topic, STORED, kind, True, traffic.places(output), *counts)


def _fan_in(
    traffic: NodeTraffic, output: Output, active: list[Input], ending: list[Input]
) -> list[Proposal]:
    where = traffic.places(output)
    waiting, decided, foretold = _waiting(traffic, output, active, ending)
    out = []
    for given in sorted([*active, *ending], key=lambda given: given.topic):
        counts = _count(output, given)
        if given in waiting:
            numbers = (*counts, decided, foretold)
            out.append(Proposal(output, given.topic, FAN_IN, "partial_sync", True, where, *numbers))
        elif given in ending and counts[2]:
            always = counts[1] >= _MOST * counts[0]
            kind = "partial_sync" if always else "periodic_async"
            out.append(Proposal(output, given.topic, FAN_IN, kind, always, where, *counts))
    return out


def _waiting(
    traffic: NodeTraffic, output: Output, active: list[Input], ending: list[Input]
) -> tuple[list[Input], int, int]:
    """Which inputs wait for each other, if any: all together, else those that publish."""
    for inputs in (active + ending, active):
        decided, foretold, waited = _foretold(traffic, output, inputs)
        if len(inputs) > 1 and waited and foretold >= _MOST * decided:
            return inputs, decided, foretold
    return [], 0, 0


def _count(output: Output, given: Input) -> tuple[int, int, int]:
    """How many publications had one before them, and of these, a new message, and any."""
    at_ns, previous_ns = output.begin_ns[1:], output.begin_ns[:-1]
    newest = given.newest(at_ns)
    new = np.asarray((newest > previous_ns) | np.isin(output.execution, given.rows)[1:])
    return len(at_ns), int(new.sum()), int((new | (newest != NONE)).sum())


def _foretold(traffic: NodeTraffic, output: Output, inputs: list[Input]) -> tuple[int, int, bool]:
    """Hold callbacks of the inputs against "publish once every input has a new message".

    Returns how many callbacks after the first publication were looked at, how many did what the
    rule says, and whether any had to wait for another input.
    """
    decided = foretold = waited = 0
    for given in inputs:
        did = traffic.publishing(given, output)
        at_ns = np.where(did, traffic.published_ns(given, output), given.until_ns)
        place = np.searchsorted(output.begin_ns, given.start_ns, side="left") - 1
        known = place >= 0
        since = output.begin_ns[np.maximum(place, 0)]
        others = [other.newest(at_ns) > since for other in inputs if other is not given]
        should = np.logical_and.reduce(others) if others else np.ones(len(did), bool)
        decided += int(known.sum())
        foretold += int((known & (did == should)).sum())
        # An input that never publishes shows nothing: it may only be stored.
        waited += int((known & ~did & ~should).sum()) if did.any() else 0
    return decided, foretold, waited > 0
