# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which messages of a chain a page embeds, so that whatever is clicked leads to one of them.

The slowest, a sample by quantile, and for each layer and each cause of the chain the message in
which it takes longest; where asked for, also one for each bar of a histogram, and the slowest of
each stretch of time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from strata.analysis import Analysis
from strata.errors import TraceError
from strata.schema.rows import Ints
from strata.stats.causes import Causes, Evidence, find_causes
from strata.stats.evidence import EVIDENCE, evidence_of
from strata.stats.groups import ChainGroups, chain_groups
from strata.stats.partition import partition
from strata.stats.segments import Segments
from strata.symbols import shorten_place

MOST_CAUSES = 20
"""For so many causes of a chain, those of the largest shares, a message is chosen."""

_EXAMINED = 2000
"""Causes are looked for in at most so many messages of a chain, the slowest of each group."""


@dataclass(frozen=True)
class Reason:
    """Why a message was chosen.

    `kind` is slowest, quantile, start-up, layer, cause, bar or moment; `text` says it. A quantile
    has `quantile`; a layer `layer`, `hop` (along the chain, from 0) and `duration_ns`; a cause
    `layer`, `where` (both as in the table `blame`) and `duration_ns`; a bar and a moment `bar`, the
    number of the histogram's bar or of the stretch of time, from 0. The others are null.
    """

    kind: str
    text: str
    quantile: float | None = None
    layer: str | None = None
    where: str | None = None
    hop: int | None = None
    bar: int | None = None
    duration_ns: int | None = None


@dataclass(frozen=True)
class EmbeddedMessage:
    """A message to embed: a row of `chain_instances`, and why.

    `rank` is 1 for the slowest of the chain. `quantile` is what part of the chain's other messages
    are faster, or as fast and earlier: 0 for the fastest, 1 for the slowest.
    """

    chain_instance_id: int
    chain_id: int
    message_id: int
    latency_ns: int
    rank: int
    quantile: float
    reasons: tuple[Reason, ...]


