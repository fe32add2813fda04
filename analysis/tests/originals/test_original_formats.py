# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is read of each format, and that no value becomes what it is not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from original_files import (
    CRYSTAL,
    GSCAM,
    GSCAM_SUMMARY,
    IRON,
    LATENCY_ALL,
    MS,
    NEWER,
    PERFORMANCE_HEADER,
    RESOURCES,
    T0,
    perf_lines,
    performance_log,
    performance_row,
    write,
)

from strata.originals import Imported, read_original


def values(imported: Imported, measure: str, statistic: str = "each", run: int = 0) -> list[float]:
    samples = imported.runs[run].samples
    chosen = samples[(samples["measure"] == measure) & (samples["statistic"] == statistic)]
    return list(chosen["value"])


def codes(imported: Imported) -> dict[str, int]:
    return {finding.code: finding.count for finding in imported.findings}


def test_perf_node_gives_periods_and_latencies_of_all_messages(tmp_path: Path) -> None:
    stamps = [(5 * MS, 0), (106 * MS, 100 * MS), (204 * MS, 200 * MS), (507 * MS, 500 * MS)]
    read = read_original(write(tmp_path / "a.txt", perf_lines(stamps)))
    assert read.form == "perf_node"
    assert values(read, "period") == [101.0, 98.0, 303.0]
    assert values(read, "sent_period") == [100.0, 100.0, 300.0]
    assert values(read, "stamp_latency") == [5.0, 6.0, 4.0, 7.0]
    # Two of the grid's six places had no message.
    assert values(read, "grid_loss", "run") == pytest.approx([100 * 2 / 6])
    samples = read.runs[0].samples
    assert list(samples[samples["measure"] == "period"]["number"]) == [1, 2, 3]
    assert codes(read) == {}


def test_latencies_keep_the_nanosecond(tmp_path: Path) -> None:
    # A float of a time of day has steps of 256 ns.
    read = read_original(write(tmp_path / "a.txt", perf_lines([(1, 0), (100 * MS + 3, 100 * MS)])))
    assert values(read, "stamp_latency") == [1e-6, 3e-6]


def test_a_file_may_have_a_byte_order_mark_and_carriage_returns(tmp_path: Path) -> None:
    stamps = [(5 * MS, 0), (106 * MS, 100 * MS), (204 * MS, 200 * MS)]
    plain = read_original(write(tmp_path / "a.txt", perf_lines(stamps)))
    text = "\ufeff" + perf_lines(stamps).replace("\n", "\r\n")
    other = read_original(write(tmp_path / "b.txt", text))
    pd.testing.assert_frame_equal(plain.runs[0].samples, other.runs[0].samples)


def test_stamps_of_two_clocks_give_periods_but_no_latency(tmp_path: Path) -> None:
    lines = [f"{T0 + i * 100 * MS},{7 * MS + i * 100 * MS}" for i in range(5)]
    text = "\n".join(["recv_stamp,msg_stamp", *lines]) + "\n"
    read = read_original(write(tmp_path / "a.txt", text))
    assert set(read.runs[0].samples["measure"]) == {"period", "sent_period", "grid_loss"}
    assert codes(read) == {"other_clock": 5}


def test_negative_latencies_and_stamps_that_are_not_set_are_counted(tmp_path: Path) -> None:
    text = perf_lines([(5 * MS, 6 * MS), (106 * MS, 100 * MS), (206 * MS, -T0)])
    read = read_original(write(tmp_path / "a.txt", text))
    assert values(read, "stamp_latency") == [-1.0, 6.0]
    assert values(read, "period") == [101.0, 100.0]
    assert values(read, "sent_period") == [94.0]
    assert codes(read) == {"negative_latency": 1, "unset_stamps": 1, "stamps_go_back": 1}


