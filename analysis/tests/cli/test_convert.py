# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata convert`: nothing is lost, overwritten or left behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from strata_command import strata

from strata.errors import OutputError
from strata.export import parquet
from strata.export.parquet import write_parquet
from strata.read import Trace, open_trace
from strata.read.decoder import Selection

Sample = Callable[[str], Path]


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
    assert f"Cannot write {directory}/tables: it already contains an export" in again.stderr
    assert (directory / "tables/tables.json").stat().st_mtime_ns == before
    assert strata("convert", directory, "--force").returncode == 0
    assert (directory / "tables/tables.json").stat().st_mtime_ns > before
    # Tables in a session are no stream of its trace.
    assert sum(map(len, open_trace(directory).tables().values())) == 7820


def test_a_directory_of_the_users_is_never_replaced(sample: Sample, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/data").write_text("precious")
    with pytest.raises(OutputError, match="contains files that strata did not write"):
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


def test_a_table_that_was_written_waits_for_nothing(tmp_path: Path) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1, 2, 3])], ["x"])
    table = parquet._open("made:event", batch.schema, tmp_path, {})
    table.add(batch)
    table.add(batch)
    assert (table.waiting_rows, table.waiting_bytes) == (6, 2 * batch.nbytes)
    table.flush()
    assert (table.waiting_rows, table.waiting_bytes, table.rows) == (0, 0, 6)
    table.flush()
    table.close()
    assert pq.ParquetFile(table.path).num_row_groups == 1
    assert pq.read_table(table.path)["x"].to_pylist() == [1, 2, 3, 1, 2, 3]


def test_bytes_of_written_tables_do_not_make_the_others_be_written(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = open_trace(sample("fast_throws"))
    chunks = [{"a": [_numbers(1000)], "b": [_numbers(1)]} for _ in range(20)]
    monkeypatch.setattr(trace, "chunks", lambda _: iter(chunks))
    monkeypatch.setattr(parquet, "_GROUP_ROWS", 1000)
    # More than one chunk, less than two.
    monkeypatch.setattr(parquet, "_WAITING_BYTES", 12_000)
    write_parquet(trace, tmp_path / "out")
    assert pq.ParquetFile(tmp_path / "out/a.parquet").num_row_groups == 20
    assert pq.ParquetFile(tmp_path / "out/b.parquet").num_row_groups == 1


def _numbers(count: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(range(count), pa.int64())], ["x"])


def test_a_projection_decodes_only_what_is_wanted(sample: Sample) -> None:
    trace: Trace = open_trace(sample("fast_throws"))
    whole = trace.tables()["ros2:rmw_take"]
    wanted = frozenset({"source_timestamp", "vtid", "absent"})
    reading = trace.decoder.read(Selection(frozenset({"ros2:rmw_take"}), wanted), 1 << 18)
    ((event, schema),) = reading.tables
    assert event == "ros2:rmw_take"
    assert set(schema.names) == {"timestamp", "host", "vtid", "source_timestamp"}
    part = trace.tables(["ros2:rmw_take"], wanted)
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
