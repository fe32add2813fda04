# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The frames of tracetools_analysis: its names and columns, with the values of the events."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from strata import Analysis, TraceError, analyze
from strata.export.tracetools_analysis import NAMES, data_model, frames, read
from strata.read import open_trace

Sample = Callable[[str], Path]

# As `Ros2DataModel._finalize` of tracetools_analysis 3.1 makes them: index, then columns.
COLUMNS = {
    "contexts": "context_handle: timestamp pid version",
    "nodes": "node_handle: timestamp tid rmw_handle name namespace",
    "rmw_publishers": "publisher_handle: timestamp gid",
    "rcl_publishers": "publisher_handle: timestamp node_handle rmw_handle topic_name depth",
    "rmw_subscriptions": "subscription_handle: timestamp gid",
    "rcl_subscriptions": "subscription_handle: timestamp node_handle rmw_handle topic_name depth",
    "subscription_objects": "subscription: timestamp subscription_handle",
    "services": "service_handle: timestamp node_handle rmw_handle service_name",
    "clients": "client_handle: timestamp node_handle rmw_handle service_name",
    "timers": "timer_handle: timestamp period tid",
    "timer_node_links": "timer_handle: timestamp node_handle",
    "callback_objects": "reference: timestamp callback_object",
    "callback_symbols": "callback_object: timestamp symbol",
    "lifecycle_state_machines": "state_machine_handle: node_handle",
    "rclcpp_publish_instances": ": timestamp message",
    "rcl_publish_instances": ": publisher_handle timestamp message",
    "rmw_publish_instances": ": timestamp message",
    "rmw_take_instances": ": subscription_handle timestamp message source_timestamp taken",
    "rcl_take_instances": ": timestamp message",
    "rclcpp_take_instances": ": timestamp message",
    "callback_instances": ": callback_object timestamp duration intra_process",
    "lifecycle_transitions": ": state_machine_handle start_label goal_label timestamp",
}

# The fields of an event that its handler reads, in the order of the frame's index and columns.
FIELDS = {
    "contexts": "rcl_init: context_handle timestamp vpid version",
    "nodes": "rcl_node_init: node_handle timestamp vtid rmw_handle node_name namespace",
    "rmw_publishers": "rmw_publisher_init: rmw_publisher_handle timestamp gid",
    "rcl_publishers": "rcl_publisher_init: publisher_handle timestamp node_handle "
    "rmw_publisher_handle topic_name queue_depth",
    "rmw_subscriptions": "rmw_subscription_init: rmw_subscription_handle timestamp gid",
    "rcl_subscriptions": "rcl_subscription_init: subscription_handle timestamp node_handle "
    "rmw_subscription_handle topic_name queue_depth",
    "subscription_objects": "rclcpp_subscription_init: subscription timestamp subscription_handle",
    "services": "rcl_service_init: service_handle timestamp node_handle rmw_service_handle "
    "service_name",
    "clients": "rcl_client_init: client_handle timestamp node_handle rmw_client_handle "
    "service_name",
    "timers": "rcl_timer_init: timer_handle timestamp period vtid",
    "timer_node_links": "rclcpp_timer_link_node: timer_handle timestamp node_handle",
    "callback_symbols": "rclcpp_callback_register: callback timestamp symbol",
    "lifecycle_state_machines": "rcl_lifecycle_state_machine_init: state_machine node_handle",
    "rclcpp_publish_instances": "rclcpp_publish: timestamp message",
    "rcl_publish_instances": "rcl_publish: publisher_handle timestamp message",
    "rmw_publish_instances": "rmw_publish: timestamp message",
    "rmw_take_instances": "rmw_take: rmw_subscription_handle timestamp message source_timestamp "
    "taken",
    "rcl_take_instances": "rcl_take: timestamp message",
    "rclcpp_take_instances": "rclcpp_take: timestamp message",
    "lifecycle_transitions": "rcl_lifecycle_transition: state_machine start_label goal_label "
    "timestamp",
}
SAMPLES = ["fast_lifecycle", "fast_svc", "fast_relaymp_st"]


def _events(path: Path, *names: str) -> list[dict[str, Any]]:
    """Return events by time, each with its name."""
    tables = open_trace(path).tables([f"ros2:{name}" for name in names])
    found = [
        {**row, "event": event.removeprefix("ros2:")}
        for event, table in tables.items()
        for row in table.to_pylist()
    ]
    return sorted(found, key=lambda row: row["timestamp"])


def _rows(frame: pd.DataFrame) -> list[list[Any]]:
    whole = frame if frame.index.name is None else frame.reset_index()
    return whole.astype(object).to_numpy().tolist()


@pytest.mark.parametrize("name", SAMPLES)
def test_names_indexes_and_columns_are_those_of_its_data_model(sample: Sample, name: str) -> None:
    found = frames(analyze(sample(name)))
    assert set(found) == set(NAMES) == set(COLUMNS)
    for key, frame in found.items():
        index, columns = COLUMNS[key].split(":")
        assert frame.index.name == (index or None), key
        assert list(frame.columns) == columns.split(), key
        if not index:
            assert frame.index.tolist() == list(range(len(frame))), key


@pytest.mark.parametrize("name", SAMPLES)
def test_values_are_those_of_the_events(sample: Sample, name: str) -> None:
    found = frames(analyze(sample(name)))
    for key, text in FIELDS.items():
        event, fields = text.split(":")
        rows = _events(sample(name), event)
        expected = [[row[field] for field in fields.split()] for row in rows]
        for row in expected:
            row[:] = [list(value) if isinstance(value, bytes) else value for value in row]
            if key == "rmw_take_instances":
                row[-1] = bool(row[-1])
        assert _rows(found[key]) == expected, key
    assert sum(map(len, found.values())) > 300


