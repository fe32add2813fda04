# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a collector receives of a tally by OTLP, and what happens when none is there."""

from __future__ import annotations

import http.server
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from made_tally import (
    BEGIN_NS,
    MS,
    SECOND,
    Series,
    chain,
    counted,
    hostile_tally,
    judged_windows,
    made_judged,
    series,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality

from strata.errors import LiveError
from strata.live import otlp
from strata.live.metrics import metrics_of
from strata.live.tally import Tally

SAMPLES = ("fast_relay1p_st_ipc", "attached_jazzy")


@pytest.fixture(scope="module", params=SAMPLES)
def tally(request: pytest.FixtureRequest, sample: Callable[[str], Path]) -> Tally:
    found = Tally()
    for one in judged_windows(sample(request.param), 6):
        found.add(one)
    return found


class Collector(http.server.ThreadingHTTPServer):
    """Takes OTLP; `status` is what it answers, after `answering` was set."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[ExportMetricsServiceRequest] = []
        self.paths: list[str] = []
        self.came = threading.Condition()
        self.answering = threading.Event()
        self.answering.set()
        self.status = 200
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def wait(self, count: int) -> list[ExportMetricsServiceRequest]:
        with self.came:
            assert self.came.wait_for(lambda: len(self.requests) >= count, 20)
            return list(self.requests)


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert self.headers["Content-Type"] == "application/x-protobuf"
        with self.server.came:
            self.server.requests.append(ExportMetricsServiceRequest.FromString(body))
            self.server.paths.append(self.path)
            self.server.came.notify_all()
        self.server.answering.wait(20)
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    started = Collector()
    yield started
    started.answering.set()
    started.shutdown()
    started.server_close()


@pytest.fixture
def send() -> Iterator[Callable[[str], tuple[otlp.Sender, list[str]]]]:
    """Start sending; what is said of failures is in the list."""
    started = []

    def start(endpoint: str) -> tuple[otlp.Sender, list[str]]:
        said: list[str] = []
        started.append(otlp.send(endpoint, said.append))
        return started[-1], said

    yield start
    for one in started:
        one.close()


def eventually(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


OTLP_NAMES = {
    "strata.chain_latency": "strata_chain_latency_seconds",
    "strata.chain_latency.count": "strata_chain_latency_seconds_count",
    "strata.chain_latency.sum": "strata_chain_latency_seconds_sum",
    "strata.layer": "strata_layer_seconds_total",
    "strata.messages_published": "strata_messages_published_total",
    "strata.messages_received": "strata_messages_received_total",
    "strata.messages_lost": "strata_messages_lost_total",
    "strata.executor_busy": "strata_executor_busy_ratio",
    "strata.events_discarded": "strata_events_discarded_total",
    "strata.unseen": "strata_unseen_seconds_total",
    "strata.system_stands_out": "strata_system_stands_out",
    "strata.last_window_timestamp": "strata_last_window_timestamp_seconds",
}


def received(request: ExportMetricsServiceRequest) -> Series:
    found: Series = {}
    for metric in request.resource_metrics[0].scope_metrics[0].metrics:
        data = metric.sum if metric.HasField("sum") else metric.gauge
        for point in data.data_points:
            labels = frozenset((one.key, one.value.string_value) for one in point.attributes)
            value = point.as_int if point.HasField("as_int") else point.as_double
            found[OTLP_NAMES[metric.name], labels] = value
    return found


Send = Callable[[str], tuple[otlp.Sender, list[str]]]


def test_a_collector_receives_all_numbers(tally: Tally, collector: Collector, send: Send) -> None:
    sender, said = send(collector.url)
    sender.publish(tally)
    (request,) = collector.wait(1)
    wanted = {key: value for key, value in series(metrics_of(tally)).items() if value == value}
    assert received(request) == pytest.approx(wanted)
    assert collector.paths == ["/v1/metrics"]
    eventually(lambda: sender.sent == 1, "the answer")
    assert (sender.failures, said) == (0, [])


def test_what_a_collector_receives_is_declared(collector: Collector, send: Send) -> None:
    tally = counted(3, 10)
    sender, _ = send(collector.url + "/")
    sender.publish(tally)
    (resource,) = collector.wait(1)[0].resource_metrics
    attributes = {one.key: one.value.string_value for one in resource.resource.attributes}
    assert attributes["service.name"] == "strata"
    metrics = {one.name: one for one in resource.scope_metrics[0].metrics}
    for name, metric in metrics.items():
        assert metric.description
        # Gauges are the values of now; all else counts from the start.
        gauge = name in (
            "strata.chain_latency",
            "strata.executor_busy",
            "strata.system_stands_out",
            "strata.last_window_timestamp",
        )
        assert metric.HasField("gauge") == gauge
        points = metric.gauge.data_points if gauge else metric.sum.data_points
        assert {point.time_unix_nano for point in points} == {BEGIN_NS + 3 * SECOND}
        if not gauge:
            assert {point.start_time_unix_nano for point in points} == {BEGIN_NS + 2 * SECOND}
            assert metric.sum.is_monotonic
            assert metric.sum.aggregation_temporality == (
                AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
            )
    units = {name: metric.unit for name, metric in metrics.items()}
    assert units["strata.layer"] == units["strata.chain_latency"] == "s"
    assert units["strata.messages_lost"] == "{message}"


def test_counters_start_at_the_same_time_in_every_push(collector: Collector, send: Send) -> None:
    tally = counted(1, 10)
    sender, _ = send(collector.url)
    sender.publish(tally)
    collector.wait(1)
    tally.add(made_judged(9, {("/t", "/p -> /s"): chain(10, MS)}))
    sender.publish(tally)
    starts = {
        point.start_time_unix_nano
        for request in collector.wait(2)
        for metric in request.resource_metrics[0].scope_metrics[0].metrics
        for point in metric.sum.data_points
    }
    assert starts == {BEGIN_NS}


def test_hostile_names_can_be_sent(collector: Collector, send: Send) -> None:
    tally = hostile_tally()
    sender, _ = send(collector.url)
    sender.publish(tally)
    names = {dict(labels).get("topic") for _, labels in received(collector.wait(1)[0])}
    assert {topic.replace("\ud800", "?") for topic in tally.total.published} <= names


def test_publishing_never_waits_and_the_newest_is_sent(collector: Collector, send: Send) -> None:
    collector.answering.clear()
    sender, _ = send(collector.url)
    sender.publish(counted(1, 1))
    collector.wait(1)
    begin = time.monotonic()
    for number in range(2, 30):
        sender.publish(counted(number, number))
    assert time.monotonic() - begin < 2
    collector.answering.set()
    newest = received(collector.wait(2)[1])
    assert newest["strata_events_discarded_total", frozenset()] == 29
    eventually(lambda: sender.sent == 2, "both answers")


def unused_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_an_endpoint_that_is_not_there_is_said_once(
    send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otlp, "_PATIENCE_S", 0.3)
    port = unused_port()
    sender, said = send(f"http://127.0.0.1:{port}")
    for number in range(1, 4):
        sender.publish(counted(number, number))
        eventually(lambda number=number: sender.failures == number, f"failure {number}")
    assert sender.sent == 0
    (sentence,) = said
    assert sentence.startswith(
        f"Cannot send metrics to http://127.0.0.1:{port}/v1/metrics: it does not answer. "
    )


def test_a_refusal_is_said_with_its_status(collector: Collector, send: Send) -> None:
    collector.status = 404
    sender, said = send(collector.url)
    sender.publish(counted(1, 1))
    eventually(lambda: said, "a sentence")
    assert "it answers 404. " in said[0]
    collector.status = 200
    sender.publish(counted(2, 2))
    eventually(lambda: sender.sent == 1, "what is sent after a refusal")
    assert (sender.failures, len(said)) == (1, 1)


def test_an_endpoint_that_hangs_does_not_keep_the_end(collector: Collector, send: Send) -> None:
    collector.answering.clear()
    sender, _ = send(collector.url)
    sender.publish(counted(1, 1))
    collector.wait(1)
    begin = time.monotonic()
    sender.close()
    assert time.monotonic() - begin < 3


def test_closing_sends_what_waits(collector: Collector) -> None:
    sender = otlp.send(collector.url, print)
    sender.publish(counted(1, 7))
    sender.close()
    assert sender.sent == len(collector.requests) == 1


def test_nothing_is_sent_before_the_first_window(collector: Collector) -> None:
    sender = otlp.send(collector.url, print)
    sender.publish(Tally())
    sender.close()
    assert collector.requests == []


def test_another_path_is_kept(collector: Collector, send: Send) -> None:
    sender, _ = send(f"{collector.url}/otlp/v1/metrics")
    sender.publish(counted(1, 1))
    collector.wait(1)
    assert collector.paths == ["/otlp/v1/metrics"]


@pytest.mark.parametrize("text", ["localhost:4318", "ftp://host/", "http://", "http://h:x", ""])
def test_what_is_no_url_is_an_error(text: str) -> None:
    with pytest.raises(LiveError, match="it is no URL of HTTP"):
        otlp.send(text, print)


def test_a_failure_prints_nothing_and_otlp_is_loaded_only_when_asked_for() -> None:
    program = f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
import strata.live.metrics, strata.live.prometheus
assert not [name for name in sys.modules if name.startswith(("opentelemetry", "requests"))]
from strata.live import otlp
from made_tally import hostile_tally
otlp._PATIENCE_S = 0.2
sender = otlp.send("http://127.0.0.1:{unused_port()}", lambda text: None)
sender.publish(hostile_tally())
while not sender.failures:
    time.sleep(0.01)
sender.close()
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("done\n", "")
