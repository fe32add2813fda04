# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The messages of each chain as the page's scripts select, plot and list them.

Of a long chain a part is on the page: of each stretch of time the fastest, the median and the
slowest message, and those that have a timeline. Counts and histograms are of all messages.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from strata.schema.rows import Flags, Floats, Ints, Rows
from strata.show.html import theme
from strata.show.html.figures import thinning
from strata.show.words.naming import Names
from strata.stats.causes import Causes, find_causes
from strata.stats.evidence import EVIDENCE, evidence_of

if TYPE_CHECKING:
    from strata.analysis import Analysis

EXPLORED_CHAINS = 100
"""Chains whose messages are on the page."""
_MAX_MESSAGES = 12_000
"""Messages of all chains on the page."""
_MOST_BYTES = 3_000_000
"""What they take in the file, about: a long chain has fewer messages there."""
_BYTES_OF_MESSAGE, _BYTES_OF_DURATION = 60, 6
_FEWEST_OF_CHAIN = 40
_BARS = 36
_SHOWN_CAUSES = 8


ChainDocument = dict[str, Any]
"""What the scripts know of a chain, as JSON has it: `message` to `cause` and each of `durations`
have an item per message on the page, in order of time; `durations` are those of `columns`, each a
layer of a hop. `largest` is the index in `layers` of the layer, and `cause` that in `causes` of the
cause, in which a message spent the most. Times are ns, `begin` since the trace began.
"""


def chain_messages(
    analysis: Analysis, chains: Sequence[int], always: Collection[int] = ()
) -> list[ChainDocument]:
    """Return what the page holds of each of `chains`, by id.

    `always` are instances (`chain_instance_id`) that are kept in any case.
    """
    instances = analysis.rows("chain_instances")
    limits = _limits(analysis, chains)
    named = np.isin(instances["chain_instance_id"], np.array(sorted(always), np.int64))
    kept = {chain: _kept(instances, chain, limits[chain], named) for chain in chains}
    chosen = np.sort(np.concatenate([np.empty(0, np.int64), *kept.values()]))
    segments = _segments_of(analysis, instances.take(chosen))
    causes = find_causes(segments, evidence_of(*map(analysis.rows, EVIDENCE)))
    blame = analysis.rows("blame")
    records = {row["chain_id"]: row for row in analysis.rows("chains").records()}
    return [
        _of_chain(
            analysis,
            records[chain],
            instances.take(kept[chain]),
            segments.take(segments["chain_id"] == chain),
            causes,
            blame.take(blame["chain_id"] == chain),
        )
        for chain in chains
    ]


