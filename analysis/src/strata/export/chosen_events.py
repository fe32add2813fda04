# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which events of a trace belong to what was chosen from its analysis."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from strata.export.chosen import Chosen
from strata.read.namespaces import machine_of
from strata.schema.rows import Flags, Ints, first_known
from strata.stats.partition import partition

_Threads = dict[tuple[str, int], tuple[Ints, Ints]]


class ChosenEvents:
    """Choose events as `Chosen` does messages.

    With a chain or the slowest messages chosen, these are the publishes and takes of the chosen
    messages and the callback executions around them; otherwise all of the chosen time.
    """

    def __init__(self, chosen: Chosen) -> None:
        """Take what was chosen; tables are read when they are needed."""
        self._chosen = chosen
        self._vpids = np.unique(chosen.analysis.rows("processes")["vpid"])

    def of_processes(self, events: pa.Table) -> pa.Table:
        """Return the events of the processes that the analysis covers."""
        return events.filter(pa.array(np.isin(events["vpid"].to_numpy(), self._vpids)))

    def during(self, timestamp: Ints) -> Flags:
        """Return which times (ns since the epoch) lie in the chosen ones."""
        return self._chosen.during(timestamp)

    def of_messages(self, events: pa.Table) -> pa.Table:
        """Return the publishes or takes that were chosen."""
        if not self._chosen.by_message:
            return events.filter(pa.array(self.during(events["timestamp"].to_numpy())))
        wanted = np.zeros(len(events), bool)
        timestamp, vtid = events["timestamp"].to_numpy(), events["vtid"].to_numpy()
        host = pc.cast(events["host"], pa.string())
        for name in pc.unique(host).to_pylist():
            on_host = np.flatnonzero(pc.equal(host, name).to_numpy())
            for thread, rows in partition(vtid[on_host]):
                span = self._spans.get((machine_of(name), thread))
                if span is not None:
                    begin, end = span
                    own = on_host[rows]
                    at = np.searchsorted(begin, timestamp[own], side="right") - 1
                    wanted[own] = (at >= 0) & (timestamp[own] <= end[np.maximum(at, 0)])
        return events.filter(pa.array(wanted))

    @cached_property
    def executions(self) -> Flags:
        """Which rows of `callback_instances` were chosen."""
        if self._chosen.by_message:
            return self._chosen.executions
        return self.during(self._chosen.analysis.rows("callback_instances")["start_ns"])

    @cached_property
    def _spans(self) -> _Threads:
        """Per host and thread id the times of the chosen publishes and takes, both included.

        Within a publish or a take a thread has no events of another one.
        """
        analysis = self._chosen.analysis
        messages = analysis.rows("messages").take(self._chosen.messages)
        publications = analysis.rows("publications").take(np.unique(messages["publication_id"]))
        takes = analysis.rows("takes").take(messages["take_id"])
        taken = first_known(takes["rmw_take_ns"], takes["dequeue_ns"])
        sides = (
            (publications, publications["client_ns"], publications["rmw_publish_ns"]),
            (takes, taken, messages["callback_start_ns"]),
        )
        host = [machine_of(name) for rows, _, _ in sides for name in rows.texts("host")]
        vtid = np.concatenate([rows["vtid"] for rows, _, _ in sides])
        begin = np.concatenate([first_known(first, last) for _, first, last in sides])
        end = np.concatenate([first_known(last, first) for _, first, last in sides])
        found: dict[tuple[str, int], list[int]] = {}
        for row, thread in enumerate(zip(host, vtid.tolist(), strict=True)):
            found.setdefault(thread, []).append(row)
        spans = {}
        for thread, own in found.items():
            ordered = np.array(own)[np.argsort(begin[own], kind="stable")]
            spans[thread] = (begin[ordered], np.maximum.accumulate(end[ordered]))
        return spans