@pytest.mark.parametrize(
    ("columns", "end"), [(NEWER, ""), (CRYSTAL, ","), (IRON, "")], ids=["newer", "crystal", "iron"]
)
def test_performance_test_of_every_version_has_the_same_figures(
    tmp_path: Path, columns: tuple[str, ...], end: str
) -> None:
    rows = [performance_row(columns, second) for second in (1, 2, 3)]
    read = read_original(write(tmp_path / "a.log", performance_log(columns, rows, end=end)))
    assert read.form == "performance_test"
    assert values(read, "latency", "interval_min") == [0.1] * 3
    assert values(read, "latency", "interval_max") == [0.9] * 3
    assert values(read, "latency", "interval_mean") == [0.25] * 3
    # 4e-05 "ms" are 4e-8 s^2: a deviation of 0.2 ms.
    assert values(read, "latency", "interval_std") == pytest.approx([0.2] * 3)
    assert values(read, "latency") == []
    assert values(read, "throughput", "interval") == pytest.approx([0.2048] * 3)
    assert values(read, "rate", "interval") == [200.0] * 3
    assert values(read, "loss", "run") == [0.0]
    # 0.75 s of CPU each second; cpu_usage is of all CPUs and another measure.
    assert values(read, "cpu", "run") == pytest.approx([75.0])
    of_machine = values(read, "cpu_of_machine", "interval")
    assert of_machine == ([9.5] * 3 if "cpu_usage (%)" in columns else [])
    assert values(read, "rss", "interval_max") == [21.0, 22.0, 23.0]
    assert read.says["Publishing rate"] == "100"
    facts = read.runs[0].facts
    assert {name: facts[name] for name in ("middleware", "rate", "size", "depth")} == {
        "middleware": "rmw_cyclonedds_cpp",
        "rate": 100,
        "size": 1024,
        "depth": 16,
    }


def test_loss_is_of_what_was_sent_to_the_subscribers(tmp_path: Path) -> None:
    # A process that only receives has sent 0: the log's own relative_loss is inf.
    rows = [
        performance_row(NEWER, 1, received=150, sent=0, lost=50, relative_loss="inf"),
        performance_row(NEWER, 2, received=200, sent=0, relative_loss="-nan"),
    ]
    read = read_original(write(tmp_path / "a.log", performance_log(NEWER, rows)))
    assert values(read, "loss", "run") == pytest.approx([12.5])
    assert values(read, "sent_rate", "interval") == []


def test_an_interval_without_a_message_has_no_latency(tmp_path: Path) -> None:
    nothing = {
        "latency_min__(ms)": "inf",
        "latency_max__(ms)": "-inf",
        "latency_mean__(ms)": "-nan",
        "latency_variance__(ms)": "-nan",
    }
    rows = [
        performance_row(NEWER, 1, received=0, data_received=0, **nothing),
        performance_row(NEWER, 2),
    ]
    read = read_original(write(tmp_path / "a.log", performance_log(NEWER, rows)))
    samples = read.runs[0].samples
    latency = samples[samples["measure"] == "latency"]
    assert list(latency["number"]) == [1] * 4
    assert list(latency["count"]) == [200] * 4
    assert codes(read) == {"empty_intervals": 1}
    assert values(read, "rate", "interval") == [0.0, 200.0]


def test_a_latency_that_is_not_finite_is_left_out_and_counted(tmp_path: Path) -> None:
    rows = [performance_row(NEWER, 1), performance_row(NEWER, 2, **{"latency_mean__(ms)": "nan"})]
    read = read_original(write(tmp_path / "a.log", performance_log(NEWER, rows)))
    assert values(read, "latency", "interval_mean") == [0.25]
    assert values(read, "latency", "interval_max") == [0.9, 0.9]
    assert codes(read) == {"latency_not_finite": 1}


def test_a_round_trip_is_no_latency(tmp_path: Path) -> None:
    header = [*PERFORMANCE_HEADER[:-1], "Roundtrip Mode: MAIN"]
    log = performance_log(NEWER, [performance_row(NEWER, 1)], header)
    read = read_original(write(tmp_path / "a.log", log))
    assert values(read, "round_trip", "interval_mean") == [0.25]
    assert values(read, "latency", "interval_mean") == []


def test_what_older_versions_say_at_the_end_is_no_row(tmp_path: Path) -> None:
    log = performance_log(CRYSTAL, [performance_row(CRYSTAL, 1)], end=",")
    log += "Maximum runtime reached. Exiting.\n"
    read = read_original(write(tmp_path / "a.log", log))
    assert values(read, "rate", "interval") == [200.0]


def test_performance_test_json_has_the_same_values_in_other_units(tmp_path: Path) -> None:
    row = {
        "experiment_start": 1_000_000_000,
        "num_samples_received": 200,
        "num_samples_sent": 100,
        "num_samples_lost": 0,
        "total_data_received": 204800,
        "latency_min": 1e-4,
        "latency_max": 9e-4,
        "latency_mean": 2.5e-4,
        "latency_variance": 4e-8,
        "sys_tracker_ru_maxrss": 20480,
        "cpu_info_cpu_cores": 8,
        "cpu_info_cpu_usage": 9.5,
    }
    document = {
        "rmw_implementation": "rmw_fastrtps_cpp",
        "rate": 100,
        "msg_name": "Array1m",
        "roundtrip_mode": "NONE",
        "analysis_results": [row],
    }
    read = read_original(write(tmp_path / "a.json", json.dumps(document)))
    assert read.form == "performance_test_json"
    for statistic, value in {"min": 0.1, "max": 0.9, "mean": 0.25, "std": 0.2}.items():
        assert values(read, "latency", f"interval_{statistic}") == pytest.approx([value])
    assert values(read, "cpu", "interval") == pytest.approx([76.0])
    assert values(read, "rss", "interval_max") == [20.0]
    assert read.runs[0].facts["size"] == 1 << 20


