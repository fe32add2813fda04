# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What another session recorded of entities that were there before the trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from engine.test_statedumps import SETTLED_NS, last_init_ns, messages, names_of_entities, since

from strata.engine._model import Engine
from strata.engine.identities import Given, read_settled
from strata.engine.tables import EngineTables
from strata.engine.windows import NO_LOSSES
from strata.errors import TraceError
from strata.model.build import Model
from strata.model.of_tables import model_of_tables
from strata.read import open_trace
from strata.read.announced import ANNOUNCED, ANNOUNCEMENTS, announced_text, read_announced

Tables = dict[str, pa.Table]
SAMPLE = "fast_relay1p_st_ipc"


@pytest.fixture
def tables(sample: Callable[[str], Path]) -> Tables:
    return dict(open_trace(sample(SAMPLE)).tables())


@pytest.fixture
def session(tmp_path: Path) -> Path:
    (tmp_path / "manifest.json").write_text("{}")
    return tmp_path


def inits(tables: Tables) -> Tables:
    return {name: table for name, table in tables.items() if name in ANNOUNCEMENTS}


def model(tables: Tables, announced: Tables) -> Model:
    def batches(of: Tables) -> list[tuple[str, pa.RecordBatch]]:
        return [(name, one) for name, table in of.items() for one in table.to_batches()]

    def fill(engine: Engine) -> None:
        engine.announce(batches(announced))
        engine.feed(batches(tables))

    return Model(EngineTables(read_settled(fill, Given(NO_LOSSES, {}))))


def test_a_trace_without_its_begin_has_the_names_that_were_announced(tables: Tables) -> None:
    since_ns = last_init_ns(tables) + 1
    late = since(tables, since_ns)
    whole, found = model_of_tables(tables), model(late, inits(tables))
    assert names_of_entities(found) == names_of_entities(whole)
    known = messages(whole, since_ns + SETTLED_NS)
    assert known
    assert messages(found, since_ns + SETTLED_NS) == known
    assert "unknown" in str(messages(model_of_tables(late), since_ns + SETTLED_NS))
    # They are no events of the trace.
    counts = found.rows.engine.counts
    assert not [name for name in inits(tables) if counts.get(name)]


def test_what_both_sessions_recorded_is_there_once(tables: Tables) -> None:
    """Two sessions record one event within a millisecond."""
    other = {
        name: table.set_column(
            0, table.schema.field("timestamp"), pc.add(table["timestamp"], 400_000)
        )
        for name, table in inits(tables).items()
    }
    assert table_names(other) == {"timestamp"}
    whole, found = model_of_tables(tables), model(tables, other)
    assert names_of_entities(found) == names_of_entities(whole)


def table_names(tables: Tables) -> set[str]:
    return {table.schema.names[0] for table in tables.values()}


def test_the_file_gives_back_what_it_was_made_of(tables: Tables, session: Path) -> None:
    wanted = {name: table for name, table in inits(tables).items() if len(table)}
    (session / ANNOUNCED).write_text(announced_text(wanted))
    for path in (session, session / "trace"):
        path.mkdir(exist_ok=True)
        found = read_announced(path)
        assert found.keys() == wanted.keys()
        for name, table in wanted.items():
            for column in table.column_names:
                assert found[name][column].to_pylist() == table[column].to_pylist()


def test_a_recording_that_keeps_none_has_none(session: Path, tmp_path: Path) -> None:
    assert read_announced(session) == {}
    assert read_announced(tmp_path / "nowhere") == {}


ODD = {
    "no JSON": "{",
    "a list": "[]",
    "another format": json.dumps({"format": "x", "events": {}}),
    "no events": json.dumps({"format": "strata announcements"}),
    "events in a list": json.dumps({"format": "strata announcements", "events": [1]}),
    "columns that are none": json.dumps(
        {"format": "strata announcements", "events": {"ros2:rcl_init": 7}}
    ),
    "columns of several lengths": json.dumps(
        {
            "format": "strata announcements",
            "events": {"ros2:rcl_init": {"timestamp": [1, 2], "vpid": [1]}},
        }
    ),
    "bytes that are none": json.dumps(
        {
            "format": "strata announcements",
            "events": {"ros2:rmw_publisher_init": {"timestamp": [1], "gid": ["xy"]}},
        }
    ),
    "text for a number": json.dumps(
        {
            "format": "strata announcements",
            "events": {"ros2:rcl_init": {"timestamp": ["now"], "vpid": [1]}},
        }
    ),
}


@pytest.mark.parametrize("content", ODD.values(), ids=ODD)
def test_a_file_of_another_form_is_refused(session: Path, content: str) -> None:
    (session / ANNOUNCED).write_text(content)
    with pytest.raises(TraceError, match=r"Cannot read .*announced\.json: not in the form"):
        read_announced(session)
