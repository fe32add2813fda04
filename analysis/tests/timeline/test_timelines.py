# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Timelines of messages of real traces: their own spans add up, and threads did what they did."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import strata
from strata.analysis import Analysis
from strata.errors import TraceError
from strata.read import open_trace
from strata.read.links import read_links
from strata.schema.layer import Layer
from strata.schema.layers import BY_NAME
from strata.schema.links import MessageLink
from strata.stats.path import critical_path
from strata.timeline import Timeline, Timelines, documents, message_timeline
from strata.timeline.document import PLACED
from strata.timeline.labels import KINDS, LANES

AnalysisOf = Callable[[str], Analysis]
Sample = Callable[[str], Path]

FUSION = MessageLink("/fusion", ("/fast", "/slow"), ("/fused",), "periodic_async")
NAMES = (
    "fast_relay1p_st",
    "fast_relaymp_st",
    "fast_relay1p_mt",
    "fast_relay1p_overload",
    "fast_blocked_st",
    "fast_relay1p_st_latestart",
    "fast_throws",
    "intra_jazzy",
    "loans_jazzy",
    "cyc_iceoryx",
    "dds_jazzy_udp_resends",
    "dds_kilted_shm",
    "driver_polled",
    "throws_rclpy",
)
MOST = 400
"""So many messages of a sample are looked at."""