def test_gscam_stress_has_a_shortfall_and_no_loss(tmp_path: Path) -> None:
    read = read_original(write(tmp_path / "a.csv", GSCAM))
    assert read.form == "gscam_stress"
    assert "loss" not in set(read.runs[0].samples["measure"])
    assert values(read, "shortfall", "interval") == [30.0, -8.33, 100.0]
    # The third second had no image: its zeros are no latencies.
    assert values(read, "latency", "interval_min") == [23.47, 23.355]
    assert values(read, "latency", "interval_max") == [65.059, 31.536]
    assert values(read, "throughput", "interval") == pytest.approx([1045.0944, 1617.408, 0.0])
    assert codes(read) == {"negative_shortfall": 1, "empty_intervals": 1}
    assert read.runs[0].facts["size"] == 3840 * 2160 * 3


def test_the_summary_of_gscam_stress_has_no_maximum(tmp_path: Path) -> None:
    read = read_original(write(tmp_path / "summary.csv", GSCAM_SUMMARY))
    assert read.form == "gscam_stress_summary"
    assert [run.facts["rmw"] for run in read.runs] == ["cyclonedds", "zenoh"]
    assert values(read, "latency", "max_of_interval_min", 1) == [26.197]
    assert values(read, "latency", "run_max", 1) == []
    assert values(read, "shortfall", "interval_worst", 1) == [43.33]
    # 1423.8 "MB/s" are MiB/s.
    assert values(read, "asked_throughput", "run", 1) == pytest.approx([1492.992])
    assert codes(read) == {"max_below_mean": 1}


def test_a_summary_of_another_encoding_says_so(tmp_path: Path) -> None:
    text = GSCAM_SUMMARY.replace("1423.8", "474.6")
    read = read_original(write(tmp_path / "summary.csv", text))
    assert codes(read)["other_data_rate"] == 1


def test_ros2_performance_by_blanks_and_by_commas(tmp_path: Path) -> None:
    blanks = read_original(write(tmp_path / "latency_all.txt", LATENCY_ALL))
    commas = "\n".join(",".join(line.split()) for line in LATENCY_ALL.splitlines()) + "\n"
    other = read_original(write(tmp_path / "b.txt", commas))
    # The publisher's row received nothing.
    assert [run.facts["topic"] for run in blanks.runs] == ["amazon", "arkansas"]
    assert values(blanks, "latency", "run_mean") == [0.602]
    assert values(blanks, "latency", "run_max", 1) == [37.064]
    assert values(blanks, "loss", "run", 1) == [10.0]
    assert values(blanks, "late", "run") == [0.1]
    assert values(blanks, "too_late", "run") == [0.05]
    for mine, theirs in zip(blanks.runs, other.runs, strict=True):
        pd.testing.assert_frame_equal(mine.samples, theirs.samples)
    resources = read_original(write(tmp_path / "resources.txt", RESOURCES))
    assert values(resources, "cpu_of_machine", "interval") == [27.0, 51.0]
    assert values(resources, "rss", "interval") == [24.0, 46.0]


def test_seconds_a_line_are_latencies(tmp_path: Path) -> None:
    read = read_original(write(tmp_path / "t.txt", "0.000193357\n0.000281811\n0.000119209\n"))
    assert read.form == "transport_time"
    assert values(read, "latency") == pytest.approx([0.193357, 0.281811, 0.119209])


def test_every_value_is_finite_and_has_its_unit(tmp_path: Path) -> None:
    texts = {
        "a.txt": perf_lines([(5 * MS, 0), (106 * MS, 100 * MS)]),
        "b.log": performance_log(NEWER, [performance_row(NEWER, 1)]),
        "c.csv": GSCAM,
        "d.csv": GSCAM_SUMMARY,
        "e.txt": LATENCY_ALL,
    }
    for name, text in texts.items():
        for run in read_original(write(tmp_path / name, text)).runs:
            assert np.isfinite(run.samples["value"]).all()
            assert set(run.samples["unit"]) <= {"ms", "%", "Hz", "MB/s", "MiB"}
            assert run.samples["number"].ge(0).all()
