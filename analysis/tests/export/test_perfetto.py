# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Perfetto traces, decoded with the official protos and compared with the tables."""

from __future__ import annotations

import bisect
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_scene import kernel_tables
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos
from scene import BASE

from strata import Analysis, analyze
from strata.export.chosen import Choice, Chosen
from strata.export.perfetto import write
from strata.export.perfetto.counters import WINDOW_NS, busy_shares
from strata.export.perfetto.cpus import occupancies
from strata.export.perfetto.executor_waits import paired
from strata.export.perfetto.lanes import Lanes, Slice
from strata.export.perfetto.layers import layer_slices
from strata.export.perfetto.packets import PacketWriter
from strata.export.perfetto.processes import ProcessTracks
from strata.export.perfetto.tracks import Tracks
from strata.schema.action_phases import ACTION_PHASES
from strata.schema.layer import Layer
from strata.schema.layers import BY_NAME, CALLBACK, TRANSPORT
from strata.schema.links import MessageLink
from strata.schema.rows import NONE
from strata.schema.service_layers import SERVICE_LAYERS
from strata.timeline.pieces import Piece

AnalysisOf = Callable[[str], Analysis]
EVENT = protos.TrackEvent
NAMES = (
    "fast_relaymp_st",
    "intra_jazzy",
    "fast_relay1p_overload",
    "throws_rclpy",
    "cell_lidar",
    "services_jazzy",
    "actions_jazzy",
    "ref_multi_full",
)


@dataclass
class Drawn:
    """A slice as a reader finds it; `depth` is how many slices it lies in."""

    track: int
    begin: int
    name: str
    category: str
    depth: int
    notes: dict[str, object]
    flows: list[int]
    ended: list[int]
    correlation: int | None
    end: int = -1


@dataclass
class Decoded:
    """What a trace holds, found without any knowledge of how it was written."""

    tracks: dict[int, protos.TrackDescriptor] = field(default_factory=dict)
    slices: list[Drawn] = field(default_factory=list)
    values: dict[int, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))

    def of(self, category: str) -> list[Drawn]:
        return [one for one in self.slices if one.category == category]


DecodedOf = Callable[[str], Decoded]


def decode(data: bytes) -> Decoded:
    """Read a trace; slices must nest strictly, and all that is referred to be there before."""
    trace = protos.Trace.FromString(data)
    clock, defaults, *packets = trace.packet
    assert clock.clock_snapshot.primary_trace_clock == protos.BUILTIN_CLOCK_REALTIME
    # Without the second, trace_processor counts an error.
    assert {one.clock_id for one in clock.clock_snapshot.clocks} == {
        protos.BUILTIN_CLOCK_REALTIME,
        protos.BUILTIN_CLOCK_BOOTTIME,
    }
    assert defaults.sequence_flags == 3
    assert defaults.trace_packet_defaults.timestamp_clock_id == protos.BUILTIN_CLOCK_REALTIME
    out, open_ = Decoded(), defaultdict[int, list[Drawn]](list)
    last: dict[int, int] = {}
    interned: dict[str, dict[int, str]] = defaultdict(dict)
    for packet in packets:
        # The events of a sequence in which a thread is described would be taken for that thread's.
        describes_thread = packet.track_descriptor.HasField("thread")
        assert packet.sequence_flags == (0 if describes_thread else 2)
        assert packet.trusted_packet_sequence_id == (2 if describes_thread else 1)
        for descriptor, entries in packet.interned_data.ListFields():
            for entry in entries:
                assert entry.iid not in interned[descriptor.name]
                text = entry.str.decode() if hasattr(entry, "str") else entry.name
                interned[descriptor.name][entry.iid] = text
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid
            assert track.uuid not in out.tracks
            assert not track.HasField("parent_uuid") or track.parent_uuid in out.tracks
            assert track.description
            # Else readers merge groups of one name.
            is_group = track.child_ordering == track.EXPLICIT
            assert not is_group or (
                track.sibling_merge_behavior == track.SIBLING_MERGE_BEHAVIOR_NONE
            )
            out.tracks[track.uuid] = track
            continue
        event = packet.track_event
        assert event.track_uuid in out.tracks
        stack = open_[event.track_uuid]
        if event.type != EVENT.TYPE_COUNTER:
            assert last.get(event.track_uuid, 0) <= packet.timestamp
            last[event.track_uuid] = packet.timestamp
        if event.type == EVENT.TYPE_COUNTER:
            double = event.HasField("double_counter_value")
            value = event.double_counter_value if double else event.counter_value
            out.values[event.track_uuid].append((packet.timestamp, value))
        elif event.type == EVENT.TYPE_SLICE_END:
            stack.pop().end = packet.timestamp
        else:
            assert event.type == EVENT.TYPE_SLICE_BEGIN
            one = drawn(packet, interned, len(stack))
            stack.append(one)
            out.slices.append(one)
    assert not any(open_.values())
    return out


