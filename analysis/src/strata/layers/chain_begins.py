# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which messages seem to begin a chain only because what caused them is missing from the trace.

A message without a cause begins a chain. But one that was published in a subscription's callback
has a cause, also where the trace does not have it: the tracer lost the take, or the take could not
be matched. A chain from there on would begin in the middle, with a latency and a bottleneck of its
own. So such a message is no begin when

* other executions of the callback have messages, and the one that published it has none; or
* it was published outside of callbacks while events were being lost, by a publisher that publishes
  in callbacks of messages.

It is a begin all the same when the take is there, nothing was lost and the trace had begun long
before, for all processes: then its publication is of a process that was not traced.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.engine.groups import raise_to
from strata.engine.windows import touched
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.search import pick

Flags = npt.NDArray[np.bool_]


def causes_missing(model: Model, transfers: Transfers) -> Flags:
    """Return which messages have a cause that is not in the trace; one row a message."""
    executions, publications = model.executions, model.publications
    # The last place stands for no execution, and no callback.
    has_message = np.zeros(len(executions) + 1, bool)
    has_message[transfers.execution[transfers.execution != NONE]] = True
    fed = np.zeros(len(model.entities.callbacks.address) + 1, bool)
    fed[executions.callback[has_message[:-1]]] = True
    fed[-1] = False
    source = publications.execution
    inside = source != NONE
    missing = fed[pick(executions.callback, source)] & ~has_message[source]
    missing &= ~_from_outside(model, transfers, source)
    missing |= ~inside & _stray(model, has_message)
    return np.asarray(missing[transfers.publication])


def _from_outside(model: Model, transfers: Transfers, source: Ints) -> Flags:
    """Return which executions took what a process that was not traced published."""
    takes, matches, publications = model.takes, model.matches, model.publications
    sent = publications.rmw_publish_ns != NONE
    if (publications.source_timestamp[sent] == NONE).any():
        # Without stamps a take may be unmatched although its publication is there.
        return np.zeros(len(source), bool)
    clear = takes.rmw_take_ns != NONE
    clear[matches.take] = False
    clear[matches.doubtful[0]] = False
    between_ns = transfers.taken_ns - transfers.publish_ns
    longest = int(between_ns[~transfers.unsynchronised].max(initial=0))
    since_ns = takes.taken_ns - longest
    # Processes that were there before begin to be recorded one after the other.
    begin_ns = max(model.facts.first_ns, model.joined_ns)
    clear &= (since_ns > begin_ns) & ~touched(model.losses, since_ns, takes.taken_ns)
    outside = np.zeros(len(model.executions) + 1, bool)
    started = takes.execution[clear]
    outside[started[started != NONE]] = True
    return outside[source]


def _stray(model: Model, has_message: Flags) -> Flags:
    """Return which publications may have been made in a callback whose begin was lost."""
    publications, executions = model.publications, model.executions
    publisher, source = publications.publisher, publications.execution
    caused = has_message[source] & (publisher != NONE)
    longest = np.full(int(publisher.max(initial=-1)) + 2, NONE, np.int64)
    hold_ns = publications.begin_ns - pick(executions.start_ns, source)
    raise_to(longest, publisher[caused], hold_ns[caused])
    own = longest[publisher]
    begin_ns = publications.begin_ns
    return np.asarray((own != NONE) & touched(model.losses, begin_ns - own, begin_ns))
