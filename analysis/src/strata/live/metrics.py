# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a Tally has counted as metrics, before they take the form of any monitoring system.

Names follow Prometheus: https://prometheus.io/docs/practices/naming/; units follow UCUM, as in
OpenTelemetry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from strata.live.judged import Chain
from strata.live.tally import RECENT_NS, ChainTally, Counts, Tally

Kind = Literal["counter", "gauge", "summary"]
QUANTILES = (0.5, 0.9, 0.99)
_S = 1e9
_MESSAGES = "{message}"


@dataclass(frozen=True)
class Summary:
    """Values since the start: how many, and their sum; quantiles of the last seconds.

    A quantile is null when there was no value in the last seconds.
    """

    count: int
    sum: float
    quantiles: Mapping[float, float | None]


@dataclass(frozen=True)
class Sample:
    """A value with its labels: a Summary in a metric of that kind, else a number."""

    labels: Mapping[str, str]
    value: float | Summary


@dataclass(frozen=True)
class Metric:
    """A metric with a sample for each combination of labels; no two are the same.

    A counter never decreases. `unit` is "s", "1" of a ratio, "{message}" of a count of messages,
    and empty for none.
    """

    name: str
    kind: Kind
    unit: str
    help: str
    samples: tuple[Sample, ...]


def metrics_of(tally: Tally) -> tuple[Metric, ...]:
    """Return all metrics; those without a sample are among them."""
    return (*_of_chains(tally), *_of_messages(tally.total), *_of_system(tally))


def _of_chains(tally: Tally) -> Iterator[Metric]:
    total, recent = tally.total.chains, tally.recent().chains
    yield Metric(
        "strata_chain_latency_seconds",
        "summary",
        "s",
        "From the first publish of a chain to the end of its last callback; quantiles are of the "
        f"last {RECENT_NS / _S:.0f} s.",
        tuple(
            Sample(_chain(chain), _summary(of_chain, recent.get(chain, ChainTally())))
            for chain, of_chain in total.items()
        ),
    )
    yield _metric(
        "strata_layer_seconds_total",
        "counter",
        "s",
        "Time that the messages of a chain spent in a layer.",
        (
            ({**_chain(chain), "layer": layer}, ns / _S)
            for chain, of_chain in total.items()
            for layer, ns in of_chain.layers_ns.items()
        ),
    )


def _of_messages(total: Counts) -> Iterator[Metric]:
    yield _metric(
        "strata_messages_published_total",
        "counter",
        _MESSAGES,
        "Messages that were published.",
        (({"topic": topic}, count) for topic, count in total.published.items()),
    )
    yield _metric(
        "strata_messages_received_total",
        "counter",
        _MESSAGES,
        "Messages of a publisher that a subscription received.",
        ((_hop(*hop), of_hop.received) for hop, of_hop in total.hops.items()),
    )
    yield _metric(
        "strata_messages_lost_total",
        "counter",
        _MESSAGES,
        "Messages of a publisher that a subscription did not receive, by cause.",
        (
            ({**_hop(*hop), "cause": cause}, count)
            for hop, of_hop in total.hops.items()
            for cause, count in of_hop.lost.items()
        ),
    )


def _of_system(tally: Tally) -> Iterator[Metric]:
    busy: dict[tuple[str, str, str], float] = {}
    for one in tally.executors:
        if one.busy is not None:
            # A process may have several executors of the same, or of unknown, nodes.
            place = (one.host, str(one.vpid), one.nodes)
            busy[place] = max(one.busy, busy.get(place, 0.0))
    yield _metric(
        "strata_executor_busy_ratio",
        "gauge",
        "1",
        "How busy the threads of an executor were in the last seconds, from 0 to 1.",
        (
            ({"host": host, "pid": pid, "nodes": nodes}, share)
            for (host, pid, nodes), share in busy.items()
        ),
    )
    yield _single(
        "strata_events_discarded_total",
        "counter",
        "{event}",
        "Events that were lost to full buffers.",
        tally.discarded,
    )
    yield _single(
        "strata_unseen_seconds_total",
        "counter",
        "s",
        "Time of which events were overwritten before they were read.",
        tally.unseen_ns / _S,
    )
    yield _single(
        "strata_system_stands_out",
        "gauge",
        "",
        "Whether something stands out over the whole system: 1 if so, else 0.",
        int(tally.system.stands_out),
    )
    until: list[tuple[Mapping[str, str], float]] = []
    if tally.until_ns is not None:
        until = [({}, tally.until_ns / _S)]
    yield _metric(
        "strata_last_window_timestamp_seconds",
        "gauge",
        "s",
        "Until when events were analyzed, since the epoch.",
        until,
    )


def _metric(
    name: str, kind: Kind, unit: str, text: str, values: Iterable[tuple[Mapping[str, str], float]]
) -> Metric:
    return Metric(name, kind, unit, text, tuple(Sample(_safe(to), value) for to, value in values))


def _single(name: str, kind: Kind, unit: str, text: str, value: float) -> Metric:
    return _metric(name, kind, unit, text, [({}, value)])


def _summary(total: ChainTally, recent: ChainTally) -> Summary:
    found = {fraction: recent.latency.quantile_ns(fraction) for fraction in QUANTILES}
    quantiles = {fraction: None if ns is None else ns / _S for fraction, ns in found.items()}
    return Summary(total.latency.count, total.latency.sum_ns / _S, quantiles)


def _chain(chain: Chain) -> dict[str, str]:
    name, nodes = chain
    return _safe({"chain": name, "nodes": nodes})


def _hop(topic: str, publisher: str, subscription: str) -> dict[str, str]:
    return {"topic": topic, "publisher": publisher, "subscription": subscription}


def _safe(labels: Mapping[str, str]) -> dict[str, str]:
    """Return labels that can be encoded, whatever bytes a name had."""
    return {name: text.encode(errors="replace").decode() for name, text in labels.items()}