def drawn(packet: protos.TracePacket, interned: dict[str, dict[int, str]], depth: int) -> Drawn:
    event = packet.track_event
    notes: dict[str, object] = {}
    for note in event.debug_annotations:
        name = interned["debug_annotation_names"][note.name_iid]
        kind = note.WhichOneof("value")
        value = getattr(note, kind)
        texts = interned["debug_annotation_string_values"]
        notes[name] = texts[value] if kind == "string_value_iid" else value
    (category,) = event.category_iids
    return Drawn(
        event.track_uuid,
        packet.timestamp,
        interned["event_names"][event.name_iid],
        interned["event_categories"][category],
        depth,
        notes,
        list(event.flow_ids),
        list(event.terminating_flow_ids),
        event.correlation_id if event.HasField("correlation_id") else None,
    )


def exported(analysis: Analysis, tmp_path: Path, choice: Choice | None = None) -> Decoded:
    target = tmp_path / "trace.pftrace"
    written = write(Chosen(analysis, choice), target, force=True)
    data = target.read_bytes()
    found = decode(data)
    assert written.size == len(data)
    assert written.counts == {
        "slices": len(found.slices),
        "flows": sum(len(one.flows) for one in found.slices),
        "counter values": sum(map(len, found.values.values())),
    }
    return found


@pytest.fixture(scope="module")
def decoded(analysis_of: AnalysisOf, tmp_path_factory: pytest.TempPathFactory) -> DecodedOf:
    """Export all of a sample trace and decode it, once a run."""
    done: dict[str, Decoded] = {}

    def of(name: str) -> Decoded:
        if name not in done:
            done[name] = exported(analysis_of(name), tmp_path_factory.mktemp("perfetto"))
        return done[name]

    return of


@pytest.mark.parametrize("name", NAMES)
def test_messages_and_their_layers_are_those_of_the_table(
    analysis_of: AnalysisOf, decoded: DecodedOf, name: str
) -> None:
    analysis = analysis_of(name)
    found, table = decoded(name), analysis.rows("messages")
    messages = {one.notes["message_id"]: one for one in found.of("message")}
    assert sorted(messages) == list(range(len(table)))
    assert len(found.of("message")) == len(messages)
    for row, one in messages.items():
        assert (one.begin, one.end - one.begin) == (
            table["begin_ns"][row],
            table["latency_ns"][row],
        )
        assert one.depth == 0
    hops = {uuid for uuid, track in found.tracks.items() if track.sibling_merge_key[:4] == "hop "}
    sums: Counter[tuple[int, str]] = Counter()
    for one in found.of("layer"):
        if one.track in hops:
            sums[one.notes["message_id"], one.name] += one.end - one.begin
            assert one.depth == 1
    expected = {
        (row, layer.name): int(table[layer.column][row])
        for layer in BY_NAME.values()
        if layer.column in table and layer.name != "hold"
        for row in np.flatnonzero(table[layer.column] > 0).tolist()
    }
    assert dict(sums) == expected


@pytest.mark.parametrize("name", NAMES)
def test_chains_are_those_of_the_tables(
    analysis_of: AnalysisOf, decoded: DecodedOf, name: str
) -> None:
    chains_agree(decoded(name), analysis_of(name))