@pytest.mark.parametrize("name", SAMPLES)
def test_callbacks_have_the_references_of_subscriptions_services_and_timers(
    sample: Sample, name: str
) -> None:
    of = {
        "rclcpp_subscription_callback_added": "subscription",
        "rclcpp_service_callback_added": "service_handle",
        "rclcpp_timer_callback_added": "timer_handle",
    }
    expected = [
        [row[of[row["event"]]], row["timestamp"], row["callback"]]
        for row in _events(sample(name), *of)
    ]
    analysis = analyze(sample(name))
    assert _rows(frames(analysis)["callback_objects"]) == expected
    model = data_model(analysis)
    owners = {*model.subscription_objects.index, *model.services.index, *model.timers.index}
    # The state machine of a lifecycle node creates its five services in place and moves them.
    moved = 5 * len(model.lifecycle_state_machines)
    assert len(set(model.callback_objects.index) - owners) == moved


@pytest.mark.parametrize("name", [*SAMPLES, "fast_relay1p_mt"])
def test_executions_are_the_pairs_of_start_and_end(sample: Sample, name: str) -> None:
    started: dict[tuple[int, int, int], dict[str, Any]] = {}
    expected = []
    for row in _events(sample(name), "callback_start", "callback_end"):
        key = (row["vpid"], row["vtid"], row["callback"])
        if row["event"] == "callback_start":
            started[key] = row
        elif key in started:
            start = started.pop(key)
            expected.append(
                [
                    row["callback"],
                    pd.Timestamp(start["timestamp"]),
                    pd.Timedelta(row["timestamp"] - start["timestamp"]),
                    bool(start["is_intra_process"]),
                ]
            )
    found = frames(analyze(sample(name)))["callback_instances"]
    assert found.dtypes["timestamp"] == "datetime64[ns]"
    assert found.dtypes["duration"] == "timedelta64[ns]"
    assert _rows(found) == expected
    assert expected


def test_what_was_written_is_read_back(sample: Sample, tmp_path: Path) -> None:
    analysis = analyze(sample("fast_lifecycle"))
    written = analysis.export("tracetools-analysis", tmp_path / "out")
    found, expected = read(tmp_path / "out"), frames(analysis)
    for name in NAMES:
        frame = getattr(found, name)
        if "gid" in frame:
            frame["gid"] = frame["gid"].map(list)
        pd.testing.assert_frame_equal(frame, expected[name])
        plain = pd.read_parquet(tmp_path / "out" / f"{name}.parquet")
        assert plain.index.name == expected[name].index.name
    assert written.counts == {"rows": sum(map(len, expected.values())), "tables": len(NAMES)}


def _chosen(analysis: Analysis, target: Path, **choice: Any) -> Any:
    analysis.export("tracetools-analysis", target, **choice)
    return read(target)


def test_the_slowest_have_their_own_publishes_takes_and_executions(
    sample: Sample, tmp_path: Path
) -> None:
    analysis = analyze(sample("fast_relaymp_st"))
    whole = data_model(analysis)
    model = _chosen(analysis, tmp_path / "out", chain=0, slowest=3)
    slowest = analysis.chain_instances.query("chain_id == 0").nlargest(3, "latency_ns")
    segments = analysis.chain_segments
    ids = segments.loc[
        segments["chain_instance_id"].isin(slowest["chain_instance_id"]), "message_id"
    ].unique()
    messages = analysis.messages.set_index("message_id").loc[ids]
    assert len(messages) == 3 * analysis.chains["hop_count"][0]
    for layer in ("rclcpp", "rcl", "rmw"):
        assert len(getattr(model, f"{layer}_publish_instances")) == len(messages), layer
        assert len(getattr(model, f"{layer}_take_instances")) == len(messages), layer
    assert set(model.rmw_publish_instances["timestamp"]) == set(messages["rmw_publish_ns"])
    assert set(model.rmw_take_instances["timestamp"]) == set(messages["rmw_take_ns"])
    started = model.callback_instances["timestamp"].astype("int64")
    assert set(messages["callback_start_ns"]) <= set(started)
    # Besides those that took a message, three of the timer that published the first ones.
    assert len(started) == len(messages) + 3
    pd.testing.assert_frame_equal(model.nodes, whole.nodes)


def test_a_stretch_of_time_has_the_events_in_it(sample: Sample, tmp_path: Path) -> None:
    analysis = analyze(sample("fast_relaymp_st"))
    whole = data_model(analysis).rcl_publish_instances
    begin, end = (int(whole["timestamp"].iloc[row]) for row in (1000, 3000))
    model = _chosen(analysis, tmp_path / "out", begin_ns=begin, end_ns=end)
    expected = whole[(whole["timestamp"] >= begin) & (whole["timestamp"] < end)]
    assert len(expected) == 2000
    pd.testing.assert_frame_equal(model.rcl_publish_instances, expected.reset_index(drop=True))


def test_processes_that_the_analysis_leaves_out_have_no_rows(sample: Sample) -> None:
    everything = analyze(sample("fast_relaymp_st"))
    one = int(everything.processes["vpid"][0])
    found = data_model(analyze(sample("fast_relaymp_st"), without=[one]))
    pids = data_model(everything).contexts["pid"].tolist()
    assert found.contexts["pid"].tolist() == [pid for pid in pids if pid != one]
    assert len(found.nodes) == len(pids) - 1


def test_a_trace_that_is_gone_is_named(own_sample: Sample) -> None:
    analysis = analyze(own_sample("fast_lifecycle"))
    shutil.rmtree(analysis.trace.path)
    with pytest.raises(TraceError, match="fast_lifecycle"):
        frames(analysis)


def test_what_is_no_export_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"contexts\.parquet.*Export the trace again"):
        read(tmp_path)