def some(count: int) -> range:
    return range(0, count, max(1, count // MOST))


def hold_together(timeline: Timeline) -> None:
    """Own spans follow each other from the begin on, and add up to the latency."""
    at_ns = timeline.begin_ns
    for span in timeline.own:
        assert span.begin_ns == at_ns
        assert span.end_ns > span.begin_ns or span.unsynchronised
        at_ns = span.end_ns
    assert at_ns == timeline.begin_ns + timeline.latency_ns
    assert sum(span.duration_ns for span in timeline.own) == timeline.latency_ns


def layers_of(timeline: Timeline) -> Counter[tuple[int | None, str | None]]:
    found: Counter[tuple[int | None, str | None]] = Counter()
    for span in timeline.own:
        found[span.hop, span.layer] += span.duration_ns
    return found


def of_instances(analysis: Analysis) -> None:
    """Hold timelines of chains' messages against their segments, layer by layer."""
    timelines = Timelines(analysis)
    segments = analysis.rows("chain_segments")
    instances = analysis.rows("chain_instances")
    assert len(instances)
    for row in some(len(instances)):
        timeline = timelines.of_instance(row)
        hold_together(timeline)
        own = segments.take(segments["chain_instance_id"] == row)
        expected = Counter(
            {
                (hop, layer): ns
                for hop, layer, ns in zip(
                    own["hop"].tolist(),
                    own.texts("layer"),
                    own["duration_ns"].tolist(),
                    strict=True,
                )
                if ns
            }
        )
        assert layers_of(timeline) == expected
        assert timeline.latency_ns == instances["latency_ns"][row]
        # Link hold has the message that was published in it.
        own = own.take(~own.words("layer").are("link hold"))
        messages = dict(zip(own["hop"].tolist(), own["message_id"].tolist(), strict=True))
        assert timeline.messages == tuple(messages[hop] for hop in sorted(messages))


@pytest.mark.parametrize("name", NAMES)
def test_own_spans_add_up_to_the_latency_to_the_nanosecond(
    analysis_of: AnalysisOf, name: str
) -> None:
    analysis = analysis_of(name)
    timelines = Timelines(analysis)
    count = len(analysis.rows("messages"))
    assert count
    for message in some(count):
        hold_together(timelines.of(message))
    of_instances(analysis)


def test_links_that_are_declared_are_followed(sample: Sample) -> None:
    of_instances(strata.analyze(sample("fast_fusion"), links=[FUSION]))


def test_the_reference_system(sample: Sample, root: Path) -> None:
    links = read_links(root / "analysis/tests/traces/ref_multi_full-links.yaml")
    of_instances(strata.analyze(sample("ref_multi_full"), links=links))


def test_a_timeline_is_the_critical_path(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_relaymp_st")
    timelines = Timelines(analysis)
    for message in range(10, len(analysis.rows("messages")), 1500):
        path, timeline = critical_path(analysis, message), timelines.of(message)
        assert timeline.messages == path.messages
        assert (timeline.begin_ns, timeline.latency_ns) == (path.begin_ns, path.latency_ns)
        expected: Counter[tuple[int, str]] = Counter()
        for step in path.steps:
            expected[step.hop, step.layer] += step.duration_ns
        assert +layers_of(timeline) == +expected


def test_lanes_are_the_threads_that_the_nodes_wrote_down(
    analysis_of: AnalysisOf, sample: Sample
) -> None:
    analysis, directory = analysis_of("fast_relaymp_st"), sample("fast_relaymp_st")
    nodes = ["source", "relay_0", "relay_1", "relay_2", "sink"]
    frames = [pd.read_csv(directory / "truth" / f"{node}.csv") for node in nodes]
    threads = [(int(frame["pid"].iloc[0]), int(frame["tid"].iloc[0])) for frame in frames]
    instances = analysis.rows("chain_instances")
    row = int(np.flatnonzero(instances["chain_id"] == 0)[1000])
    timeline = Timelines(analysis).of_instance(row)
    # A thread, what is in transit to the next, the next, ...
    assert [lane.kind for lane in timeline.lanes] == ["thread", "transit"] * 4 + ["thread"]
    found = [lane for lane in timeline.lanes if lane.kind == "thread"]
    assert [(lane.vpid, lane.vtid) for lane in found] == threads
    assert [lane.role for lane in found] == [f"executor of /{node}" for node in nodes]
    for hop, arrow in enumerate(timeline.arrows):
        assert (arrow.from_lane, arrow.to_lane) == (2 * hop, 2 * hop + 2)
        assert arrow.topic == f"/chain_{hop}"
        assert arrow.from_ns < arrow.to_ns
    on = {(span.kind, span.hop): span.lane for span in timeline.own}
    for hop in range(4):
        assert on["publish", hop] == 2 * hop
        assert on["take", hop] == 2 * hop + 2
        assert on["hold" if hop < 3 else "callback", hop] == 2 * hop + 2
        assert on["executor wait", hop] == 2 * hop + 1


def stamps(directory: Path, node: str, event: str) -> pd.Series[int]:
    (offset,) = set(open_trace(directory).clock_offsets_ns.values())
    frame = pd.read_csv(directory / "truth" / f"{node}.csv")
    return frame[frame["event"] == event].set_index("seq")["t_mono_ns"] + offset


def test_callbacks_lie_where_the_nodes_own_stamps_are(
    analysis_of: AnalysisOf, sample: Sample
) -> None:
    """The stamps lie within the callbacks: after the start, and before the publish or the end."""
    analysis, directory = analysis_of("fast_relay1p_overload"), sample("fast_relay1p_overload")
    starts = {node: stamps(directory, node, "cb_start") for node in ("relay_0", "relay_2", "sink")}
    instances = analysis.rows("chain_instances")
    rows = np.flatnonzero(instances["chain_id"] == 0)
    timelines = Timelines(analysis)
    for number in (5, 300, 900):
        timeline = timelines.of_instance(int(rows[number]))
        held = {span.hop: span for span in timeline.own if span.kind in ("hold", "callback")}
        for hop, node in ((0, "relay_0"), (2, "relay_2"), (3, "sink")):
            inside = starts[node].between(held[hop].begin_ns, held[hop].end_ns)
            assert inside.sum() == 1
        # One message all the way: each stamp is of the same one.
        numbers = {
            int(series[series.between(held[hop].begin_ns, held[hop].end_ns)].index[0])
            for hop, series in ((0, starts["relay_0"]), (2, starts["relay_2"]), (3, starts["sink"]))
        }
        assert len(numbers) == 1


def test_the_overloaded_relay_waits_behind_callbacks_that_have_names(
    analysis_of: AnalysisOf,
) -> None:
    analysis = analysis_of("fast_relay1p_overload")
    instances = analysis.rows("chain_instances")
    row = int(np.argmax(instances["latency_ns"]))
    timeline = Timelines(analysis).of_instance(row)
    # One executor: a thread, and what waits for it.
    assert [lane.kind for lane in timeline.lanes] == ["thread", "transit"]
    first = timeline.messages[0]
    waited = Counter[str]()
    for span in timeline.spans:
        if not span.own and span.waiting_id == first and span.kind != "other take":
            waited[span.label] += span.waited_ns
    blockers = analysis.rows("executor_blockers")
    own = blockers.take((blockers["message_id"] == first) & blockers.words("work").are("callback"))
    large = own.take(own["duration_ns"] > 1_000_000)
    expected = dict(zip(large["callback_id"].tolist(), large["duration_ns"].tolist(), strict=True))
    named = {
        one.callback_id: one.label
        for one in timeline.behind
        if one.message_id == first and one.work == "callback"
    }
    assert len(expected) >= 3
    for callback, ns in expected.items():
        assert waited[named[callback]] == ns
        assert named[callback].startswith("Relay::Relay::{lambda#2} [/chain_")
    # The wait lies where that work does.
    waits = [span for span in timeline.own if span.hop == 0 and span.kind == "executor wait"]
    busy_ns = sum(span.duration_ns for span in waits)
    assert sum(waited.values()) == pytest.approx(busy_ns, rel=0.02)


def test_work_on_one_thread_does_not_overlap(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_relay1p_mt")
    timelines = Timelines(analysis)
    for row in some(len(analysis.rows("chain_instances"))):
        timeline = timelines.of_instance(row)
        for number, lane in enumerate(timeline.lanes):
            spans = sorted(
                (span.begin_ns, span.end_ns) for span in timeline.spans if span.lane == number
            )
            if lane.kind == "thread":
                assert all(one[1] <= other[0] for one, other in pairwise(spans))


def test_what_a_message_waits_behind_on_another_thread_has_a_lane(
    sample: Sample, root: Path
) -> None:
    links = read_links(root / "analysis/tests/traces/ref_multi_full-links.yaml")
    analysis = strata.analyze(sample("ref_multi_full"), links=links)
    timelines = Timelines(analysis)
    aside = 0
    for message in range(0, len(analysis.rows("messages")), 5):
        timeline = timelines.of(message)
        of = {at for at, lane in enumerate(timeline.lanes) if "waited behind" in lane.role}
        own = {span.lane for span in timeline.own}
        threads = {(lane.host, lane.vpid, lane.vtid) for lane in timeline.lanes if lane.vtid}
        assert len(threads) == sum(lane.kind == "thread" for lane in timeline.lanes)
        aside += bool({at for at in of if at not in own})
    assert aside


def test_the_blocking_callback_of_another_topic_is_shown_where_it_ran(
    analysis_of: AnalysisOf,
) -> None:
    analysis = analysis_of("fast_blocked_st")
    messages = analysis.rows("messages")
    fast = np.flatnonzero(messages.words("topic").are("/fast"))
    slowest = int(fast[np.argmax(messages["executor_wait_ns"][fast])])
    timeline = Timelines(analysis).of(slowest)
    longest = max((span for span in timeline.spans if not span.own), key=lambda one: one.waited_ns)
    assert "[/slow]" in longest.label
    assert longest.kind == "other callback"
    instances = analysis.rows("callback_instances")
    at = np.flatnonzero(instances["start_ns"] == longest.begin_ns)
    assert instances["until_ns"][at].tolist() == [longest.end_ns]
    assert longest.duration_ns > 30_000_000
    # It had begun when the message came, or began while it waited.
    wait = next(span for span in timeline.own if span.kind == "executor wait")
    overlap_ns = min(longest.end_ns, wait.end_ns) - max(longest.begin_ns, wait.begin_ns)
    assert longest.waited_ns == overlap_ns > 10_000_000


def test_sensor_data_wait_on_a_lane_of_their_own(analysis_of: AnalysisOf) -> None:
    timeline = Timelines(analysis_of("driver_polled")).of(10)
    sensor, driver, transit, reader = timeline.lanes
    assert (sensor.kind, transit.kind) == ("sensor", "transit")
    assert sensor.role.startswith("sensor data: UDP port ")
    assert driver.role == "executor of /polled_driver"
    assert reader.role == "executor of /listener"
    first, second, *_ = timeline.own
    assert (first.layer, first.lane, second.layer, second.lane) == ("driver queue", 0, "driver", 1)


def test_other_work_is_bounded_and_what_is_left_out_is_counted(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_relay1p_overload")
    message = int(analysis.rows("chain_instances")["message_id"][500])
    whole = Timelines(analysis).of(message)
    few = Timelines(analysis, most_other=5).of(message)
    others = [span for span in few.spans if not span.own]
    assert len(others) == 5
    # A stretch that the message's own spans cut counts as several.
    assert few.left_out + 5 >= whole.left_out + sum(not span.own for span in whole.spans)
    assert [*few.own] == [*whole.own]
    assert few.left_out_ns > whole.left_out_ns
    kept_ns = min(span.duration_ns for span in others)
    assert kept_ns > 4_000_000


def test_a_message_that_is_not_there_is_refused(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("driver_polled")
    for number in (-1, len(analysis.rows("messages"))):
        with pytest.raises(TraceError, match=f"Cannot show message {number}: the trace has 20"):
            message_timeline(analysis, number)
    with pytest.raises(TraceError, match="Cannot show instance 20: the trace has 20"):
        Timelines(analysis).of_instance(20)


def test_the_same_timeline_each_time(analysis_of: AnalysisOf, sample: Sample) -> None:
    analysis, again = analysis_of("fast_relay1p_mt"), strata.analyze(sample("fast_relay1p_mt"))
    for message in (0, 4000, 8000):
        assert message_timeline(analysis, message) == message_timeline(again, message)


def test_the_frame_has_the_spans_with_units_in_its_names(analysis_of: AnalysisOf) -> None:
    timeline = Timelines(analysis_of("fast_relay1p_st")).of(4003)
    frame = timeline.frame()
    assert len(frame) == len(timeline.spans)
    own = frame[frame["own"]]
    assert own["duration_ns"].sum() == timeline.latency_ns
    assert (frame["end_ns"] - frame["begin_ns"] == frame["duration_ns"]).all()
    assert frame["begin_ns"].dtype == np.int64
    assert own["hop"].notna().all()
    assert frame.loc[~frame["own"], ["hop", "layer"]].isna().all().all()
    assert set(frame["lane_kind"]) == {"thread", "transit"}
    assert repr(timeline).startswith(
        f"<Timeline of message 4003: {timeline.latency_ns / 1e6:.3f} ms over 3 hops and 1 threads, "
    )


def test_compact_documents_say_the_same(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_relay1p_overload")
    timelines = Timelines(analysis)
    instances = analysis.rows("chain_instances")
    several = [timelines.of_instance(row) for row in range(0, len(instances), 100)]
    shared = documents(several)
    text = json.dumps(shared, separators=(",", ":"))
    assert len(text) / len(several) < 4096
    for timeline, found in zip(several, shared["timelines"], strict=True):
        zero_ns = int(found["begin"])
        words = shared["strings"]
        assert zero_ns + found["publish"] == timeline.begin_ns
        assert sum(row[1] for row in found["own"]) == found["latency"] == timeline.latency_ns
        assert [(row[0], words[row[4]], row[5]) for row in found["own"]] == [
            (span.lane, span.layer, span.hop) for span in timeline.own
        ]
        assert [bool(row[6:] and row[6] & PLACED) for row in found["own"]] == [
            span.placed for span in timeline.own
        ]
        others = [span for span in timeline.spans if not span.own]
        assert [(zero_ns + row[1], row[2], words[row[4]]) for row in found["other"]] == [
            (span.begin_ns, span.duration_ns, span.label) for span in others
        ]
        for row, span in zip(found["other"], others, strict=True):
            flags, waited_ns, hop = (*row[5:], 0, 0, 0)[:3]
            assert (flags, waited_ns) == (4 * span.unfinished, span.waited_ns)
            assert span.waiting_id in (None, timeline.messages[hop])
    (alone,) = (timeline.document() for timeline in several[:1])
    assert [alone["strings"][row[4]] for row in alone["own"]] == [
        span.layer for span in several[0].own
    ]


@pytest.mark.parametrize("layer", BY_NAME.values(), ids=lambda layer: layer.name)
def test_every_layer_has_a_kind_and_a_lane(layer: Layer) -> None:
    assert KINDS[layer.name]
    # Who waits is on no thread: the thread does other things meanwhile.
    if layer.waits:
        assert LANES[layer.name] in ("between", "source")