def test_what_a_stored_message_waited_is_of_the_message_that_was_then_published(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    link = MessageLink("/fusion", ("/fast", "/slow"), ("/fused",), "periodic_async")
    analysis = analyze(sample("fast_fusion"), links=[link])
    found = exported(analysis, tmp_path)
    assert any(one.name == "link hold" for one in found.of("layer"))
    chains_agree(found, analysis)


def chains_agree(found: Decoded, analysis: Analysis) -> None:
    table = analysis.rows("chain_instances")
    chains = {one.correlation: one for one in found.of("chain")}
    assert sorted(chains) == [row + 1 for row in range(len(table))]
    for row, one in ((number - 1, one) for number, one in chains.items()):
        assert one.begin == table["begin_ns"][row]
        assert one.end - one.begin == table["latency_ns"][row]
    sums: Counter[tuple[int, int, str]] = Counter()
    for one in found.of("layer"):
        if one.correlation is not None:
            sums[one.correlation - 1, one.notes["message_id"], one.name] += one.end - one.begin
            assert one.depth == 2
    expected: Counter[tuple[int, int, str]] = Counter()
    for row in analysis.rows("chain_segments").records():
        if row["duration_ns"]:
            key = row["chain_instance_id"], row["message_id"], row["layer"]
            expected[key] += row["duration_ns"]
    assert sums == expected


@pytest.mark.parametrize("name", NAMES)
def test_a_flow_leads_from_each_publish_to_each_take(
    analysis_of: AnalysisOf, decoded: DecodedOf, name: str
) -> None:
    analysis = analysis_of(name)
    found, table = decoded(name), analysis.rows("messages")
    begins = [(flow, one) for one in found.slices for flow in one.flows]
    ends = [(flow, one) for one in found.slices for flow in one.ended]
    ids = [row + 1 for row in range(len(table))]
    assert sorted(flow for flow, _ in begins) == sorted(flow for flow, _ in ends) == ids
    for flow, one in begins:
        assert one.category == "publish"
        assert one.begin == table["publish_ns"][flow - 1]
        assert one.notes["topic"] == table.words("topic").at(flow - 1)
        assert one.notes["publication_id"] == table["publication_id"][flow - 1]
    for flow, one in ends:
        assert one.category == "take"
        assert one.notes["take_id"] == table["take_id"][flow - 1]
        known = [table[column][flow - 1] for column in ("rmw_take_ns", "dequeue_ns", "picked_ns")]
        assert one.end == max(known)


@pytest.mark.parametrize("name", NAMES)
def test_threads_have_every_callback_publish_and_take(
    analysis_of: AnalysisOf, decoded: DecodedOf, name: str
) -> None:
    analysis = analysis_of(name)
    found, rows = decoded(name), analysis.rows("callback_instances")
    threads = {
        uuid: (track.thread.pid, track.thread.tid)
        for uuid, track in found.tracks.items()
        if track.HasField("thread")
    }
    assert len(set(threads.values())) == len(threads)
    expected = Counter(
        zip(*(rows[one].tolist() for one in ("vpid", "vtid", "start_ns", "until_ns")), strict=True)
    )
    of_thread = {
        uuid: threads.get(uuid) or threads.get(track.parent_uuid)
        for uuid, track in found.tracks.items()
    }
    drawn_ = Counter((*of_thread[one.track], one.begin, one.end) for one in found.of("callback"))
    assert drawn_ == expected
    assert len(found.of("publish")) == len(analysis.rows("publications"))
    assert len(found.of("take")) == len(analysis.rows("takes"))


@pytest.mark.parametrize("name", NAMES)
def test_executors_wait_as_long_as_the_table_says(
    analysis_of: AnalysisOf, decoded: DecodedOf, name: str
) -> None:
    found, rows = decoded(name), analysis_of(name).rows("executor_threads")
    expected = {
        (row["vpid"], row["vtid"]): row["waiting_ns"]
        for row in rows.records()
        if row["waiting_ns"] is not None
    }
    threads = {
        uuid: (track.thread.pid, track.thread.tid)
        for uuid, track in found.tracks.items()
        if track.HasField("thread")
    }
    waited: Counter[tuple[int, int]] = Counter()
    # In a callback that spins, the table counts the callback.
    for one in found.of("wait"):
        if one.depth == 0:
            waited[threads[one.track]] += one.end - one.begin
    handed = set(expected) - set(waited)
    assert dict(waited) == {key: ns for key, ns in expected.items() if key not in handed}
    # The threads of a pool look for no work themselves.
    assert len(handed) == {"services_jazzy": 2, "actions_jazzy": 4}.get(name, 0)


@pytest.mark.parametrize(
    ("name", "category", "table", "key", "layers"),
    [
        ("services_jazzy", "call", "service_calls", "call_id", SERVICE_LAYERS),
        ("actions_jazzy", "call", "service_calls", "call_id", SERVICE_LAYERS),
        ("actions_jazzy", "goal", "action_goals", "goal_id", ACTION_PHASES),
    ],
)
def test_calls_and_goals_are_those_of_the_tables(
    analysis_of: AnalysisOf,
    decoded: DecodedOf,
    name: str,
    category: str,
    table: str,
    key: str,
    layers: tuple[Layer, ...],
) -> None:
    found, rows = decoded(name), analysis_of(name).rows(table)
    drawn_ = {one.notes[key]: one for one in found.of(category)}
    assert len(found.of(category)) == len(drawn_) == len(rows) > 0
    inside = [one for one in found.slices if one.category.endswith(" layer")]
    for row in rows.records():
        one = drawn_[row[key]]
        assert (one.begin, one.end) == (row["begin_ns"], row["begin_ns"] + row["latency_ns"])
        own = [
            part
            for part in inside
            if part.track == one.track and one.begin <= part.begin and part.end <= one.end
        ]
        expected = {layer.name: row[layer.column] for layer in layers if row[layer.column]}
        assert {part.name: part.end - part.begin for part in own} == expected
        # Without a gap, and as long as the call.
        assert [part.begin for part in own[1:]] == [part.end for part in own[:-1]]
        assert (own[0].begin, own[-1].end) == (one.begin, one.end)


def test_cpus_have_who_had_them() -> None:
    tables = kernel_tables(
        """
        10 cpu0 0 S 5
        20 cpu0 5 R 6
        25 cpu1 0 S 7
        30 cpu0 6 S 0
        45 cpu0 0 S 5
        50 cpu0 8 S 0
        60 cpu1 7 S 0
        """
    )
    first, second = occupancies(tables["sched_switch"])
    assert (first.host, first.cpu, second.cpu) == ("h", 0, 1)
    assert (first.begin_ns - BASE).tolist() == [10, 20, 45]
    assert (first.end_ns - BASE).tolist() == [20, 30, 50]
    assert first.tid.tolist() == [5, 6, 5]
    assert first.comm.to_pylist() == ["t5", "t6", "t5"]
    assert first.runnable.tolist() == [True, False, False]
    assert first.lost.tolist() == [False, False, True]
    assert (second.end_ns - second.begin_ns).tolist() == [35]


def test_a_wait_whose_end_was_lost_is_left_out() -> None:
    ns = np.array([10, 20, 30, 40, 50, 60])
    is_begin = np.array([True, False, True, True, False, True])
    begin, end = paired(ns, is_begin, 99)
    assert (begin.tolist(), end.tolist()) == ([10, 40, 60], [20, 50, 99])


def test_a_publish_lies_in_its_callback(analysis_of: AnalysisOf, decoded: DecodedOf) -> None:
    analysis = analysis_of("fast_relaymp_st")
    found, rows = decoded("fast_relaymp_st"), analysis.rows("publications")
    published = rows["instance_id"] != NONE
    for one in found.of("publish"):
        if published[one.notes["publication_id"]]:
            assert one.depth >= 1


def test_messages_in_flight_together_are_on_sibling_tracks(decoded: DecodedOf) -> None:
    found = decoded("fast_relay1p_overload")
    keys = Counter(
        (track.parent_uuid, track.sibling_merge_key)
        for track in found.tracks.values()
        if track.sibling_merge_key
    )
    assert max(keys.values()) > 1


def test_counters_are_consistent(analysis_of: AnalysisOf, decoded: DecodedOf) -> None:
    analysis = analysis_of("ref_multi_full")
    found = decoded("ref_multi_full")
    by_name: dict[str, list[list[tuple[int, float]]]] = defaultdict(list)
    for uuid, values in found.values.items():
        assert [ns for ns, _ in values] == sorted({ns for ns, _ in values})
        by_name[found.tracks[uuid].name].append([*values])
    for values in by_name["waiting to be taken"]:
        assert values[-1][1] == 0
        assert min(value for _, value in values) >= 0
        assert max(value for _, value in values) >= 1
    losses = analysis.hop_losses
    lost = losses.loc[losses["outcome"] == "lost", "count"].sum()
    assert sum(values[-1][1] for values in by_name["lost"]) == lost > 0
    assert by_name["busy"]
    for values in by_name["busy"]:
        assert all(0 <= value <= 100 for _, value in values)


def counters(found: Decoded, name: str) -> dict[str, list[tuple[int, float]]]:
    """Return the values of the counters of a name, by the name of the track above."""
    parent = {uuid: found.tracks[uuid].parent_uuid for uuid in found.values}
    return {
        found.tracks[parent[uuid]].name: values
        for uuid, values in found.values.items()
        if found.tracks[uuid].name == name
    }


def value_at(values: list[tuple[int, float]], ns: int) -> float:
    """Return what a reader sees at a time: the value that was written last, 0 before the first."""
    at = bisect.bisect(values, ns, key=lambda one: one[0])
    return values[at - 1][1] if at else 0


@pytest.mark.parametrize("slowest", [None, 1])
@pytest.mark.parametrize("name", ["waiting to be taken", "lost"])
def test_a_part_has_the_counts_of_the_whole(
    analysis_of: AnalysisOf, decoded: DecodedOf, tmp_path: Path, name: str, slowest: int | None
) -> None:
    analysis = analysis_of("ref_multi_full")
    publish = np.sort(analysis.rows("messages")["publish_ns"])
    begin, end = (int(publish[int(len(publish) * part)]) for part in (0.4, 0.6))
    choice = Choice(begin_ns=begin, end_ns=end, slowest=slowest)
    whole = counters(decoded("ref_multi_full"), name)
    part = counters(exported(analysis, tmp_path, choice), name)
    assert part and set(part) <= set(whole)
    seen = set()
    for hop, values in part.items():
        for first, last in Chosen(analysis, choice).intervals.tolist():
            inside = [ns for ns, _ in whole[hop] if first <= ns < last]
            for ns in (first, *inside, last - 1):
                assert value_at(values, ns) == value_at(whole[hop], ns)
                seen.add(value_at(whole[hop], ns))
            if name == "waiting to be taken":
                assert value_at(values, last) == 0
    assert len(seen) > 1 or (name, slowest) == ("lost", 1)


def test_the_waits_for_a_cpu_are_those_of_the_table(
    analysis_of: AnalysisOf, decoded: DecodedOf
) -> None:
    analysis = analysis_of("groups_exclusive")
    waits = analysis.layer_cpu_waits.groupby("message_id")["about_ns"].sum()
    messages = analysis.messages.set_index("message_id").loc[waits.index]
    expected = sorted(zip(messages["begin_ns"], waits, strict=True))
    found = [
        one
        for own in counters(decoded("groups_exclusive"), "waited for a CPU").values()
        for one in own
    ]
    assert sorted(found) == expected
    assert waits.sum() > 0


def test_the_busy_time_is_that_of_the_executions(
    analysis_of: AnalysisOf, decoded: DecodedOf
) -> None:
    analysis = analysis_of("fast_blocked_st")
    executions = analysis.callback_instances
    busy = (executions["until_ns"] - executions["start_ns"]).sum()
    found = decoded("fast_blocked_st")
    shown = sum(
        value * WINDOW_NS / 100
        for uuid, own in found.values.items()
        if found.tracks[uuid].name == "busy"
        for _, value in own
    )
    assert shown == pytest.approx(busy, rel=1e-6)


def test_what_was_chosen_is_there_with_its_flows(analysis_of: AnalysisOf, tmp_path: Path) -> None:
    analysis = analysis_of("fast_relaymp_st")
    choice = Choice(slowest=3)
    found, chosen = exported(analysis, tmp_path, choice), Chosen(analysis, choice)
    assert {one.notes["message_id"] for one in found.of("message")} == set(chosen.messages.tolist())
    assert {one.correlation - 1 for one in found.of("chain")} == set(chosen.instances.tolist())
    begun = sorted(flow for one in found.slices for flow in one.flows)
    ended = sorted(flow for one in found.slices for flow in one.ended)
    assert begun == ended == [row + 1 for row in chosen.messages.tolist()]
    assert 0 < len(found.of("callback")) < len(analysis.rows("callback_instances"))


def test_the_same_analysis_gives_the_same_bytes(analysis_of: AnalysisOf, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(Chosen(analysis_of("throws_rclpy")), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


TIMES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), max_size=25)


@given(TIMES, st.booleans())
def test_any_slices_nest_and_keep_their_times(spans: list[tuple[int, int]], nested: bool) -> None:
    file = BytesIO()
    packets = PacketWriter(file, 1)
    slices = [Slice(at + 1, at + 1 + length, f"{at}", "any") for at, length in spans]

    def track(at: int) -> int:
        return packets.track(protos.TrackDescriptor(name=f"{at}", description="A track."))

    Lanes(packets, track, nested=nested).write(
        sorted(slices, key=lambda one: (one.begin_ns, -one.end_ns))
    )
    found = decode(file.getvalue()).slices
    assert Counter((one.begin, one.end, one.name) for one in found) == Counter(
        (one.begin_ns, one.end_ns, one.name) for one in slices
    )
    if not nested:
        assert all(one.depth == 0 for one in found)


@given(TIMES)
def test_the_load_counts_what_is_covered_twice_once(spans: list[tuple[int, int]]) -> None:
    unit = WINDOW_NS // 10
    begin = np.array([at * unit for at, _ in spans] or [0], np.int64)
    end = np.array([(at + length) * unit for at, length in spans] or [0], np.int64)
    edges = np.arange(5) * WINDOW_NS
    covered = {step for at, length in spans for step in range(at, at + length)}
    expected = [sum(step // 10 == window for step in covered) * 10 for window in range(5)]
    assert busy_shares(begin, end, edges).tolist() == pytest.approx(expected)


def test_ids_that_another_host_uses_are_replaced(analysis_of: AnalysisOf) -> None:
    file = BytesIO()
    processes = ProcessTracks(analysis_of("throws_rclpy"), Tracks(PacketWriter(file, 1)))
    keys = [("a", 7, 7), ("a", 7, 8), ("b", 7, 7), ("b", 7, 8), ("b", 8, 8)]
    tracks = [processes.thread(key) for key in keys]
    found = decode(file.getvalue()).tracks
    threads = [(found[one].thread.pid, found[one].thread.tid) for one in tracks]
    assert threads[:2] == [(7, 7), (7, 8)]
    assert len({tid for _, tid in threads}) == len(keys)
    pids = [pid for pid, _ in threads]
    assert pids[2] == pids[3] == threads[2][1]
    assert len({*pids}) == 3
    assert [processes.thread(key) for key in keys] == tracks


def test_a_layer_that_ends_before_it_begins_is_cut() -> None:
    pieces = [
        Piece(0, 3, TRANSPORT, 100, 60),
        Piece(0, 3, CALLBACK, 60, 130),
    ]
    transport, callback = layer_slices(pieces, (100, 130))
    assert (transport.begin_ns, transport.end_ns) == (100, 100)
    assert transport.details.notes["duration_ns"] == -40
    assert (callback.begin_ns, callback.end_ns) == (100, 130)
    assert callback.details.notes["duration_ns"] == 70


def test_nothing_is_drawn_where_nothing_is_chosen(analysis_of: AnalysisOf, tmp_path: Path) -> None:
    analysis = analysis_of("fast_lifecycle")
    after = analysis.trace.end_ns + 1
    choice = Choice(begin_ns=after, end_ns=after + 1)
    write(Chosen(analysis, choice), tmp_path / "none.pftrace")
    assert decode((tmp_path / "none.pftrace").read_bytes()).slices == []