class Embedding:
    """Chooses messages of the chains of one analysis."""

    def __init__(self, analysis: Analysis) -> None:
        """Take an analysis; its tables are read when they are needed."""
        self._rows = analysis.rows
        self._instances = analysis.rows("chain_instances")
        chain = self._instances["chain_id"]
        self._of_chain = dict(partition(chain))

    def of(
        self,
        chain_id: int,
        *,
        slowest: int,
        sample: int,
        edges_ns: Sequence[float] = (),
        moments: int = 0,
    ) -> tuple[EmbeddedMessage, ...]:
        """Return the chosen messages of a chain, the slowest first; none of one without messages.

        `slowest` and `sample` count messages; the sample is spread evenly over the quantiles from
        0 to 1, with the median. `edges_ns` are those of a histogram's bars, ascending, the last one
        included; `moments` counts equal stretches of the chain's time. Messages of the start-up are
        in no figure of the chain, and so are chosen only as its slowest, for a bar or a moment.
        Raises TraceError for a chain that is not there.
        """
        if not 0 <= chain_id < len(self._rows("chains")):
            raise TraceError(
                f"Cannot choose messages of chain {chain_id}: the trace has "
                f"{len(self._rows('chains'))} chains, numbered from 0 (table chains). Choose one "
                "of them."
            )
        own = self._of_chain.get(chain_id, np.empty(0, np.int64))
        if not len(own):
            return ()
        chosen: dict[int, list[Reason]] = {}
        picks = (
            self._by_latency(own, slowest, sample),
            self._by_layer(chain_id),
            self._by_cause(chain_id, own),
            self._by_bar(own, np.asarray(edges_ns, np.float64)),
            self._by_moment(own, moments),
        )
        for pick in picks:
            for row, reason in pick:
                chosen.setdefault(row, []).append(reason)
        return self._ordered(own, chosen)

    def _ordered(self, own: Ints, chosen: dict[int, list[Reason]]) -> tuple[EmbeddedMessage, ...]:
        ranked = self._by_speed(own)[::-1]
        rank = {row: at for at, row in enumerate(ranked.tolist(), 1)}
        last = max(len(own) - 1, 1)
        return tuple(
            EmbeddedMessage(
                int(self._instances["chain_instance_id"][row]),
                int(self._instances["chain_id"][row]),
                int(self._instances["message_id"][row]),
                int(self._instances["latency_ns"][row]),
                rank[row],
                1 - (rank[row] - 1) / last,
                tuple(chosen[row]),
            )
            for row in sorted(chosen.keys() & rank.keys(), key=rank.__getitem__)
        )

    def _by_speed(self, rows: Ints) -> Ints:
        """Return rows of `chain_instances`, the fastest first, of equals the earlier."""
        latency = self._instances["latency_ns"][rows]
        return np.asarray(rows[np.lexsort((rows, latency))], np.int64)

    def _by_latency(self, own: Ints, slowest: int, sample: int) -> Iterator[tuple[int, Reason]]:
        settled = own[self._groups.settled[own]]
        ordered = self._by_speed(settled)
        for at, row in enumerate(ordered[::-1][:slowest].tolist(), 1):
            yield row, Reason("slowest", f"no. {at} of the slowest")
        evenly = np.linspace(0, 1, sample) if sample > 1 else np.empty(0)
        if sample:
            evenly = np.unique(np.append(evenly, 0.5))
        places = np.floor(evenly * (len(ordered) - 1)).astype(np.int64)
        for quantile, row in zip(evenly.tolist(), ordered[places].tolist(), strict=True):
            text = "the median" if quantile == 0.5 else f"quantile {quantile:.3g}"
            yield row, Reason("quantile", text, quantile=quantile)
        early = self._by_speed(own[~self._groups.settled[own]])
        if len(early):
            yield int(early[-1]), Reason("start-up", "the slowest of the start-up")

    def _by_layer(self, chain_id: int) -> Iterator[tuple[int, Reason]]:
        """Yield for each layer of each hop the message in which it takes longest."""
        segments = self._rows("chain_segments")
        rows = self._segments_of_chain.get(chain_id)
        if rows is None:
            return
        instance, ns = segments["chain_instance_id"][rows], segments["duration_ns"][rows]
        settled = self._groups.settled[self._row_of(instance)]
        rows, instance, ns = rows[settled], instance[settled], ns[settled]
        for _, own in partition(segments["position"][rows]):
            at = own[np.lexsort((instance[own], -ns[own]))[0]]
            if ns[at] <= 0:
                continue
            row = int(rows[at])
            layer, hop = segments.words("layer").at(row), int(segments["hop"][row])
            text = f"longest {layer} of hop {hop + 1}"
            yield (
                int(self._row_of(instance[at : at + 1])[0]),
                Reason("layer", text, layer=layer, hop=hop, duration_ns=int(ns[at])),
            )

    def _by_cause(self, chain_id: int, own: Ints) -> Iterator[tuple[int, Reason]]:
        """Yield for each of the chain's largest causes the message in which it takes longest."""
        blame = self._rows("blame")
        rows = np.flatnonzero(blame["chain_id"] == chain_id)
        share = np.maximum(blame["share_p50"][rows], blame["share_p99"][rows])
        rows = rows[np.argsort(-share, kind="stable")[:MOST_CAUSES]]
        causes = self._causes(own)
        for row in rows.tolist():
            layer, where = (str(blame.words(name).at(row)) for name in ("layer", "where"))
            same = np.flatnonzero(causes.layer.are(layer) & causes.where.are(where))
            ns, found = _sums(causes.instance[same], causes.duration_ns[same])
            if not len(ns) or ns.max() <= 0:
                continue
            at = int(np.lexsort((found, -ns))[0])
            yield (
                int(self._row_of(found[at : at + 1])[0]),
                Reason(
                    "cause",
                    f"most {layer}: {shorten_place(where)}",
                    layer=layer,
                    where=where,
                    duration_ns=int(ns[at]),
                ),
            )

    def _causes(self, own: Ints) -> Causes:
        groups = self._groups
        parts = (groups.tail, groups.outliers, groups.typical)
        rows = np.unique(
            np.concatenate([self._by_speed(own[flags[own]])[::-1][:_EXAMINED] for flags in parts])
        )
        instances = self._instances["chain_instance_id"][rows]
        return find_causes(self._segments.of(instances), self._evidence)

    def _by_bar(self, own: Ints, edges_ns: np.ndarray) -> Iterator[tuple[int, Reason]]:
        """Yield the middle message of each bar of a histogram that has any."""
        if len(edges_ns) < 2:
            return
        ordered = self._by_speed(own)
        latency = self._instances["latency_ns"][ordered]
        firsts = np.searchsorted(latency, edges_ns, side="left")
        firsts[-1] = np.searchsorted(latency, edges_ns[-1], side="right")
        for bar, (begin, end) in enumerate(
            zip(firsts[:-1].tolist(), firsts[1:].tolist(), strict=True)
        ):
            if begin < end:
                middle = int(ordered[(begin + end - 1) // 2])
                yield middle, Reason("bar", f"in the middle of bar {bar + 1}", bar=bar)

    def _by_moment(self, own: Ints, moments: int) -> Iterator[tuple[int, Reason]]:
        """Yield the slowest message of each of equal stretches of the chain's time."""
        if moments < 1:
            return
        begin_ns = self._instances["begin_ns"][own]
        first_ns, span_ns = int(begin_ns.min()), int(begin_ns.max() - begin_ns.min()) + 1
        for moment, rows in partition((begin_ns - first_ns) * moments // span_ns):
            slowest = int(self._by_speed(own[rows])[-1])
            yield slowest, Reason("moment", f"the slowest of stretch {moment + 1}", bar=moment)

    def _row_of(self, instance: Ints) -> Ints:
        ids = self._instances["chain_instance_id"]
        return np.asarray(np.searchsorted(ids, instance), np.int64)

    @cached_property
    def _segments_of_chain(self) -> dict[int, Ints]:
        return dict(partition(self._rows("chain_segments")["chain_id"]))

    @cached_property
    def _groups(self) -> ChainGroups:
        return chain_groups(self._instances)

    @cached_property
    def _segments(self) -> Segments:
        return Segments.of_rows(self._rows("chain_segments"))

    @cached_property
    def _evidence(self) -> Evidence:
        return evidence_of(*map(self._rows, EVIDENCE))


def _sums(keys: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Return the sum of each different key, and the keys."""
    found, number = np.unique(keys, return_inverse=True)
    out = np.zeros(len(found), np.int64)
    np.add.at(out, number, values)
    return out, found


def embedded_messages(
    analysis: Analysis,
    chain_id: int,
    *,
    slowest: int,
    sample: int,
    edges_ns: Sequence[float] = (),
    moments: int = 0,
) -> tuple[EmbeddedMessage, ...]:
    """Return the chosen messages of one chain: see `Embedding.of`; for many chains, make one."""
    return Embedding(analysis).of(
        chain_id, slowest=slowest, sample=sample, edges_ns=edges_ns, moments=moments
    )
