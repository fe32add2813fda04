# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Conditions on sample traces: what windows tell together is what the whole trace tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from watched import Span, spans_of, watched, when, whole_of
from written_trace import write_tables

import strata
from strata.analysis import Analysis
from strata.comparison.runs import CALLBACK, Subject, measure_run
from strata.comparison.sides import Side
from strata.guard.load import When
from strata.guard.measured import WindowValues
from strata.live.judged import judge, see
from strata.live.known_names import KnownNames
from strata.live.windows import Window
from strata.read import open_trace
from strata.units import format_ns

SAMPLES = ("fast_relay1p_st_ipc", "fast_relay1p_overload", "attached_jazzy", "cyc_iceoryx")
WINDOWS = 6
Found = list[tuple[Span, str, int]]
"""Window, name, and when it ended, of what is beyond a bound."""


@pytest.fixture(params=SAMPLES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def spans(analysis: Analysis) -> list[Span]:
    return spans_of(analysis.trace.begin_ns, analysis.trace.end_ns, WINDOWS)


def slow_chains(analysis: Analysis) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    chains, instances = analysis.chains, analysis.chain_instances
    for (name, nodes), own in chains.groupby(["name", "nodes"], observed=True):
        of = instances[instances["chain_id"].isin(own["chain_id"])]
        yield f"chain {name} ({nodes})", of["latency_ns"].to_numpy(), of["end_ns"].to_numpy()


def slow_hops(analysis: Analysis) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    messages = analysis.messages[analysis.messages["complete"]]
    keys = ["topic", "publisher_node", "subscription_node"]
    for (topic, publisher, subscription), own in messages.groupby(keys, observed=True):
        if topic not in ("/rosout", "/parameter_events"):
            end_ns = (own["begin_ns"] + own["latency_ns"]).to_numpy()
            name = f"hop {topic} ({publisher} -> {subscription})"
            yield name, own["latency_ns"].to_numpy(), end_ns


def slow_services(analysis: Analysis) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    calls = analysis.service_calls
    calls = calls[calls["complete"] & ~calls["further"]]
    for _, service in analysis.services.iterrows():
        own = calls[calls["service_id"] == service["service_id"]]
        name = (
            f"service {service['service']} ({service['client_node']} -> {service['service_node']})"
        )
        end_ns = (own["begin_ns"] + own["latency_ns"]).to_numpy(np.int64)
        yield name, own["latency_ns"].to_numpy(np.int64), end_ns


def worst_of(
    every: Iterator[tuple[str, np.ndarray, np.ndarray]], spans: list[Span], bound_ns: int
) -> Found:
    """The worst of each window that is beyond a bound, by the whole analysis."""
    found = []
    for name, ns, end_ns in every:
        for since_ns, until_ns in spans:
            own = (end_ns > since_ns) & (end_ns <= until_ns)
            if own.any() and ns[own].max() > bound_ns:
                found.append(((since_ns, until_ns), name, int(end_ns[own][ns[own].argmax()])))
    return sorted(found)


def told(trace: Path, spans: list[Span], condition: When) -> Found:
    windows = watched(trace, spans, condition)
    return sorted(
        (span, one.subject, one.at_ns)
        for span, found in zip(spans, windows, strict=True)
        for one in found
    )


@pytest.mark.parametrize(("subject", "every"), [("chain", slow_chains), ("hop", slow_hops)])
def test_the_worst_of_each_window_is_told(
    name: str,
    subject: str,
    every: Callable[[Analysis], Iterator[tuple[str, np.ndarray, np.ndarray]]],
    sample: Callable[[str], Path],
    analysis_of: Callable[[str], Analysis],
) -> None:
    analysis, trace = analysis_of(name), sample(name)
    latencies = np.concatenate([ns for _, ns, _ in every(analysis)])
    for bound_ns in (0, int(np.quantile(latencies, 0.98)), int(latencies.max()) - 1):
        expected = worst_of(every(analysis), spans(analysis), bound_ns)
        assert expected
        condition = when(f"{subject} max > {bound_ns} ns")
        assert told(trace, spans(analysis), condition) == expected
    largest = int(latencies.max())
    assert told(trace, spans(analysis), when(f"{subject} max > {largest} ns")) == []
    at_bound = told(trace, spans(analysis), when(f"{subject} max >= {largest} ns"))
    assert at_bound == worst_of(every(analysis), spans(analysis), largest - 1)


@pytest.mark.parametrize("service", ["services_jazzy", "services_kilted"])
def test_slow_calls_are_told(
    service: str, sample: Callable[[str], Path], analysis_of: Callable[[str], Analysis]
) -> None:
    analysis, trace = analysis_of(service), sample(service)
    latencies = np.concatenate([ns for _, ns, _ in slow_services(analysis)])
    bound_ns = int(np.quantile(latencies, 0.5))
    expected = worst_of(slow_services(analysis), spans(analysis), bound_ns)
    assert expected
    assert told(trace, spans(analysis), when(f"service max > {bound_ns} ns")) == expected
    none = when(f"service max > {latencies.max()} ns")
    assert told(trace, spans(analysis), none) == []


def test_what_ends_at_the_edge_of_a_window_is_told_once(
    sample: Callable[[str], Path], analysis_of: Callable[[str], Analysis]
) -> None:
    trace, analysis = sample("dds_jazzy_udp_resends"), analysis_of("dds_jazzy_udp_resends")
    (_, _, end_ns), *_ = slow_chains(analysis)
    middle = int(np.sort(end_ns)[len(end_ns) // 2])
    edges = [analysis.trace.begin_ns - 1, middle - 1, middle, middle + 1, analysis.trace.end_ns]
    windows = watched(trace, list(pairwise(edges)), when("chain max > 0 ns"))
    assert [len(found) for found in windows] == [1, 1, 0, 1]
    assert windows[1][0].at_ns == middle


def test_many_windows_tell_every_slow_message_once(
    sample: Callable[[str], Path], analysis_of: Callable[[str], Analysis]
) -> None:
    """Windows that are shorter than the time between two messages."""
    name = "attached_jazzy"
    analysis = analysis_of(name)
    bounds = spans_of(analysis.trace.begin_ns, analysis.trace.end_ns, 40)
    found = told(sample(name), bounds, when("hop max > 0 ns", hop="/chain_*"))
    ends = {at_ns for _, _, at_ns in found}
    assert len(ends) == len(found)
    messages = analysis.messages[analysis.messages["complete"]]
    own = messages["topic"].astype(str).str.startswith("/chain_")
    every = (messages["begin_ns"] + messages["latency_ns"])[own]
    assert ends <= set(every)
    assert len(ends) > 0.8 * len(every)


LAYERS = (
    "executor wait",
    "middleware",
    "middleware + executor wait",
    "take",
    "callback",
    "hold",
    "transport + dds receive",
)


@pytest.mark.parametrize("sampled", [*SAMPLES, "dds_kilted_shm", "cyc_img720p30"])
@pytest.mark.parametrize("subject", ["chain", "hop", *LAYERS])
@pytest.mark.parametrize("kind", ["chain", "hop"])
def test_values_are_those_of_gates(
    sampled: str,
    subject: str,
    kind: str,
    sample: Callable[[str], Path],
    analysis_of: Callable[[str], Analysis],
) -> None:
    """Of all windows together, of a layer and of the whole."""
    if subject in ("chain", "hop"):
        subject = kind
    condition = when(f"{subject} max > 0 ns", **{kind: "*"})
    assert_as_of_gates(condition, sample(sampled), analysis_of(sampled))


@pytest.mark.parametrize("kind", ["chain", "hop"])
def test_layers_of_messages_that_are_cut_in_two_ways(
    kind: str, sample: Callable[[str], Path], tmp_path: Path
) -> None:
    """Of half of the messages of each hop it is not known when the reader was told."""
    tables = open_trace(sample("dds_kilted_shm")).tables()
    told = tables["dds:reader_notify"]
    tables["dds:reader_notify"] = told.slice(0, len(told) // 2)
    trace = write_tables(tmp_path / "mixed", tables)
    analysis = strata.analyze(trace)
    for layer in LAYERS:
        condition = when(f"{layer} max > 0 ns", **{kind: "*"})
        found = assert_as_of_gates(condition, trace, analysis)
        if layer == "middleware + executor wait":
            assert found


def assert_as_of_gates(condition: When, trace: Path, analysis: Analysis) -> int:
    """Hold what all windows give against the whole run; return of how many subjects it is."""
    found: dict[tuple[Subject, str], list[np.ndarray]] = {}
    for span in spans(analysis):
        seen = see(Window(trace, *span, span), KnownNames())
        assert seen is not None
        for own in WindowValues(seen).of(condition):
            found.setdefault((own.subject, own.place), []).append(own.ns)
    run = measure_run(analysis, "whole")
    side = Side("whole", (run,))
    expected = {}
    for subject, measured in run.measured.items():
        if subject.kind != condition.kind or subject.internal or not len(measured.latency):
            continue
        if condition.whole:
            expected[subject, ""] = measured.latency
            continue
        for place, values in of_layer(side, subject, condition.condition.subject):
            expected[subject, place] = values
    assert set(found) == set(expected)
    for key, values in expected.items():
        np.testing.assert_array_equal(np.sort(np.concatenate(found[key])), np.sort(values))
    return len(expected)


def of_layer(side: Side, subject: Subject, layer: str) -> Iterator[tuple[str, np.ndarray]]:
    from strata.comparison.gates.judge import cuts_named
    from strata.comparison.sides import cut_of

    for cut in cuts_named(layer, cut_of(side, side, subject)):
        for values in side.values(subject, cut):
            yield cut.place, values


@pytest.mark.parametrize("text", ["transfer max > 0 ns", "callback max > 0 ns"])
def test_transfers_and_callbacks_are_those_of_gates(
    name: str, text: str, sample: Callable[[str], Path], analysis_of: Callable[[str], Analysis]
) -> None:
    analysis, condition = analysis_of(name), when(text)
    found: dict[Subject, list[np.ndarray]] = {}
    for span in spans(analysis):
        seen = see(Window(sample(name), *span, span), KnownNames())
        assert seen is not None
        for own in WindowValues(seen).of(condition):
            found.setdefault(own.subject, []).append(own.ns)
    of_callbacks = condition.kind == CALLBACK
    expected = {
        subject: measured.latency if of_callbacks else measured.transfer
        for subject, measured in measure_run(analysis, "whole").measured.items()
        if subject.kind == condition.kind and not subject.internal and len(measured.latency)
    }
    assert set(found) == set(expected)
    for subject, values in expected.items():
        assert values is not None
        together = np.sort(np.concatenate(found[subject]))
        np.testing.assert_array_equal(together, np.sort(values))


@pytest.mark.parametrize("sampled", ["fast_relay1p_overload", "services_jazzy", "cyc_img720p30"])
def test_traces_that_look_back_two_seconds_tell_the_same(
    sampled: str, sample: Callable[[str], Path], tmp_path: Path
) -> None:
    """But for timers, whose grid each trace shows anew."""
    trace = sample(sampled)
    ((since, until),) = whole_of(trace)
    cuts, tables = spans_of(since + 1, until, 7), open_trace(trace).tables()
    traces = []
    for number, (since_ns, until_ns) in enumerate(cuts):
        held = {}
        for name, table in tables.items():
            at_ns = table["timestamp"].to_numpy()
            own = (at_ns >= since_ns - 2_000_000_000) & (at_ns <= until_ns + 300_000_000)
            held |= {name: table.filter(own)} if own.any() else {}
        traces.append(write_tables(tmp_path / str(number), held))
    subjects = ("chain", "hop", "transfer", "callback", "service", "executor wait", "hold")
    texts = [f"{subject} max > 1 us" for subject in subjects]
    texts += ["period max > 25 ms", "period p50 > 1 us", "executor busy > 0 % for 500 ms"]
    conditions = [when(text) for text in texts]
    whole, own = watched(trace, cuts, *conditions), watched(traces, cuts, *conditions)
    assert sum(map(len, whole)) > 50
    for found, again in zip(whole, own, strict=True):
        assert [str(one) for one in found] == [str(one) for one in again]


def test_statistics_of_few_values_are_not_judged(
    sample: Callable[[str], Path], analysis_of: Callable[[str], Analysis]
) -> None:
    trace, analysis = sample("dds_jazzy_udp_resends"), analysis_of("dds_jazzy_udp_resends")
    messages = analysis.messages[analysis.messages["topic"] == "/chain_0"]
    end_ns = np.sort((messages["begin_ns"] + messages["latency_ns"]).to_numpy())
    names = ("p50", "p99", "min", "mean", "max")
    conditions = [when(f"hop {name} > 0 ns", hop="/chain_0") for name in names]
    for count, expected in ((4, ["min", "mean", "max"]), (5, list(names))):
        (found,) = watched(trace, [(int(end_ns[0]) - 1, int(end_ns[count - 1]))], *conditions)
        assert [one.when.name.split()[1] for one in found] == expected


def test_a_scope_chooses_subjects(sample: Callable[[str], Path]) -> None:
    trace = sample("fast_relay1p_overload")
    (span,) = whole_of(trace)
    for condition, names in (
        (when("hop max > 0 ns", hop="/chain_[01]"), ["/chain_0", "/chain_1"]),
        (when("hop max > 0 ns", hop="/relay_2 -> *"), ["/chain_3"]),
        (when("hop max > 0 ns", hop="/rosout"), []),
        (when("callback max > 0 ns", callback="/sin?"), ["[/chain_3]"]),
        (when("period max > 0 ns", topic="/chain_2"), ["/chain_2"]),
        (when("period max > 0 ns", node="/relay_?"), ["/chain_1", "/chain_2", "/chain_3"]),
        (when("timer max > 0 ns", node="/source"), ["[10.0 ms]", "[100 ms]"]),
        (when("timer max > 0 ns", callback="10.0 ms"), ["[10.0 ms]"]),
        (when("timer max > 0 ns", node="/sink"), []),
        (when("executor busy > 50 % for 1 s", node="/relay_*"), ["/relay_1"]),
        (when("executor busy > 50 % for 1 s", node="/none"), []),
    ):
        (found,) = watched(trace, [span], condition)
        assert len(found) == len(names)
        for name in names:
            assert sum(name in one.subject for one in found) == 1


def test_a_sentence(sample: Callable[[str], Path], analysis_of: Callable[[str], Analysis]) -> None:
    trace, analysis = sample("fast_relay1p_overload"), analysis_of("fast_relay1p_overload")
    largest = format_ns(int(analysis.chain_instances["latency_ns"].max()))
    chain, wait, loss = (
        watched(trace, whole_of(trace), when(text))[0]
        for text in ("chain max > 50 ms", "hold p99 >= 4.5 ms", "loss > 0 %")
    )
    topics = "/chain_0 -> /chain_1 -> /chain_2 -> /chain_3"
    nodes = "/source -> /relay_0 -> /relay_1 -> /relay_2 -> /sink"
    assert [one.text for one in chain] == [
        f"chain {topics} ({nodes}) took {largest}, more than 50 ms"
    ]
    assert len(wait) == 1
    assert wait[0].text.startswith("hold at /relay_")
    assert wait[0].text.endswith(" over 1,000 values, not less than 4.5 ms")
    assert loss == []


def test_periods(sample: Callable[[str], Path], analysis_of: Callable[[str], Analysis]) -> None:
    """Every gap is told once, in the window in which the next publication became overdue."""
    name = "fast_relay1p_overload"
    analysis = analysis_of(name)
    publications = analysis.publications
    topic = "/chain_3"
    own = analysis.publishers["publisher_id"][analysis.publishers["topic"] == topic]
    rows = publications[publications["publisher_id"].isin(own)]
    at_ns = np.sort(rows["client_ns"].fillna(rows["rmw_publish_ns"]).to_numpy(np.int64))
    gaps = np.diff(at_ns)
    bound_ns = int(np.sort(gaps)[-8])
    condition = when(f"period max > {bound_ns} ns", topic=topic)
    bounds = spans_of(int(at_ns[0]), analysis.trace.end_ns, 60)
    due_ns = at_ns[:-1] + bound_ns + 1
    # The second publication ever is told when it comes.
    due_ns[0] = at_ns[1]
    open_ns = np.array([at_ns[-1] + bound_ns + 1])
    ends, far = np.append(due_ns[gaps > bound_ns], open_ns), np.iinfo(np.int64).max
    every = [("", np.append(gaps[gaps > bound_ns], far), ends)]
    expected = worst_of(iter(every), bounds, bound_ns)
    found = told(sample(name), bounds, condition)
    assert [at for _, _, at in found] == [at for _, _, at in expected]
    assert len(found) >= 4
    largest = when(f"period max > {gaps.max()} ns", topic=topic)
    before = [span for span in bounds if span[1] <= at_ns[-1]]
    assert told(sample(name), before, largest) == []


def test_timers(sample: Callable[[str], Path], analysis_of: Callable[[str], Analysis]) -> None:
    name = "fast_relay1p_overload"
    analysis, trace = analysis_of(name), sample(name)
    fires = analysis.timer_fires
    late = fires["lateness_ns"].to_numpy(np.int64)
    start_ns = fires["start_ns"].to_numpy(np.int64)
    largest = int(late.max())
    (one,) = told(trace, spans(analysis), when(f"timer max > {largest - 1} ns"))
    assert one[2] == start_ns[late.argmax()]
    assert told(trace, spans(analysis), when(f"timer max > {largest} ns")) == []
    windows = watched(trace, spans(analysis), when("timer skipped > 0", node="/source"))
    skipped = [int(one.text.split(" skipped ")[1].split()[0]) for (one,) in windows if one]
    assert sum(skipped) == fires["skipped"].sum() > 500
    assert not any(watched(trace, spans(analysis), when(f"timer skipped > {max(skipped)}")))
    assert any(watched(trace, spans(analysis), when(f"timer skipped >= {max(skipped)}")))


def test_losses(sample: Callable[[str], Path], analysis_of: Callable[[str], Analysis]) -> None:
    name = "cyc_img720p30"
    analysis, trace = analysis_of(name), sample(name)
    lost = analysis.hop_losses[analysis.hop_losses["outcome"] == "lost"]
    own = lost.merge(analysis.hops, on="hop_id")
    own = own[~own["topic"].isin(["/rosout", "/parameter_events"])]
    windows = watched(trace, spans(analysis), when("loss > 0 %"))
    counts = [int(one.text.split(" lost ")[1].split()[0]) for found in windows for one in found]
    assert sum(counts) == own["count_x"].sum() == 57
    for (since_ns, until_ns), found in zip(spans(analysis), windows, strict=True):
        assert all(since_ns < one.at_ns <= until_ns for one in found)
    assert min(one.at_ns for found in windows for one in found) == own["begin_ns"].min()
    whole = [(spans(analysis)[0][0], spans(analysis)[-1][1])]
    share = 57 / int(analysis.hops.set_index("hop_id").loc[own["hop_id"].iloc[0], "published"])
    assert len(watched(trace, whole, when(f"loss > {100 * share - 0.01:.3f} %"))[0]) == 1
    assert watched(trace, whole, when(f"loss > {100 * share + 0.01:.3f} %")) == [[]]


def test_nothing_is_lost_where_nothing_was(sample: Callable[[str], Path]) -> None:
    trace = sample("fast_relay1p_st_ipc")
    assert watched(trace, whole_of(trace), when("loss > 0 %")) == [[]]


def test_losses_are_those_that_are_counted(
    name: str, sample: Callable[[str], Path], analysis_of: Callable[[str], Analysis]
) -> None:
    """`strata live` shows the same numbers."""
    from strata.guard.losses import Readers

    readers, names = Readers(), KnownNames()
    for span in spans(analysis_of(name)):
        seen = see(Window(sample(name), *span, span), names)
        assert seen is not None
        judged = judge(seen)
        found = {one.hop: one for one in readers.look(seen, judged)}
        for hop, of_hop in judged.hops.items():
            assert (found[hop].received, found[hop].lost) == (of_hop.received, of_hop.lost)


def test_events(sample: Callable[[str], Path]) -> None:
    trace = sample("dds_jazzy_udp_resends")
    table = open_trace(trace).tables(["dds:receive"])["dds:receive"]
    size, at_ns = table["bytes"].to_numpy(), table["timestamp"].to_numpy()
    largest = int(size.max())
    cases = [
        ("event dds:receive", at_ns.min()),
        (f"event dds:receive bytes >= {largest}", at_ns[size.argmax()]),
        (f"event dds:receive bytes > {largest}", None),
        (f"event dds:receive bytes == {largest}", at_ns[size.argmax()]),
        (f"event dds:receive bytes != {size[0]}", at_ns[size != size[0]].min()),
        (f"event dds:receive bytes < {size.min() + 1}", at_ns[size.argmin()]),
        ("event dds:receive vpid > 0", at_ns.min()),
        ("event dds:receive procname == 'nobody'", None),
        ("event dds:receive bytes == 'nobody'", None),
        ("event dds:receive procname > 1", None),
        ("event dds:receive no_such_field > 1", None),
        ("event dds:no_such_event", None),
    ]
    for text, expected in cases:
        (found,) = watched(trace, whole_of(trace), when(text))
        assert [one.at_ns for one in found][:1] == ([] if expected is None else [expected]), text


def test_the_worst_event_of_each_process_is_told(sample: Callable[[str], Path]) -> None:
    trace = sample("dds_jazzy_udp_resends")
    frame = open_trace(trace).tables(["dds:send_begin"])["dds:send_begin"].to_pandas()
    assert frame["vpid"].nunique() > 1
    (found,) = watched(trace, whole_of(trace), when("event dds:send_begin bytes > 100"))
    worst = frame.sort_values(["bytes", "timestamp"], ascending=[False, True], kind="stable")
    expected = worst[worst["bytes"] > 100].drop_duplicates("vpid")
    assert [one.at_ns for one in found] == sorted(expected["timestamp"])
    assert all(", more than 100" in one.text for one in found)


def test_null_is_no_value() -> None:
    import pyarrow as pa

    from strata.guard.conditions import Event, parse
    from strata.guard.events import _compared

    numbers = pa.chunked_array([pa.array([(1 << 64) - 1, None, 0], pa.uint64())])
    texts = pa.chunked_array([pa.array(["a", None, "b"]).dictionary_encode()])
    for text, column, expected in (
        ("event a:b f != 5", numbers, [True, False, True]),
        ("event a:b f == 0", numbers, [False, False, True]),
        ("event a:b f > 18446744073709551614", numbers, [True, False, False]),
        ("event a:b f >= 18446744073709551615", numbers, [True, False, False]),
        ("event a:b f < 0.5", numbers, [False, False, True]),
        ("event a:b f > -1", numbers, [True, False, True]),
        ("event a:b f != 'a'", texts, [False, False, True]),
        ("event a:b f == 'a'", texts, [True, False, False]),
        ("event a:b f == 5", texts, [False, False, False]),
    ):
        condition = parse(text)
        assert isinstance(condition, Event)
        assert _compared(column, condition)[0].tolist() == expected


def test_texts_of_events(sample: Callable[[str], Path]) -> None:
    trace = sample("dds_jazzy_udp_resends")
    names = open_trace(trace).tables(["ros2:rcl_node_init"])["ros2:rcl_node_init"]
    (found,) = watched(
        trace, whole_of(trace), when("event ros2:rcl_node_init node_name == 'source'")
    )
    row = names["node_name"].to_pylist().index("source")
    assert [one.at_ns for one in found] == [names["timestamp"][row].as_py()]
    process = f"{names['procname'][row]} (process {names['vpid'][row]})"
    assert found[0].text == f'ros2:rcl_node_init occurred in {process} with node_name "source"'
    (others,) = watched(
        trace, whole_of(trace), when("event ros2:rcl_node_init node_name != 'source'")
    )
    rows = zip(names["timestamp"].to_pylist(), names["node_name"].to_pylist(), strict=True)
    assert {one.at_ns for one in others} <= {at for at, name in rows if name != "source"}
    assert others
