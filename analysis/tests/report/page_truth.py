# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a selection on the page must show, from the tables of the analysis alone."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from playwright.sync_api import Page

from strata.analysis import Analysis
from strata.schema.layers import IN_NODE
from strata.show.words.naming import Names
from strata.stats.causes import find_causes
from strata.stats.evidence import evidence_of

MOST_ROWS = 200
IN_NODES = {layer.name for layer in IN_NODE}
_EVIDENCE = (
    "messages",
    "executor_blockers",
    "callback_objects",
    "layer_scheduling",
    "preemptions",
    "layer_cpu_waits",
)


def instances_of(analysis: Analysis, chain: int) -> pd.DataFrame:
    """The messages of a chain in order of time, by their number."""
    frame = analysis.chain_instances
    own = frame[frame["chain_id"] == chain].sort_values("begin_ns", kind="stable")
    assert own["message_id"].is_unique
    return own.set_index("message_id", drop=False)


def segments_of(analysis: Analysis, chain: int) -> pd.DataFrame:
    """The layers of a chain's messages; `hop_id` is their hop, `ends_as` the chain's message.

    The last layer of a hop may name the message that was published after it.
    """
    frame = analysis.chain_segments
    own = frame[frame["chain_id"] == chain].sort_values(["chain_instance_id", "position"])
    first = own.groupby(["chain_instance_id", "hop"])["message_id"].transform("first")
    hops = analysis.messages.set_index("message_id")["hop_id"]
    ends = instances_of(analysis, chain).set_index("chain_instance_id")["message_id"]
    return own.assign(hop_id=first.map(hops), ends_as=own["chain_instance_id"].map(ends))


def slowest_first(analysis: Analysis, chain: int, keep: pd.Index | None = None) -> list[int]:
    """Messages of a chain (those of `keep`), the slowest first."""
    own = instances_of(analysis, chain)
    own = own if keep is None else own.loc[own.index.isin(keep)]
    return list(own.sort_values("latency_ns", ascending=False, kind="stable").index)


def longest_first(
    analysis: Analysis, chain: int, wanted: Callable[[pd.DataFrame], pd.Series]
) -> list[tuple[int, int]]:
    """Messages with time in the wanted layers, and that time in ns, the longest first."""
    segments = segments_of(analysis, chain)
    sums = segments[wanted(segments)].groupby("ends_as")["duration_ns"].sum()
    ordered = instances_of(analysis, chain).index
    sums = sums.reindex(ordered).dropna().astype("int64")
    sums = sums[sums > 0].sort_values(ascending=False, kind="stable")
    return list(zip(sums.index.tolist(), sums.tolist(), strict=True))


def largest_causes(analysis: Analysis, chain: int) -> dict[int, set[str]]:
    """The largest cause of each message of a chain, as "LAYER WHERE"; several that are equal."""
    names = Names(analysis)
    found = find_causes(
        analysis.rows("chain_segments"), evidence_of(*map(analysis.rows, _EVIDENCE))
    )
    frame = pd.DataFrame(
        {
            "instance": found.instance,
            "cause": [
                f"{layer} {names.cause(layer, where).removeprefix(f'{layer} ')}"
                for layer, where in zip(found.layer.texts(), found.where.texts(), strict=True)
            ],
            "duration_ns": found.duration_ns,
        }
    )
    sums = frame.groupby(["instance", "cause"])["duration_ns"].sum()
    most = sums.groupby("instance").transform("max")
    best = sums[sums == most].reset_index().groupby("instance")["cause"].agg(set)
    own = instances_of(analysis, chain).set_index("chain_instance_id")["message_id"]
    return {int(message): best[instance] for instance, message in own.items()}


def listed(page: Page) -> list[tuple[int, list[int]]]:
    """The rows of the page's list: the message's number, and its durations in ns."""
    rows = page.eval_on_selector_all(
        "#message-rows tr",
        """rows => rows.map(row => [
            Number(row.querySelector("[data-message]").dataset.message),
            Array.from(row.querySelectorAll("[data-value]"), cell => Number(cell.dataset.value)),
        ])""",
    )
    return [(message, values) for message, values in rows]


def address(page: Page) -> dict[str, str]:
    """The state in the page's address."""
    text: str = page.evaluate("decodeURIComponent(location.hash.slice(1))")
    return dict(part.split("=", 1) for part in text.split("&") if "=" in part)
