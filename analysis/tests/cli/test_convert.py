# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata convert` and `strata info`: nothing is lost, overwritten or left behind."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from strata.errors import OutputError
from strata.export.parquet import write_parquet
from strata.read import Trace, open_trace
from strata.read.decoder import Selection

Sample = Callable[[str], Path]


def strata(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "strata", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_files_hold_the_tables(sample: Sample, tmp_path: Path) -> None:
    directory = sample("fast_relaymp_st")
    run = strata("convert", directory, "-o", tmp_path / "out")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(f"Wrote {tmp_path}/out (109,286 events in ")
    contents = json.loads((tmp_path / "out/tables.json").read_text())
    tables = open_trace(directory).tables()
    assert set(contents["tables"]) == set(tables)
    for event, table in tables.items():
        entry = contents["tables"][event]
        assert entry["rows"] == len(table)
        assert pq.read_table(tmp_path / "out" / entry["file"]).to_pylist() == table.to_pylist()
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


def test_small_chunks_give_the_same_rows(sample: Sample) -> None:
    trace = open_trace(sample("fast_throws"))
    whole = trace.tables()
    parts: dict[str, list[dict[str, object]]] = {}
    sizes = []
    for chunk in trace.chunks(Selection(), chunk_rows=100):
        sizes.append(sum(len(batch) for batches in chunk.values() for batch in batches))
        for event, batches in chunk.items():
            for batch in batches:
                parts.setdefault(event, []).extend(batch.to_pylist())
    assert max(sizes) == 100
    assert parts == {event: table.to_pylist() for event, table in whole.items()}


def test_a_session_gets_its_tables_and_keeps_them(own_sample: Sample) -> None:
    directory = own_sample("fast_throws")
    (directory / "manifest.json").write_text("{}")
    assert strata("convert", directory).returncode == 0
    before = (directory / "tables/tables.json").stat().st_mtime_ns
    again = strata("convert", directory)
    assert again.returncode == 1
    assert f"Cannot write {directory}/tables: it holds tables already" in again.stderr
    assert (directory / "tables/tables.json").stat().st_mtime_ns == before
    assert strata("convert", directory, "--force").returncode == 0
    assert (directory / "tables/tables.json").stat().st_mtime_ns > before
    # Tables in a session are no stream of its trace.
    assert sum(map(len, open_trace(directory).tables().values())) == 7820


def test_a_directory_of_the_users_is_never_replaced(sample: Sample, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/data").write_text("precious")
    with pytest.raises(OutputError, match="holds files that strata convert did not write"):
        write_parquet(open_trace(sample("fast_throws")), tmp_path / "mine", force=True)
    assert (tmp_path / "mine/data").read_text() == "precious"


def test_only_the_wanted_events_are_written(sample: Sample, tmp_path: Path) -> None:
    run = strata(
        "convert", sample("fast_throws"), "-o", tmp_path / "out", "--event", "ros2:rmw_take"
    )
    assert run.returncode == 0, run.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "ros2.rmw_take.parquet",
        "tables.json",
    }


def test_loss_is_told(sample: Sample, tmp_path: Path) -> None:
    run = strata("convert", sample("fast_relay1p_mt_lossy"), "-o", tmp_path / "out")
    assert run.returncode == 0
    assert "25,631 events were discarded" in run.stderr
    losses = json.loads((tmp_path / "out/tables.json").read_text())["losses"]
    assert {loss["code"] for loss in losses} == {"discarded_events"}
    assert sum(loss["count"] for loss in losses) == 25631
    for loss in losses:
        assert Path(loss["where"]).is_file()
        assert loss["begin_ns"] is None or loss["begin_ns"] <= loss["end_ns"]


def test_a_failure_leaves_nothing(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = open_trace(sample("fast_throws"))

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", fail)
    with pytest.raises(OutputError, match="No space left"):
        write_parquet(trace, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_info_counts_what_the_tables_hold(sample: Sample) -> None:
    directory = sample("fast_relaymp_st")
    run = strata("info", directory, "--format", "json")
    assert run.returncode == 0, run.stderr
    document = json.loads(run.stdout)
    tables = open_trace(directory).tables()
    assert document["event_counts"] == {name: len(table) for name, table in tables.items()}
    assert document["events"] == sum(map(len, tables.values())) == 109286
    assert document["begin_ns"] == min(table["timestamp"][0].as_py() for table in tables.values())
    assert sum(process["events"] for process in document["processes"]) == 109286
    assert len({process["vpid"] for process in document["processes"]}) == 5
    (trace,) = document["traces"]
    assert (trace["domain"], trace["buffering"], trace["ctf"]) == ("ust", "uid", "1.8")
    assert trace["bytes"] == sum(
        path.stat().st_size for path in directory.rglob("ros2_?") if path.is_file()
    )


def test_info_fits_80_columns(sample: Sample) -> None:
    run = strata("info", sample("fast_relay1p_mt_lossy"))
    assert run.returncode == 0, run.stderr
    assert max(map(len, run.stdout.splitlines())) <= 80
    assert "25,631 events were discarded" in " ".join(run.stdout.split())


def test_a_projection_decodes_only_what_is_wanted(sample: Sample) -> None:
    trace: Trace = open_trace(sample("fast_throws"))
    whole = trace.tables()["ros2:rmw_take"]
    part = trace.tables(["ros2:rmw_take"], ["source_timestamp", "vtid", "absent"])
    assert list(part) == ["ros2:rmw_take"]
    assert part["ros2:rmw_take"].equals(whole.select(["vtid", "source_timestamp"]))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.999])
def test_a_time_range_is_half_open(sample: Sample, share: float) -> None:
    trace = open_trace(sample("fast_relay1p_st"))
    whole = trace.tables()["ros2:rmw_take"]
    times = whole["timestamp"].to_pylist()
    begin, end = times[int(share * len(times))], times[-1]
    part = trace.tables(["ros2:rmw_take"], begin_ns=begin, end_ns=end)["ros2:rmw_take"]
    expected = [row for row in whole.to_pylist() if begin <= row["timestamp"] < end]
    assert part.to_pylist() == expected
