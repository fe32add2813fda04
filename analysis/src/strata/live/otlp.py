# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics sent to an OpenTelemetry collector (OTLP over HTTP).

Importing this module takes a while. Names are those of `strata.live.metrics` in the form of
OpenTelemetry, which has units beside names: `strata_messages_lost_total` is `strata.messages_lost`.
Prometheus makes the former from the latter. A summary, which the SDK does not have, becomes a
gauge with the attribute `quantile`, and counters `.count` and `.sum`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import requests
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    MetricExportResult,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.metrics.export import Metric as Exported
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from strata.errors import LiveError
from strata.live.metrics import Metric, Summary, metrics_of
from strata.live.tally import Tally

PATH = "/v1/metrics"
_PATIENCE_S = 5.0
_CLOSING_S = 1.0
_SUFFIXES = ("_total", "_seconds", "_ratio")

# What the exporter says of failures would be printed into the view without a handler.
logging.getLogger("opentelemetry").addHandler(logging.NullHandler())


class Sender:
    """Sends what was published last, in a thread of its own: publishing never waits.

    What is published while something is sent replaces what waits. `sent` and `failures` count how
    often the endpoint took the metrics, and how often it did not.
    """

    def __init__(self, endpoint: str, failed: Callable[[str], None]) -> None:
        self.endpoint, self._failed = endpoint, failed
        self.sent = self.failures = 0
        self._answer: int | None = None
        session = requests.Session()
        session.hooks["response"].append(self._note_answer)
        self._exporter = OTLPMetricExporter(endpoint, timeout=_PATIENCE_S, session=session)
        self._resource = Resource.create({"service.name": "strata"})
        self._begin_ns: int | None = None
        self._waiting: MetricsData | None = None
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="strata-otlp", daemon=True)
        self._thread.start()

    def publish(self, tally: Tally) -> None:
        """Send the metrics of a Tally soon; one without a window has none. It may change after."""
        if tally.until_ns is None:
            return
        if self._begin_ns is None:
            self._begin_ns = tally.until_ns - tally.total.span_ns
        data = _data(metrics_of(tally), self._resource, (self._begin_ns, tally.until_ns))
        with self._changed:
            self._waiting = data
            self._changed.notify()

    def close(self) -> None:
        """Send what waits, if that takes no longer than a second, and end."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(_CLOSING_S)
        self._exporter.shutdown()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting is not None or self._closing)
                data, self._waiting = self._waiting, None
            if data is None:
                return
            self._export(data)

    def _export(self, data: MetricsData) -> None:
        self._answer = None
        if self._exporter.export(data) is MetricExportResult.SUCCESS:
            self.sent += 1
            return
        self.failures += 1
        if self.failures == 1 and not self._closing:
            why = "it does not answer" if self._answer is None else f"it answers {self._answer}"
            self._failed(
                f"Cannot send metrics to {self.endpoint}: {why}. Strata keeps trying. Check that a "
                "collector takes OTLP over HTTP there."
            )

    def _note_answer(self, response: requests.Response, *_: Any, **__: Any) -> None:
        self._answer = response.status_code


def send(endpoint: str, failed: Callable[[str], None]) -> Sender:
    """Send metrics to an endpoint, such as `http://localhost:4318`; `/v1/metrics` may be left out.

    The first failure is said to `failed`, in the thread that sends; further ones are only counted.
    Headers, certificates and compression are those of OTEL_EXPORTER_OTLP_HEADERS and its like.
    Raises LiveError for what is no URL.
    """
    try:
        parts = urlsplit(endpoint)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise LiveError(
            f"Cannot send metrics to {endpoint!r}: it is no URL of HTTP. Give one such as "
            "http://localhost:4318."
        )
    path = parts.path if parts.path.strip("/") else PATH
    return Sender(parts._replace(path=path).geturl(), failed)


def _data(metrics: tuple[Metric, ...], resource: Resource, span_ns: tuple[int, int]) -> MetricsData:
    exported = [one for metric in metrics for one in _exported(metric, span_ns) if _points(one)]
    scope = ScopeMetrics(InstrumentationScope("strata"), exported, "")
    return MetricsData([ResourceMetrics(resource, [scope], "")])


def _points(metric: Exported) -> int:
    return len(metric.data.data_points)


def _exported(metric: Metric, span_ns: tuple[int, int]) -> Iterator[Exported]:
    name = _name(metric.name)
    points = [(one.labels, one.value) for one in metric.samples]
    numbers = [(to, value) for to, value in points if not isinstance(value, Summary)]
    if metric.kind == "counter":
        yield _sum(name, metric.unit, metric.help, numbers, span_ns)
    elif metric.kind == "gauge":
        yield _gauge(name, metric.unit, metric.help, numbers, span_ns)
    else:
        of = [(to, value) for to, value in points if isinstance(value, Summary)]
        yield _gauge(name, metric.unit, metric.help, _quantiles(of), span_ns)
        counts = [(to, value.count) for to, value in of]
        yield _sum(f"{name}.count", "{message}", "How many there were.", counts, span_ns)
        sums = [(to, value.sum) for to, value in of]
        yield _sum(f"{name}.sum", metric.unit, "The sum of all.", sums, span_ns)


_Numbers = Sequence[tuple[Mapping[str, str], float]]


def _quantiles(of: Sequence[tuple[Mapping[str, str], Summary]]) -> _Numbers:
    return [
        ({**labels, "quantile": str(fraction)}, quantile)
        for labels, summary in of
        for fraction, quantile in summary.quantiles.items()
        if quantile is not None
    ]


def _sum(name: str, unit: str, text: str, numbers: _Numbers, span_ns: tuple[int, int]) -> Exported:
    data = Sum(_of(numbers, span_ns), AggregationTemporality.CUMULATIVE, is_monotonic=True)
    return Exported(name, text, unit, data)


def _gauge(
    name: str, unit: str, text: str, numbers: _Numbers, span_ns: tuple[int, int]
) -> Exported:
    return Exported(name, text, unit, Gauge(_of(numbers, span_ns)))


def _of(numbers: _Numbers, span_ns: tuple[int, int]) -> list[NumberDataPoint]:
    return [NumberDataPoint(dict(labels), *span_ns, value) for labels, value in numbers]


def _name(name: str) -> str:
    """Return a name of Prometheus as one of OpenTelemetry: without its unit, in a namespace."""
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name.replace("_", ".", 1)
