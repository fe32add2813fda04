# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is written for Trace Compass: the trace by babeltrace2, the XML analyses by its rules."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import bt2
import numpy as np
import pytest
from xml_machine import Happened, Machine, Segment, pattern_of

from strata import analyze
from strata.analysis import Analysis
from strata.errors import OutputError
from strata.export.chosen import Choice, Chosen
from strata.export.trace_compass import TRACE, write, xml_files
from strata.export.trace_compass.rows import CLASSES, chain_names, hop_name, lanes
from strata.read import open_trace
from strata.read.discover import find_traces
from strata.schema.events import CATALOGUE
from strata.schema.layers import BY_NAME, HOP_LAYERS
from strata.schema.rows import NONE

AnalysisOf = Callable[[str], Analysis]
Sample = Callable[[str], Path]
Row = dict[str, Any]
NAMES = ("fast_fusion", "cell_lidar", "throws_rclpy", "intra_jazzy")
LAYERS = "recording_layers.xml"
FILES = {path.name: path for path in xml_files()}


@pytest.fixture(scope="module")
def written(
    analysis_of: AnalysisOf, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """Export a sample once; the directory."""
    place = tmp_path_factory.mktemp("exports")

    def export(name: str) -> Path:
        if not (place / name).exists():
            write(Chosen(analysis_of(name)), place / name)
        return place / name

    return export


def read(*places: Path) -> Iterator[tuple[str, int, Row]]:
    """Yield the events of traces, merged by babeltrace2: name, ns since the epoch and fields."""
    for message in bt2.TraceCollectionMessageIterator([str(place) for place in places]):
        if type(message) is bt2._EventMessageConst:
            fields = message.event.payload_field
            row = {name: _plain(fields[name]) for name in fields}
            yield message.event.name, message.default_clock_snapshot.ns_from_origin, row


def _plain(one: Any) -> Any:
    return str(one) if isinstance(one, bt2._StringFieldConst) else one


@cache
def rows_of(place: Path) -> dict[str, list[Row]]:
    out: dict[str, list[Row]] = defaultdict(list)
    last = 0
    for name, time, row in read(place / TRACE):
        assert last <= time
        last = time
        out[name].append({"begin_ns": time} | row)
    return out


@pytest.mark.parametrize("name", NAMES)
def test_messages_and_their_layers_are_those_of_the_table(
    analysis_of: AnalysisOf, written: Callable[[str], Path], name: str
) -> None:
    rows, messages = rows_of(written(name)), analysis_of(name).rows("messages")
    found = {row["message_id"]: row for row in rows["strata:message"]}
    assert len(found) == len(rows["strata:message"]) == len(messages)
    layers: dict[int, dict[str, int]] = defaultdict(dict)
    for row in rows["strata:layer"]:
        assert row["layer"] not in layers[row["message_id"]]
        layers[row["message_id"]][row["layer"]] = row["duration_ns"]
        assert row["end_ns"] == row["begin_ns"] + max(row["duration_ns"], 0)
    pieces: dict[int, Counter[str]] = defaultdict(Counter)
    for row in rows["strata:piece"]:
        pieces[row["message_id"]][row["layer"]] += row["duration_ns"]
    for want in messages.records():
        row = found[want["message_id"]]
        assert row["begin_ns"] == want["begin_ns"]
        assert row["duration_ns"] == want["latency_ns"]
        hop = want["topic"], want["publisher_node"], want["subscription_node"]
        assert (row["topic"], row["publisher"], row["subscription"]) == hop
        assert row["name"] == hop_name(*hop)
        own = {one.name: want[one.column] for one in HOP_LAYERS if want[one.column] is not None}
        assert layers[row["message_id"]] == own
        assert pieces[row["message_id"]] == {of: ns for of, ns in own.items() if ns}


@pytest.mark.parametrize("name", NAMES)
def test_chains_and_their_layers_are_those_of_the_tables(
    analysis_of: AnalysisOf, written: Callable[[str], Path], name: str
) -> None:
    rows, analysis = rows_of(written(name)), analysis_of(name)
    instances, segments = analysis.rows("chain_instances"), analysis.rows("chain_segments")
    names = chain_names(analysis.rows("chains"))
    assert len(set(names)) == len(names)
    found = {row["chain_instance_id"]: row for row in rows["strata:chain"]}
    assert len(found) == len(rows["strata:chain"]) == len(instances)
    for want in instances.records():
        row = found[want["chain_instance_id"]]
        assert (row["begin_ns"], row["duration_ns"]) == (want["begin_ns"], want["latency_ns"])
        assert row["name"] == names[want["chain_id"]]
    key = ("chain_instance_id", "chain_id", "position", "hop", "message_id", "layer", "duration_ns")
    expected = sorted(tuple(row[one] for one in key) for row in segments.records())
    assert sorted(tuple(row[one] for one in key) for row in rows["strata:chain_layer"]) == expected
    drawn: Counter[tuple[int, int, str]] = Counter()
    for row in rows["strata:chain_piece"]:
        drawn[row["chain_instance_id"], row["hop"], row["layer"]] += row["duration_ns"]
    assert drawn == {(own[0], own[3], own[5]): own[6] for own in expected if own[6]}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_drawn_on_one_row_does_not_overlap(
    written: Callable[[str], Path], name: str
) -> None:
    rows = rows_of(written(name))
    for event, key in (
        ("strata:message", ("hop_id", "lane")),
        ("strata:piece", ("hop_id", "lane")),
        ("strata:chain", ("chain_id", "lane")),
        ("strata:chain_piece", ("chain_id", "lane")),
    ):
        until: dict[tuple[int, ...], int] = {}
        for row in rows[event]:
            of = tuple(int(row[one]) for one in key)
            assert until.get(of, 0) <= row["begin_ns"], event
            until[of] = row["end_ns"]


@pytest.mark.parametrize("name", NAMES)
def test_the_trace_lies_in_one_experiment_with_the_recording(
    sample: Sample, written: Callable[[str], Path], name: str
) -> None:
    recording = sorted(path.parent for path in sample(name).rglob("metadata"))
    both = Counter(event for event, _, _ in read(*recording, written(name) / TRACE))
    own = Counter(event for event, _, _ in read(written(name) / TRACE))
    assert own == {event: both[event] for event in own}
    assert sum(both.values()) == sum(own.values()) + sum(1 for _ in read(*recording))
    (trace,), unreadable = find_traces(written(name) / TRACE)
    (other, *_), _ = find_traces(sample(name))
    assert not unreadable
    assert (trace.clock, trace.clock_offset_ns) == (other.clock, other.clock_offset_ns)
    assert trace.hostname == other.hostname


def test_stratas_own_decoder_reads_what_babeltrace2_reads(written: Callable[[str], Path]) -> None:
    place = written("cell_lidar") / TRACE
    rows = rows_of(place.parent)
    for event, table in open_trace(place).tables().items():
        found = table.to_pylist()
        assert len(found) == len(rows[event])
        for name in CLASSES[_stream(event)].fields:
            # A context of an event has the plain name.
            column = f"_{name}" if name in ("vpid", "vtid") else name
            assert Counter(row[column] for row in found) == Counter(
                row[name] for row in rows[event]
            )


def _stream(event: str) -> str:
    return next(name for name, one in CLASSES.items() if one.name == event)


def test_a_recording_beside_an_export_is_read_alone(own_sample: Sample) -> None:
    directory = own_sample("cell_lidar")
    before, _ = find_traces(directory)
    write(Chosen(analyze(directory)), directory / "trace-compass")
    after, unreadable = find_traces(directory)
    assert [one.directory for one in after] == [one.directory for one in before]
    assert not unreadable


def test_only_what_was_chosen_is_written(analysis_of: AnalysisOf, tmp_path: Path) -> None:
    analysis = analysis_of("fast_relaymp_st")
    chosen = Chosen(analysis, Choice(slowest=2))
    result = write(chosen, tmp_path / "out")
    rows = rows_of(tmp_path / "out")
    ids = {row["chain_instance_id"] for row in rows["strata:chain"]}
    assert ids == set(chosen.instances.tolist())
    assert {row["message_id"] for row in rows["strata:message"]} == set(chosen.messages.tolist())
    assert result.counts["events"] == sum(map(len, rows.values()))
    assert result.size == sum(
        path.stat().st_size for path in (tmp_path / "out").rglob("*") if path.is_file()
    )


def test_lanes_are_as_few_as_overlap() -> None:
    group = np.array([0, 0, 0, 0, 1])
    begin, length = np.array([0, 5, 10, 12, 5]), np.array([10, 10, 1, 3, 1])
    assert lanes(group, begin, length).tolist() == [0, 1, 0, 0, 0]


def test_an_export_with_a_foreign_file_in_its_trace_is_not_replaced(
    analysis_of: AnalysisOf, tmp_path: Path
) -> None:
    out, chosen = tmp_path / "out", Chosen(analysis_of("cell_lidar"))
    write(chosen, out)
    write(chosen, out, force=True)
    (out / TRACE / "mine").write_text("mine")
    with pytest.raises(OutputError, match=r"\(strata/mine\)"):
        write(chosen, out, force=True)
    assert (out / TRACE / "mine").read_text() == "mine"


# The XML analyses.

CONTEXTS = {"context._vpid", "context._vtid", "TIMESTAMP", "hostId"}
FIELDS = {name: {one.name for one in event.fields} for name, event in CATALOGUE.items()} | {
    one.name: set(one.fields) for one in CLASSES.values()
}


def events_of(words: str) -> list[str]:
    """The events that are meant; each alternative must mean at least one."""
    out = []
    for word in words.split("|"):
        pattern = re.compile(re.escape(word).replace(r"\*", ".*"))
        found = [name for name in FIELDS if pattern.fullmatch(name)]
        assert found, word
        out += found
    return out


def fields_of(element: ElementTree.Element, pattern: ElementTree.Element) -> set[str]:
    """Names of the event fields that an element uses, also by the locations that it names."""
    out = set()
    for one in element.iter():
        if one.attrib.get("type") == "eventField":
            out.add(one.attrib["value"])
        if one.tag == "field":
            out.add(one.attrib["name"])
        if one.attrib.get("type") == "location":
            (location,) = (
                each
                for each in pattern.findall("location")
                if each.attrib["id"] == one.attrib["value"]
            )
            out |= fields_of(location, pattern)
    return out


def test_there_is_an_analysis_of_rows_of_layers_and_of_executors() -> None:
    assert set(FILES) == {LAYERS, "recording_executors.xml", "strata_rows.xml"}


@pytest.mark.parametrize("name", FILES)
def test_ids_are_unique_and_what_is_named_is_there(name: str) -> None:
    root = ElementTree.parse(FILES[name]).getroot()
    analyses = [*root.findall("pattern"), *root.findall("stateProvider")]
    ids = [one.attrib["id"] for one in (*analyses, *root.findall("timeGraphView"))]
    assert len(set(ids)) == len(ids)
    for view in root.findall("timeGraphView"):
        assert view.find("head/analysis").attrib["id"] in ids  # type: ignore[union-attr]
    for analysis in analyses:
        assert [one.attrib["id"] for one in analysis.iter("traceType")]
    for pattern in root.findall("pattern"):
        handler = pattern.find("patternHandler")
        assert handler is not None
        known = {tag: [one.attrib["id"] for one in handler.findall(tag)] for tag in _NAMED}
        for own in known.values():
            assert len(set(own)) == len(own)
        used = {"fsm": set(handler.attrib["initial"].split(":")), "test": set(), "action": set()}
        for transition in handler.iter("transition"):
            used["test"] |= set(transition.attrib.get("cond", "").split(":")) - {""}
            used["action"] |= set(transition.attrib["action"].split(":"))
        assert used == {tag: set(own) for tag, own in known.items()}


_NAMED = ("fsm", "test", "action")


@pytest.mark.parametrize("name", FILES)
def test_events_have_the_fields_that_are_used_of_them(name: str) -> None:
    root = ElementTree.parse(FILES[name]).getroot()
    checked = 0
    for pattern in root.findall("pattern"):
        parts = {one.attrib["id"]: one for one in pattern.iter() if one.tag in ("test", "action")}
        for fsm in pattern.iter("fsm"):
            precondition = fsm.find("precondition")
            assert precondition is not None
            allowed = set(events_of(precondition.attrib["event"]))
            for transition in fsm.iter("transition"):
                named = f"{transition.attrib.get('cond', '')}:{transition.attrib['action']}"
                of = (fields_of(parts[one], pattern) for one in named.split(":") if one)
                used = set().union(*of) - CONTEXTS
                for event in events_of(transition.attrib["event"]):
                    assert event in allowed
                    assert used <= FIELDS[event], event
                    checked += 1
    for provider in root.findall("stateProvider"):
        for handler in provider.findall("eventHandler"):
            for event in events_of(handler.attrib["eventName"]):
                assert fields_of(handler, provider) - CONTEXTS <= FIELDS[event], event
                checked += 1
    assert checked


def test_layers_have_the_colours_of_strata() -> None:
    for view in ElementTree.parse(FILES["strata_rows.xml"]).iter("timeGraphView"):
        colours = {one.attrib["value"]: one.attrib["color"] for one in view.findall("definedValue")}
        assert colours == {name: layer.colour for name, layer in BY_NAME.items()}


@pytest.mark.parametrize("name", NAMES)
def test_the_rows_analysis_makes_a_segment_of_each_row(
    written: Callable[[str], Path], name: str
) -> None:
    events = [Happened(*one) for one in _untyped(read(written(name) / TRACE))]
    for pattern, event in (
        ("strata.rows.messages", "strata:message"),
        ("strata.rows.layers", "strata:layer"),
        ("strata.rows.chains", "strata:chain"),
        ("strata.rows.chain_layers", "strata:chain_layer"),
    ):
        found = Machine(pattern_of(FILES["strata_rows.xml"], pattern)).run(events)
        want = [(one.time, one.fields["end_ns"]) for one in events if one.name == event]
        assert [(one.begin, one.end) for one in found] == want


def _untyped(events: Iterator[tuple[str, int, Row]]) -> Iterator[tuple[str, int, Row]]:
    for name, time, row in events:
        yield (
            name,
            time,
            {key: one if isinstance(one, str) else int(one) for key, one in row.items()},
        )


# Messages that the XML leaves out: those within a process, and loaned ones.
RECORDINGS = {
    "dds_kilted_shm": 0,
    "operations_jazzy": 0,
    "operations_udp": 0,
    "dds_jazzy_udp_resends": 0,
    "cell_lidar": 0,
    "throws_rclpy": 0,
    "fast_throws": 0,
    "cyc_iceoryx": 0,
    "intra_jazzy": 119,
    "loans_jazzy": 150,
}


def recorded(place: Path) -> list[Happened]:
    """The events of a recording, with the contexts that the analysis of layers uses."""
    out = []
    for message in bt2.TraceCollectionMessageIterator(str(place)):
        if type(message) is not bt2._EventMessageConst:
            continue
        event = message.event
        fields = {name: _number_or_text(event.payload_field[name]) for name in event.payload_field}
        for name in ("vpid", "vtid"):
            fields[f"context._{name}"] = int(event.common_context_field[name])
        fields["hostId"] = str(message.default_clock_snapshot.clock_class.uuid)
        out.append(Happened(event.name, message.default_clock_snapshot.ns_from_origin, fields))
    return out


def _number_or_text(one: Any) -> Any:
    if isinstance(one, bt2._StringFieldConst):
        return str(one)
    return int(one) if isinstance(one, bt2._IntegerFieldConst) else None


@pytest.mark.parametrize("name", RECORDINGS)
def test_segments_of_a_recording_are_the_layers_of_the_analysis(
    sample: Sample, analysis_of: AnalysisOf, name: str
) -> None:
    events = recorded(sample(name))
    pattern = pattern_of(FILES[LAYERS], "strata.recording.layers")
    segments = Machine(pattern).run(events)
    assert Counter(map(repr, Machine(pattern, backwards=True).run(events))) == Counter(
        map(repr, segments)
    )
    of: dict[tuple[str, int], dict[str, Segment]] = defaultdict(dict)
    for one in segments:
        hop, layer = one.name.rsplit(", ", 1)
        assert layer not in of[hop, one.content["source_timestamp"]]
        of[hop, one.content["source_timestamp"]][layer] = one
    missing = 0
    takes = analysis_of(name).rows("takes")["source_timestamp"]
    messages = list(analysis_of(name).rows("messages").records())
    for want in messages:
        hop = hop_name(want["topic"], want["publisher_node"], want["subscription_node"])
        own = of.pop((hop, int(takes[want["take_id"]])), None)
        if own is None:
            missing += 1
        else:
            assert_equal(own, want)
    assert not of
    assert missing == RECORDINGS[name] < len(messages)


def assert_equal(own: dict[str, Segment], want: Row) -> None:
    """Compare the segments of a message with its layers: those of one name, and all in all."""
    ns = {one.name: want[one.column] for one in HOP_LAYERS if want[one.column] is not None}
    callbacks = {"client take", "callback"}
    for layer, segment in own.items():
        parts = layer.split(" + ")
        if layer in ns and not (layer == "take" and "executor wait + take" in ns):
            assert segment.end - segment.begin == ns[layer], layer
        elif parts == ["wake-up", "executor wait"]:
            assert segment.end - segment.begin == sum(ns.get(one, 0) for one in parts)
    assert callbacks & own.keys() == callbacks & ns.keys()
    begin = min(one.begin for one in own.values())
    assert begin == want["publish_ns"]
    assert max(one.end for one in own.values()) == max(
        want[one] or 0 for one in ("rmw_take_ns", "callback_start_ns", "callback_end_ns")
    )
    # Without a gap and without an overlap.
    ordered = sorted(own.values(), key=lambda one: (one.begin, one.end))
    for before, after in pairwise(ordered):
        assert before.end == after.begin
    assert NONE not in ns.values()
