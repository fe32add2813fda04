# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of a tally, as Prometheus fetches them and as a collector receives them."""

from __future__ import annotations

import http.server
import math
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from made_tally import BEGIN_NS, MS, SECOND, chain, hostile_tally, judged_windows, made_judged
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from strata.errors import LiveError
from strata.live import otlp
from strata.live.judged import ExecutorSeen, HopSeen
from strata.live.metrics import Metric, Summary, metrics_of
from strata.live.prometheus import MetricsServer, serve
from strata.live.tally import Tally

SAMPLES = ("fast_relay1p_st_ipc", "attached_jazzy")
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(scope="module", params=SAMPLES)
def tally(request: pytest.FixtureRequest, sample: Callable[[str], Path]) -> Tally:
    found = Tally()
    for one in judged_windows(sample(request.param), 6):
        found.add(one)
    return found


def counted(at_s: int, count: int) -> Tally:
    """Return a tally of one second in which everything is `count`."""
    tally = Tally()
    hops = {("/t", "/p", "/s"): HopSeen(count, {"overwritten": count})}
    one = made_judged(at_s, {("/t", "/p -> /s"): chain(count, MS)}, hops=hops)
    tally.add(one)
    tally.total.published["/t"] = tally.discarded = count
    return tally


def series(metrics: tuple[Metric, ...]) -> Series:
    """Return every number of metrics by its name and labels, as Prometheus calls them."""
    found: Series = {}
    for metric in metrics:
        for sample in metric.samples:
            to = frozenset(sample.labels.items())
            if isinstance(sample.value, Summary):
                values = {f"{metric.name}_count": (to, float(sample.value.count))}
                values[f"{metric.name}_sum"] = (to, sample.value.sum)
                for name, (labels, value) in values.items():
                    assert (name, labels) not in found
                    found[name, labels] = value
                for fraction, quantile in sample.value.quantiles.items():
                    of = to | {("quantile", str(fraction))}
                    found[metric.name, of] = math.nan if quantile is None else quantile
            else:
                assert (metric.name, to) not in found
                found[metric.name, to] = sample.value
    return found


# --- the metrics ---------------------------------------------------------------------------------


def test_metrics_are_the_numbers_of_the_tally(tally: Tally) -> None:
    found = series(metrics_of(tally))
    total, recent = tally.total, tally.recent()
    assert total.chains
    for (name, nodes), of in total.chains.items():
        to = frozenset({"chain": name, "nodes": nodes}.items())
        latency = "strata_chain_latency_seconds"
        assert found[f"{latency}_count", to] == of.latency.count
        assert found[f"{latency}_sum", to] == pytest.approx(of.latency.sum_ns / 1e9)
        for fraction in (0.5, 0.9, 0.99):
            last = recent.chains[name, nodes].latency.quantile_ns(fraction)
            assert last is not None
            found_s = found[latency, to | {("quantile", str(fraction))}]
            assert found_s == pytest.approx(last / 1e9)
        for layer, ns in of.layers_ns.items():
            key = ("strata_layer_seconds_total", to | {("layer", layer)})
            assert found[key] == pytest.approx(ns / 1e9)
    for topic, count in total.published.items():
        key = ("strata_messages_published_total", frozenset({"topic": topic}.items()))
        assert found[key] == count
    for (topic, publisher, subscription), of_hop in total.hops.items():
        labels = {"topic": topic, "publisher": publisher, "subscription": subscription}
        key = ("strata_messages_received_total", frozenset(labels.items()))
        assert found[key] == of_hop.received
    assert tally.until_ns is not None
    last_s = found["strata_last_window_timestamp_seconds", frozenset()]
    assert last_s == pytest.approx(tally.until_ns / 1e9)
    assert found["strata_system_stands_out", frozenset()] == int(tally.system.stands_out)


def test_losses_discards_and_what_was_not_seen() -> None:
    found = series(metrics_of(hostile_tally()))
    lost = {
        dict(key[1])["cause"]: value
        for key, value in found.items()
        if key[0] == "strata_messages_lost_total"
    }
    assert lost == {"overwritten": 30}
    assert found["strata_events_discarded_total", frozenset()] == 3
    assert found["strata_unseen_seconds_total", frozenset()] == pytest.approx(210e-9)


def test_names_follow_the_rules() -> None:
    for metric in metrics_of(hostile_tally()):
        assert metric.name.startswith("strata_")
        assert metric.name.endswith("_total") == (metric.kind == "counter")
        stem = metric.name.removesuffix("_total")
        assert stem.endswith("_seconds") == (metric.unit == "s")
        assert stem.endswith("_ratio") == (metric.unit == "1")
        assert metric.help.endswith(".")


def test_counters_never_decrease(sample: Callable[[str], Path]) -> None:
    tally, before = Tally(), {}
    for one in judged_windows(sample("fast_relay1p_st_ipc"), 6):
        tally.add(one)
        metrics = metrics_of(tally)
        found = series(tuple(metric for metric in metrics if metric.kind == "counter"))
        assert all(found[key] >= value for key, value in before.items())
        assert sum(found.values()) > sum(before.values())
        before = found