def _limits(analysis: Analysis, chains: Sequence[int]) -> dict[int, int]:
    """Return how many messages of each chain there is space for."""
    layers = analysis.rows("chain_layers")["chain_id"]
    share = max(len(chains), 1)
    limits = {}
    for chain in chains:
        durations = int((layers == chain).sum())
        size = _BYTES_OF_MESSAGE + _BYTES_OF_DURATION * durations
        most = min(_MAX_MESSAGES // share, _MOST_BYTES // share // size)
        limits[chain] = max(_FEWEST_OF_CHAIN, most)
    return limits


def _kept(instances: Rows, chain: int, limit: int, named: Flags) -> Ints:
    """Return rows of `chain_instances`, in order of time."""
    rows = np.flatnonzero(instances["chain_id"] == chain)
    rows = rows[np.argsort(instances["begin_ns"][rows], kind="stable")]
    thinned = thinning.keep(instances["latency_ns"][rows], limit)
    return np.asarray(rows[np.union1d(thinned, np.flatnonzero(named[rows]))], np.int64)


def _segments_of(analysis: Analysis, instances: Rows) -> Rows:
    segments = analysis.rows("chain_segments")
    wanted = np.isin(segments["chain_instance_id"], instances["chain_instance_id"])
    return segments.take(wanted)


def _of_chain(
    analysis: Analysis,
    chain: Mapping[str, Any],
    instances: Rows,
    segments: Rows,
    causes: Causes,
    blame: Rows,
) -> ChainDocument:
    ids = instances["chain_instance_id"]
    columns, matrix = _matrix(segments, ids)
    layers, largest = _largest_layers(columns, matrix)
    named, largest_cause = _largest_causes(causes, ids, blame, Names(analysis))
    begin_ns = analysis.trace.begin_ns
    latency = analysis.rows("chain_instances")
    all_ns = latency["latency_ns"][latency["chain_id"] == chain["chain_id"]]
    return {
        "id": chain["chain_id"],
        "name": chain["name"],
        "nodes": chain["nodes"],
        "count": chain["count"],
        "p50": _rounded(chain["latency_p50_ns"]),
        "p99": _rounded(chain["latency_p99_ns"]),
        "max": _rounded(chain["latency_max_ns"]),
        "hops": _hop_ids(analysis, segments),
        "columns": [[hop, layer, theme.paint(layer).slug] for hop, layer in columns],
        "causes": named,
        "histogram": histogram(all_ns),
        "message": instances["message_id"].tolist(),
        "begin": (instances["begin_ns"] - begin_ns).tolist(),
        "latency": instances["latency_ns"].tolist(),
        "largest": largest.tolist(),
        "layers": layers,
        "cause": largest_cause.tolist(),
        "durations": [matrix[:, at].tolist() for at in range(len(columns))],
    }


def _rounded(value: float | None) -> int | None:
    return None if value is None or not np.isfinite(value) else round(value)


def _hop_ids(analysis: Analysis, segments: Rows) -> list[int]:
    """Return the hop (row of `hops`) at each step of the chain."""
    steps, first = np.unique(segments["hop"], return_index=True)
    message = segments["message_id"][first]
    del steps
    return [int(hop) for hop in analysis.rows("messages")["hop_id"][message]]


def _matrix(segments: Rows, ids: Ints) -> tuple[list[tuple[int, str]], Ints]:
    """Return the layers of each hop, in the order of the chain, and the time in each, of each
    instance.
    """
    layers = segments.words("layer")
    key = segments["hop"] * max(len(layers.words), 1) + layers.codes
    found, first, column = np.unique(key, return_index=True, return_inverse=True)
    order = np.lexsort((segments["position"][first], segments["hop"][first]))
    place = np.empty(len(found), np.int64)
    place[order] = np.arange(len(found))
    by_id = np.argsort(ids, kind="stable")
    row = by_id[np.searchsorted(ids[by_id], segments["chain_instance_id"])]
    matrix = np.zeros((len(ids), len(found)), np.int64)
    np.add.at(matrix, (row, place[column]), segments["duration_ns"])
    names = [
        (int(found[at] // len(layers.words)), str(layers.words[found[at] % len(layers.words)]))
        for at in order
    ]
    return names, matrix


def _largest_layers(columns: Sequence[tuple[int, str]], matrix: Ints) -> tuple[list[str], Ints]:
    """Return the layers, and which of them each message spent the most in, over all hops."""
    names = sorted({layer for _, layer in columns}, key=theme.order)
    total = np.zeros((len(matrix), max(len(names), 1)), np.int64)
    for at, (_, layer) in enumerate(columns):
        total[:, names.index(layer)] += matrix[:, at]
    return names, total.argmax(axis=1)


def _largest_causes(
    causes: Causes, ids: Ints, blame: Rows, names: Names
) -> tuple[list[dict[str, Any]], Ints]:
    """Return the causes of a chain, those that are to blame first, and the largest of each message.

    A cause of no share has null shares: it is the largest of a message that is neither typical nor
    among the slowest.
    """
    named = [
        {
            "layer": row["layer"],
            "where": _where(names, row["layer"], row["where"]),
            "slug": theme.paint(row["layer"]).slug,
            "typical": row["share_p50"],
            "slowest": row["share_p99"],
            "typical_ns": _rounded(row["typical_ns"]),
            "slowest_ns": _rounded(row["tail_ns"]),
        }
        for row in blame.records()
    ]
    keys = list(zip(blame.texts("layer"), blame.texts("where"), strict=True))
    number = {key: at for at, key in enumerate(keys)}
    by_id = np.argsort(ids, kind="stable")
    at = np.searchsorted(ids[by_id], causes.instance)
    at = np.minimum(at, max(len(ids) - 1, 0))
    own = np.flatnonzero(ids[by_id][at] == causes.instance) if len(ids) else np.empty(0, np.int64)
    row = by_id[at[own]] if len(ids) else own
    places = len(causes.where.words)
    kind = causes.layer.codes[own].astype(np.int64) * places + causes.where.codes[own]
    pair, inverse = np.unique(np.stack([row, kind], axis=1), axis=0, return_inverse=True)
    total = np.zeros(len(pair), np.int64)
    np.add.at(total, inverse.ravel(), causes.duration_ns[own])
    largest = np.zeros(len(ids), np.int64)
    order = np.lexsort((pair[:, 1], total))
    best = {int(pair[i, 0]): int(pair[i, 1]) for i in order}
    for message, cause in best.items():
        key = (causes.layer.words[cause // places], causes.where.words[cause % places])
        if key not in number:
            number[key] = len(named)
            named.append(
                {
                    "layer": key[0],
                    "where": _where(names, *key),
                    "slug": theme.paint(key[0]).slug,
                    "typical": None,
                    "slowest": None,
                    "typical_ns": None,
                    "slowest_ns": None,
                }
            )
        largest[message] = number[key]
    used = set(largest.tolist()) | set(range(min(_SHOWN_CAUSES, len(named))))
    kept = sorted(used)
    place = {old: new for new, old in enumerate(kept)}
    return [named[old] for old in kept], np.array([place[int(c)] for c in largest], np.int64)


def _where(names: Names, layer: str, where: str) -> str:
    """Return the place of a cause without its layer, which is written before it."""
    return names.cause(layer, where).removeprefix(f"{layer} ")


def histogram(latency_ns: Ints) -> dict[str, list[int]]:
    """Return counts of all messages in bars that are equally wide on a logarithmic axis.

    `edges` are ns, one more than `counts`.
    """
    if not len(latency_ns):
        return {"edges": [], "counts": []}
    low, high = max(int(latency_ns.min()), 1), max(int(latency_ns.max()), 2)
    edges: Floats = np.geomspace(low, max(high, low + 1), _BARS + 1)
    whole = np.unique(np.concatenate([[low], np.ceil(edges[1:-1]), [high + 1]]).astype(np.int64))
    counts, _ = np.histogram(np.maximum(latency_ns, low), bins=whole)
    return {"edges": whole.tolist(), "counts": counts.tolist()}
