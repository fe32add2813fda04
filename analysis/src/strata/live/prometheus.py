# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics for Prometheus to fetch by HTTP, as text or as OpenMetrics."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from strata.errors import LiveError
from strata.live.metrics import Metric, Summary, metrics_of
from strata.live.tally import Tally

LOOPBACK = "127.0.0.1"
_UNITS = {"s": "seconds", "1": "ratio"}


class Published(Collector):
    """Metrics of the Tally that was published last; none before.

    One thread may publish while others collect: each sees all of one Tally.
    """

    def __init__(self) -> None:
        self._metrics: tuple[Metric, ...] = ()

    def publish(self, tally: Tally) -> None:
        """Take the place of what was published before."""
        self._metrics = metrics_of(tally)

    def collect(self) -> Iterator[Family]:
        """Yield the metrics as those of the Prometheus client."""
        yield from map(_family, self._metrics)


class MetricsServer:
    """Serves what was published last at http://ADDRESS:PORT/metrics until it is closed."""

    def __init__(self, server: WSGIServer, thread: threading.Thread, published: Published) -> None:
        self._server, self._thread, self._published = server, thread, published
        self.address, self.port = server.server_address[:2]

    def publish(self, tally: Tally) -> None:
        """Serve the metrics of a Tally from now on. It may change afterwards."""
        self._published.publish(tally)

    def close(self) -> None:
        """Stop serving; the port is free afterwards."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def serve(port: int, address: str = LOOPBACK) -> MetricsServer:
    """Serve metrics, on this machine alone unless another address is given.

    Port 0 is any that is free. Raises LiveError when the port cannot be had.
    """
    published = Published()
    registry = CollectorRegistry()
    registry.register(published)
    try:
        server, thread = start_http_server(port, address, registry)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise LiveError(
            f"Cannot serve metrics at {address}:{port}: {reason}. Choose another port, or end the "
            "program that uses this one."
        ) from error
    return MetricsServer(server, thread, published)


def _family(metric: Metric) -> Family:
    stem = metric.name.removesuffix("_total")
    unit = _UNITS.get(metric.unit, "")
    family = Family(stem, metric.help, metric.kind, unit)
    for sample in metric.samples:
        labels, value = dict(sample.labels), sample.value
        if not isinstance(value, Summary):
            family.add_sample(metric.name, labels, value)
            continue
        for fraction, quantile in value.quantiles.items():
            of = {**labels, "quantile": str(fraction)}
            family.add_sample(metric.name, of, math.nan if quantile is None else quantile)
        family.add_sample(f"{metric.name}_count", labels, value.count)
        family.add_sample(f"{metric.name}_sum", labels, value.sum)
    return family