def test_executors_that_cannot_be_told_apart_are_one() -> None:
    tally = Tally()
    busy = [ExecutorSeen("h", 1, "", 1, share) for share in (0.2, 0.7, None, 0.1)]
    tally.add(made_judged(1, {}, executors=tuple(busy)))
    found = {key: n for key, n in series(metrics_of(tally)).items() if "busy" in key[0]}
    labels = frozenset({"host": "h", "pid": "1", "nodes": ""}.items())
    assert found == {("strata_executor_busy_ratio", labels): 0.7}


def test_quantiles_are_not_known_without_a_message_in_the_last_seconds() -> None:
    tally = Tally()
    tally.add(made_judged(1, {("/t", "/p -> /s"): chain(5, MS)}))
    tally.add(made_judged(30, {}))
    (summary,) = [one.samples[0].value for one in metrics_of(tally) if one.kind == "summary"]
    assert isinstance(summary, Summary)
    assert (summary.count, set(summary.quantiles.values())) == (5, {None})


# --- Prometheus ----------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[MetricsServer]:
    started = serve(0)
    yield started
    started.close()


def fetched(server: MetricsServer, accept: str = "text/plain") -> str:
    url = f"http://{server.address}:{server.port}/metrics"
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def parsed(text: str) -> Series:
    families = list(text_string_to_metric_families(text))
    return {
        (one.name, frozenset(one.labels.items())): one.value
        for family in families
        for one in family.samples
    }


def test_prometheus_fetches_all_numbers(server: MetricsServer, tally: Tally) -> None:
    server.publish(tally)
    assert parsed(fetched(server)) == pytest.approx(series(metrics_of(tally)), nan_ok=True)


def test_prometheus_is_given_the_types(server: MetricsServer, tally: Tally) -> None:
    server.publish(tally)
    families = {one.name: one for one in text_string_to_metric_families(fetched(server))}
    for metric in metrics_of(tally):
        family = families[metric.name.removesuffix("_total")]
        assert (family.type, family.documentation) == (metric.kind, metric.help)


def test_open_metrics_has_the_same_numbers(server: MetricsServer, tally: Tally) -> None:
    server.publish(tally)
    text = fetched(server, OPEN_METRICS)
    assert text.endswith("# EOF\n")
    families = list(openmetrics.text_string_to_metric_families(text))
    found = {
        (one.name, frozenset(one.labels.items())): one.value
        for family in families
        for one in family.samples
    }
    assert found == pytest.approx(series(metrics_of(tally)), nan_ok=True)
    assert {one.name: one.unit for one in families}["strata_layer_seconds"] == "seconds"


@pytest.mark.parametrize("accept", ["text/plain", OPEN_METRICS])
def test_hostile_names_arrive_as_they_are(server: MetricsServer, accept: str) -> None:
    tally = hostile_tally()
    server.publish(tally)
    text = fetched(server, accept)
    parse = text_string_to_metric_families
    if accept == OPEN_METRICS:
        parse = openmetrics.text_string_to_metric_families
    topics = {
        one.labels["topic"]
        for family in parse(text)
        for one in family.samples
        if one.name == "strata_messages_published_total"
    }
    assert topics == {topic.replace("\ud800", "?") for topic in tally.total.published}
    assert {"/a\nb", '/"quoted"\\'} <= topics


def test_nothing_is_served_before_the_first_tally(server: MetricsServer) -> None:
    assert fetched(server) == ""


def test_it_is_served_on_loopback_alone(server: MetricsServer) -> None:
    assert server.address == "127.0.0.1"


def test_a_fetch_sees_one_tally(server: MetricsServer) -> None:
    tallies = [counted(1, 10), counted(1, 1_000_000)]
    server.publish(tallies[0])
    done = threading.Event()

    def publish() -> None:
        while not done.is_set():
            for one in tallies:
                server.publish(one)

    thread = threading.Thread(target=publish)
    thread.start()
    try:
        seen = set()
        for _ in range(60):
            found = parsed(fetched(server))
            counts = {n for key, n in found.items() if key[0].startswith("strata_messages")}
            counts.add(found["strata_events_discarded_total", frozenset()])
            assert len(counts) == 1
            seen |= counts
    finally:
        done.set()
        thread.join()
    assert seen <= {10, 1_000_000}


def test_what_is_published_may_change(server: MetricsServer) -> None:
    tally = counted(1, 10)
    server.publish(tally)
    tally.total.published["/t"] = 11
    key = ("strata_messages_published_total", frozenset({"topic": "/t"}.items()))
    assert parsed(fetched(server))[key] == 10
    server.publish(tally)
    assert parsed(fetched(server))[key] == 11


def test_a_port_in_use_is_an_error(server: MetricsServer) -> None:
    with pytest.raises(LiveError, match=rf"127.0.0.1:{server.port}: Address already in use\. Choo"):
        serve(server.port)


@pytest.mark.parametrize(("port", "address"), [(0, "203.0.113.7"), (99999, "127.0.0.1")])
def test_an_address_that_cannot_be_had_is_an_error(port: int, address: str) -> None:
    with pytest.raises(LiveError, match=f"Cannot serve metrics at {address}:{port}: "):
        serve(port, address)


def test_a_closed_server_is_gone() -> None:
    server = serve(0)
    assert fetched(server) == ""
    server.close()
    with pytest.raises(urllib.error.URLError):
        fetched(server)
    serve(server.port).close()


# --- OTLP ----------------------------------------------------------------------------------------


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
