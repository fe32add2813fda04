# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the latency of each chain was spent, as profiles of speedscope (https://speedscope.app).

A chain is a profile of the type "sampled": its stacks are hop > layer > place, weighted with the ns
that its messages spent there together. The weights of a chain add up to the latencies of its
messages. The format: https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from strata import __version__
from strata.export.chosen import Chosen
from strata.export.file_target import replacing_file
from strata.export.written import Written
from strata.printable import printable
from strata.schema.rows import NONE, Ints
from strata.stats.causes import Causes, find_causes
from strata.stats.evidence import EVIDENCE, evidence_of
from strata.symbols import shorten_place

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


class _Frames:
    """The names of stacks by number, each once."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}

    def number(self, name: str) -> int:
        return self._number.setdefault(name, len(self._number))

    def all(self) -> list[dict[str, str]]:
        return [{"name": name} for name in self._number]


def write(chosen: Chosen, target: Path, *, force: bool = False) -> Written:
    """Write a profile for each chain that has chosen messages to the file `target`.

    A time that is negative, between hosts whose clocks are not synchronised, has no width: it is
    left out, and noted. Raises OutputError.
    """
    frames = _Frames()
    profiles = list(_profiles(chosen, frames))
    negative_ns = sum(profile.pop("negative") for profile in profiles)
    document = {
        "$schema": _SCHEMA,
        "name": printable(Path(chosen.analysis.trace.path).name),
        "exporter": f"strata {__version__}",
        "activeProfileIndex": 0,
        "shared": {"frames": frames.all()},
        "profiles": profiles,
    }
    notes = []
    if negative_ns:
        notes.append(
            f"{-negative_ns:,} ns are left out: times between hosts whose clocks are not "
            "synchronised that came out negative"
        )
    with replacing_file(target, chosen.choice.max_bytes, force=force) as file:
        for part in json.JSONEncoder(ensure_ascii=True).iterencode(document):
            file.write(part.encode())
        size = file.size
    counts = {
        "profiles": len(profiles),
        "stacks": sum(len(profile["samples"]) for profile in profiles),
    }
    return Written(target, size, counts, tuple(notes))


def _profiles(chosen: Chosen, frames: _Frames) -> Iterator[dict[str, Any]]:
    analysis = chosen.analysis
    chains, instances = analysis.rows("chains"), chosen.rows("chain_instances")
    causes = find_causes(
        chosen.rows("chain_segments"), evidence_of(*(analysis.rows(name) for name in EVIDENCE))
    )
    names = _hop_names(chosen)
    for chain in np.unique(instances["chain_id"]).tolist():
        stacks = _stacks(causes, causes.chain == chain, analysis.rows("messages")["hop_id"])
        known = [(key, ns) for key, ns in stacks if ns > 0]
        count = int((instances["chain_id"] == chain).sum())
        yield {
            "type": "sampled",
            "name": f"{chains.words('name').at(chain)} ({count:,} messages)",
            "unit": "nanoseconds",
            "startValue": 0,
            "endValue": sum(ns for _, ns in known),
            "samples": [
                [
                    frames.number(names[hop]),
                    frames.number(str(causes.layer.words[layer])),
                    frames.number(_place(causes, place)),
                ]
                for (hop, layer, place), _ in known
            ],
            "weights": [ns for _, ns in known],
            "negative": sum(ns for _, ns in stacks if ns < 0),
        }


def _stacks(
    causes: Causes, own: np.ndarray[Any, np.dtype[np.bool_]], hop_of_message: Ints
) -> list[tuple[tuple[int, int, int], int]]:
    """Return (hop_id, layer, place) and the ns of all causes there, hops in the chain's order."""
    hop = hop_of_message[causes.message[own]]
    keys = np.stack([hop, causes.layer.codes[own], causes.where.codes[own]])
    distinct, first, number = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    total = np.zeros(distinct.shape[1], np.int64)
    np.add.at(total, number.ravel(), causes.duration_ns[own])
    began: dict[int, int] = {}
    for at, of in zip(first.tolist(), distinct[0].tolist(), strict=True):
        began[of] = min(at, began.get(of, at))
    # The causes of an instance are in the order of its chain, so a hop that comes first is first.
    order = sorted(range(len(first)), key=lambda at: (began[int(distinct[0, at])], first[at]))
    return [
        ((int(distinct[0, at]), int(distinct[1, at]), int(distinct[2, at])), int(total[at]))
        for at in order
    ]


def _place(causes: Causes, code: int) -> str:
    return "not known" if code == NONE else shorten_place(causes.where.words[code])


def _hop_names(chosen: Chosen) -> dict[int, str]:
    rows = chosen.analysis.rows("hops")
    texts = zip(
        rows["hop_id"].tolist(),
        rows.texts("topic"),
        rows.texts("publisher_node"),
        rows.texts("subscription_node"),
        strict=True,
    )
    return {hop: f"{topic} ({publisher} -> {reader})" for hop, topic, publisher, reader in texts}
