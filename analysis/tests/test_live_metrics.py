# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of a tally, and what Prometheus fetches of them over a socket."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from made_tally import (
    MS,
    Series,
    chain,
    counted,
    hostile_tally,
    judged_windows,
    made_judged,
    series,
)
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from strata.errors import LiveError
from strata.live.judged import ExecutorSeen
from strata.live.metrics import Summary, metrics_of
from strata.live.prometheus import MetricsServer, serve
from strata.live.tally import Tally

SAMPLES = ("fast_relay1p_st_ipc", "attached_jazzy")
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


@pytest.fixture(scope="module", params=SAMPLES)
def tally(request: pytest.FixtureRequest, sample: Callable[[str], Path]) -> Tally:
    found = Tally()
    for one in judged_windows(sample(request.param), 6):
        found.add(one)
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
