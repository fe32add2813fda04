# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages between hosts: how far apart the times of sender and reader are seen to be.

The difference is the time that the message was under way plus how far the reader's clock is ahead
of the sender's. Neither is known. That the least one of many is negative says that the clocks are
at least so far apart.
"""

from __future__ import annotations

import numpy as np

from strata.layers.transfers import Transfers
from strata.lazy import pandas as pd
from strata.model.build import Model
from strata.model.columns import Ints
from strata.schema.quality import NOTHING_FOUND, Finding, Findings
from strata.units import format_count, format_ns


def clocks_of(model: Model, transfers: Transfers) -> tuple[Ints, Ints]:
    """Return the numbers of the clocks of the publisher and of the reader of each message."""
    of_thread = model.host_clocks.of_thread
    publisher = model.publications.thread[transfers.publication]
    return of_thread[publisher], of_thread[model.takes.thread[transfers.take]]


def count_between_hosts(model: Model, transfers: Transfers) -> Findings:
    """Return how many messages are between hosts without a common clock, and what is seen."""
    apart = np.flatnonzero(transfers.unsynchronised)
    if not len(apart):
        return NOTHING_FOUND
    of_thread = model.processes.thread_process
    hosts = np.asarray(model.processes.host, object)
    source = hosts[of_thread[model.publications.thread[transfers.publication[apart]]]]
    reader = hosts[of_thread[model.takes.thread[transfers.take[apart]]]]
    between_ns = transfers.between_hosts_ns[apart]
    ways = pd.DataFrame({"source": source, "reader": reader, "ns": between_ns})
    told = []
    for (one, other), own in ways.groupby(["source", "reader"])["ns"]:
        spread = f"{format_ns(int(own.min()))} to {format_ns(int(own.max()))}"
        count = format_count(len(own), "message", "messages")
        told.append(f"{one} -> {other}: {spread} in {count}")
    return Findings(
        Finding("unsynchronised_messages", len(apart), tuple(told)),
        Finding("messages_before_publish", int((between_ns < 0).sum())),
    )
