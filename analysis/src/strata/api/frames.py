# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Frames that answer one question each, made of the declared tables."""

from __future__ import annotations

import numpy as np

from strata.analysis import Analysis
from strata.api.chains import chain_id_of
from strata.lazy import pandas as pd
from strata.schema.layers import BY_NAME, HOP_LAYERS, LINK_HOLD
from strata.schema.rows import Coded, Ints
from strata.stats.callbacks import descriptions
from strata.stats.layer_places import place_of_layer
from strata.stats.path import CriticalPath, Step, critical_path
from strata.symbols import shorten_place

_WORTH_NAMING = 0.05
"""Share of a wait from which on a callback that it was behind is named."""


def slowest(analysis: Analysis, count: int, chain: str | int | None) -> pd.DataFrame:
    """Return the slowest messages of a chain; strata.Analysis.slowest documents the columns."""
    if count < 1:
        raise ValueError(f"count is how many messages to return, at least 1: {count}")
    rows = _slowest(analysis, chain)[:count]
    instances = analysis.rows("chain_instances").take(rows)
    layers = _largest_layers(analysis, instances["chain_instance_id"])
    latency = instances["latency_ns"]
    return pd.DataFrame(
        {
            "message_id": instances["message_id"],
            "latency_ns": latency,
            "begin_ns": instances["begin_ns"],
            "since_begin_ns": instances["begin_ns"] - analysis.trace.begin_ns,
            "layer": pd.Series([layer for layer, _, _ in layers], dtype=object),
            "where": pd.Series([where for _, where, _ in layers], dtype=object),
            "layer_ns": np.array([ns for _, _, ns in layers], np.int64),
            "share": [
                ns / of if of else 0.0 for (_, _, ns), of in zip(layers, latency, strict=True)
            ],
        }
    ).astype({"share": "float64"})


def _slowest(analysis: Analysis, chain: str | int | None) -> Ints:
    """Rows of `chain_instances` of a chain, the slowest first; none without chains."""
    instances = analysis.rows("chain_instances")
    number = chain_id_of(analysis, chain)
    if number is None:
        return np.zeros(0, np.int64)
    own = np.flatnonzero(instances["chain_id"] == number)
    ordered: Ints = own[np.argsort(-instances["latency_ns"][own], kind="stable")]
    return ordered


def _largest_layers(analysis: Analysis, instances: Ints) -> list[tuple[str, str, int]]:
    """Layer, place and ns of what each instance spent most in."""
    segments = analysis.rows("chain_segments")
    described = Coded.of(descriptions(analysis.rows("callback_objects")))
    found = []
    for instance in instances.tolist():
        own = segments.take(np.flatnonzero(segments["chain_instance_id"] == instance))
        most = int(np.argmax(own["duration_ns"]))
        layer = BY_NAME[str(own.words("layer").at(most))]
        hop, messages = int(own["hop"][most]), own["message_id"]
        # What the callback that published did is a place of the message that it published.
        hop += layer is LINK_HOLD
        message = messages[own["hop"] == hop][:1]
        where = place_of_layer(layer, analysis.rows("messages").take(message), described).at(0)
        found.append((layer.name, str(where), int(own["duration_ns"][most])))
    return found


def path(analysis: Analysis, message: int | None) -> pd.DataFrame:
    """Return the critical path of a message; strata.Analysis.path documents the columns."""
    if message is None:
        rows = _slowest(analysis, None)
        # Of a trace without chains any message: the error says how many there are.
        message = int(analysis.rows("chain_instances")["message_id"][rows[0]]) if len(rows) else 0
    found = critical_path(analysis, message)
    steps = found.steps
    duration = np.array([step.duration_ns for step in steps], np.int64)
    topics = analysis.rows("messages").words("topic")
    return pd.DataFrame(
        {
            "hop": np.array([step.hop for step in steps], np.int64),
            "message_id": np.array([step.message_id for step in steps], np.int64),
            "topic": [topics.at(step.message_id) for step in steps],
            "layer": [step.layer for step in steps],
            "where": [step.where for step in steps],
            "begin_ns": found.begin_ns + np.cumsum(duration) - duration,
            "duration_ns": duration,
            "share": [_share(step.duration_ns, found) for step in steps],
            "behind": [_behind(step) for step in steps],
        }
    )


def _behind(step: Step) -> str:
    least = _WORTH_NAMING * step.duration_ns
    return ", ".join(shorten_place(place) for place, ns in step.behind if ns >= least)


def _share(ns: int, path: CriticalPath) -> float:
    return ns / path.latency_ns if path.latency_ns else 0.0


def layers_long(analysis: Analysis) -> pd.DataFrame:
    """Return one row per message and layer; strata.Analysis.layers_long documents the columns."""
    messages = analysis.rows("messages")
    parts = []
    for at, layer in enumerate(HOP_LAYERS):
        there = np.flatnonzero(messages.there(layer.column))
        parts.append((there, np.full(len(there), at), messages[layer.column][there]))
    row, layer_at, duration = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((layer_at, row))
    row, layer_at, duration = row[order], layer_at[order], duration[order]
    columns = ["message_id", "hop_id", "topic", "publisher_node", "subscription_node"]
    frame = analysis.messages[columns].take(row).reset_index(drop=True)
    names = pd.Index([layer.name for layer in HOP_LAYERS])
    return frame.assign(
        layer=pd.Categorical.from_codes(layer_at.astype(np.int64), categories=names),
        duration_ns=duration.astype(np.int64),
    )
