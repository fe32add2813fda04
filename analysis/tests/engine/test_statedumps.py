# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What processes announce again when a session starts: traces that begin late, and other sessions.

Recordings from the start are cut: what was announced before the cut is announced again after it,
as processes do in a session that starts late.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from strata.engine._model import Engine
from strata.engine.identities import Given, read_settled
from strata.engine.tables import EngineTables
from strata.engine.windows import NO_LOSSES
from strata.layers.endpoint_names import endpoint_names
from strata.layers.transfers import cut_layers
from strata.model.build import Model
from strata.model.entities import take
from strata.model.of_tables import model_of_tables
from strata.model.of_trace import model_of_trace
from strata.read import open_trace
from strata.read.columns import declared_schema
from strata.schema.event import Phase
from strata.schema.events import CATALOGUE

Tables = dict[str, pa.Table]
MS = 1_000_000
BEGIN, END = "ros2_statedump:dump_begin", "ros2_statedump:dump_end"
SETTLED_NS = 300 * MS
LISTENER = 1_000_000
"""What the id of a process's tracing thread is greater by than that of the process."""
INITS = [
    name
    for name, event in CATALOGUE.items()
    if event.phase is Phase.INIT and event.provider in ("ros2", "dds")
]
SAMPLES = (
    "fast_relay1p_st",
    "fast_relay1p_st_ipc",
    "fast_relaymp_st",
    "fast_svc",
    "fast_fusion",
    "intra_jazzy",
    "actions_jazzy",
    "services_kilted",
    "dds_jazzy_udp_resends",
)


def dump(tables: Tables, until_ns: int, at_ns: int) -> Tables:
    """Return the events of dumps at a time: all that was announced until then, by each process."""
    rows: list[tuple[int, int, str, dict[str, Any]]] = []
    for name in INITS:
        rows.extend(
            (row["vpid"], row["timestamp"], name, row)
            for row in tables.get(name, pa.table({})).to_pylist()
            if row["timestamp"] < until_ns
        )
    rows.sort(key=lambda one: one[:2])
    found: dict[str, list[dict[str, Any]]] = {}
    for vpid in sorted({one[0] for one in rows}):
        own = [(name, row) for pid, _, name, row in rows if pid == vpid]
        place = {"host": own[0][1]["host"], "vpid": vpid, "vtid": vpid + LISTENER}
        brackets = (BEGIN, {"announcements": len(own), "forgotten": 0}), (END, {})
        for step, (name, row) in enumerate([brackets[0], *own, brackets[1]]):
            now = row | place | {"timestamp": at_ns + step}
            found.setdefault(name, []).append(now)
    return {name: _table(name, own, tables) for name, own in found.items()}


def _table(name: str, rows: list[dict[str, Any]], tables: Tables) -> pa.Table:
    schema = tables[name].schema if name in tables else declared_schema(name, {})
    plain = pa.schema(
        [
            pa.field(item.name, item.type.value_type) if pa.types.is_dictionary(item.type) else item
            for item in schema
        ]
    )
    return pa.Table.from_pylist(rows, schema=plain).cast(schema)


def merged(*parts: Tables) -> Tables:
    names = list(dict.fromkeys(name for part in parts for name in part))
    return {
        name: pa.concat_tables([part[name] for part in parts if name in part]).unify_dictionaries()
        for name in names
    }


def since(tables: Tables, ns: int) -> Tables:
    return {
        name: table.filter(pc.greater_equal(table["timestamp"], ns))
        for name, table in tables.items()
    }


def last_init_ns(tables: Tables) -> int:
    return max(
        pc.max(tables[name]["timestamp"]).as_py() for name in INITS if len(tables.get(name, ()))
    )


def messages(model: Model, since_ns: int) -> list[tuple[Any, ...]]:
    """What is known of each message that was handed over after a time."""
    transfers, _ = cut_layers(model)
    names = endpoint_names(model, transfers)
    callback = model.executions.callback[transfers.execution]
    symbols = model.entities.callbacks.symbol[callback]
    return [
        (
            *(words[names.hop[row]] for words in (names.topic, names.publisher_node)),
            names.subscription_node[names.hop[row]],
            symbols[row] if transfers.execution[row] >= 0 else None,
            int(transfers.latency_ns[row]),
            {name: int(values[row]) for name, values in transfers.durations.items()},
        )
        for row in range(len(transfers))
        if transfers.publish_ns[row] >= since_ns
    ]


def names_of_entities(model: Model) -> list[list[Any]]:
    of = model.entities
    columns = [of.nodes.name, of.callbacks.symbol, of.callbacks.kind, of.callbacks.trigger]
    columns += [of.publishers.topic, of.subscriptions.topic, of.timers.period_ns]
    owned = (of.publishers, of.subscriptions, of.timers, of.callbacks)
    columns += [take(of.nodes.name, one.node, None) for one in owned]
    return [sorted(column.tolist(), key=str) for column in columns]


def was_there(model: Model) -> int:
    """How many nodes were there before the trace."""
    nodes = model.entities.nodes
    return int(model.was_there(nodes, np.arange(len(nodes.begin_ns))).sum())


def without(tables: Tables, *names: str) -> Tables:
    return {name: table for name, table in tables.items() if name not in names}


@pytest.fixture
def tables(request: pytest.FixtureRequest, sample: Callable[[str], Path]) -> Tables:
    return dict(open_trace(sample(request.param)).tables())


def cut(tables: Tables) -> tuple[Tables, int]:
    """Return a trace that begins late, and since when it has all that whole one has."""
    since_ns = last_init_ns(tables) + 1
    return merged(since(tables, since_ns), dump(tables, since_ns, since_ns + 2 * MS)), since_ns


@pytest.mark.parametrize("tables", SAMPLES, indirect=True)
def test_a_trace_that_begins_late_has_all_names(tables: Tables) -> None:
    late_tables, since_ns = cut(tables)
    whole, late = model_of_tables(tables), model_of_tables(late_tables)
    assert names_of_entities(late) == names_of_entities(whole)
    known = messages(whole, since_ns + SETTLED_NS)
    assert messages(late, since_ns + SETTLED_NS) == known


@pytest.mark.parametrize("tables", SAMPLES[:3], indirect=True)
def test_what_comes_before_the_dump_has_its_names(tables: Tables) -> None:
    since_ns = last_init_ns(tables) + 1
    late = merged(since(tables, since_ns), dump(tables, since_ns, since_ns + 2000 * MS))
    whole = messages(model_of_tables(tables), since_ns + SETTLED_NS)
    assert whole
    assert messages(model_of_tables(late), since_ns + SETTLED_NS) == whole
    assert messages(model_of_tables(late, chunk_rows=701), since_ns + SETTLED_NS) == whole


@pytest.mark.parametrize("tables", SAMPLES, indirect=True)
def test_the_dump_for_another_session_changes_nothing(tables: Tables) -> None:
    began_ns = last_init_ns(tables) + 1
    asked = dump(tables, began_ns, began_ns + 30 * MS)
    plain, given = model_of_tables(tables), model_of_tables(merged(tables, asked))
    assert names_of_entities(given) == names_of_entities(plain)
    assert messages(given, 0) == messages(plain, 0)
    assert not was_there(given)
    uses = Counter({use[:3]: use[3] for use in given.rows.engine.event_uses})
    again = uses - Counter({use[:3]: use[3] for use in plain.rows.engine.event_uses})
    assert {event: count for (event, _, _), count in again.items()} == {
        name: len(table) for name, table in asked.items() if name.startswith("ros2:")
    }
    assert {used for _, used, _ in again} == {False}
    counts = given.rows.engine.counts
    for name, table in asked.items():
        assert counts[name] == plain.rows.engine.counts.get(name, 0) + len(table)


@pytest.mark.parametrize("tables", SAMPLES[:1], indirect=True)
def test_a_dump_long_after_the_beginning_adds_what_was_lost(tables: Tables) -> None:
    since_ns = last_init_ns(tables) + 1
    half_ns, later_ns = since_ns + 300 * MS, 11_000 * MS
    early = {
        name: table.filter(pc.less(table["timestamp"], half_ns))
        for name, table in since(tables, since_ns).items()
    }
    moved = {
        name: table.set_column(
            table.schema.get_field_index("timestamp"),
            table.schema.field("timestamp"),
            pc.add(table["timestamp"], later_ns),
        )
        for name, table in since(tables, half_ns).items()
    }
    again = dump(tables, since_ns, half_ns + later_ns - MS)
    late = model_of_tables(merged(early, again, moved))
    topics = {one[0] for one in messages(late, half_ns + later_ns)}
    assert topics == {one[0] for one in messages(model_of_tables(tables), half_ns)}
    # Nobody knows that it was there before.
    assert {one[0] for one in messages(late, 0)} - topics == {"(unknown)"}


@pytest.mark.parametrize("tables", SAMPLES[:2], indirect=True)
def test_a_dump_is_known_by_its_thread_where_its_begin_was_lost(tables: Tables) -> None:
    began_ns = last_init_ns(tables) + 1
    asked = dump(tables, began_ns, began_ns + 30 * MS)
    first = dump(tables, began_ns, began_ns + 10 * MS)
    again = without(asked, BEGIN, END)
    plain, given = model_of_tables(tables), model_of_tables(merged(tables, first, again))
    assert names_of_entities(given) == names_of_entities(plain)
    assert messages(given, 0) == messages(plain, 0)


@pytest.mark.parametrize("tables", SAMPLES[:1], indirect=True)
def test_hosts_begin_at_their_own_time(tables: Tables) -> None:
    late_tables, since_ns = cut(tables)
    other = {
        name: table.slice(0, 1)
        .set_column(
            table.schema.get_field_index("timestamp"),
            table.schema.field("timestamp"),
            pa.array([since_ns - 11_000 * MS]),
        )
        .set_column(
            table.schema.get_field_index("host"),
            table.schema.field("host"),
            pa.array(["other"]).cast(table.schema.field("host").type),
        )
        for name, table in tables.items()
        if name == "ros2:callback_end"
    }
    late = model_of_tables(merged(late_tables, other))
    whole = model_of_tables(tables)
    assert messages(late, since_ns + SETTLED_NS) == messages(whole, since_ns + SETTLED_NS)
    assert was_there(late) == len(whole.entities.nodes.begin_ns)


@pytest.mark.parametrize("tables", SAMPLES[:1], indirect=True)
def test_of_an_address_that_was_another_entitys_the_last_one_counts(tables: Tables) -> None:
    """A callback had been a timer's; it is a subscription's since."""
    added = tables["ros2:rclcpp_subscription_callback_added"].to_pylist()
    stale = tables["ros2:rclcpp_timer_callback_added"].slice(0, 1).to_pylist()[0] | {
        "vpid": added[0]["vpid"],
        "vtid": added[0]["vtid"],
        "callback": added[0]["callback"],
        "timestamp": added[0]["timestamp"] - 1,
    }
    name = "ros2:rclcpp_timer_callback_added"
    whole_tables = merged(tables, {name: _table(name, [stale], tables)})
    late_tables, since_ns = cut(whole_tables)
    whole, late = model_of_tables(whole_tables), model_of_tables(late_tables)
    assert names_of_entities(late) == names_of_entities(whole)
    assert messages(late, since_ns + SETTLED_NS) == messages(whole, since_ns + SETTLED_NS)


@pytest.mark.parametrize("tables", SAMPLES[:1], indirect=True)
def test_what_a_process_has_forgotten_is_said(tables: Tables) -> None:
    late_tables, _ = cut(tables)
    begins = late_tables[BEGIN].to_pylist()
    told = [row | {"forgotten": 7} for row in begins]
    late = model_of_tables(late_tables | {BEGIN: _table(BEGIN, told, late_tables)})
    found = {one[0]: one[3] for one in late.rows.engine.findings}
    assert found["forgotten_announcements"] == 7 * len(begins)
    plain = {one[0] for one in model_of_tables(late_tables).rows.engine.findings}
    assert "forgotten_announcements" not in plain


@pytest.mark.parametrize("tables", ["fast_relaymp_st"], indirect=True)
def test_counts_of_processes_end_at_the_largest_number(tables: Tables) -> None:
    late_tables, _ = cut(tables)
    most = 2**63 - 1
    told = [row | {"forgotten": most - 1} for row in late_tables[BEGIN].to_pylist()]
    assert len(told) > 1
    late = model_of_tables(late_tables | {BEGIN: _table(BEGIN, told, late_tables)})
    found = {one[0]: one[3] for one in late.rows.engine.findings}
    assert found["forgotten_announcements"] == most


@pytest.mark.parametrize("tables", ["fast_relaymp_st"], indirect=True)
def test_what_was_recorded_of_some_processes_only_is_left_out(tables: Tables) -> None:
    """LTTng begins, and ends, to record one process after the other."""
    since_ns = last_init_ns(tables) + 1
    last_ns = max(pc.max(table["timestamp"]).as_py() for table in tables.values() if len(table))
    vpids = sorted(set(tables["ros2:rmw_publish"]["vpid"].to_pylist()))
    bounds = since_ns + 700 * MS, last_ns - 700 * MS
    ragged = {}
    for name, table in since(tables, since_ns).items():
        order = pc.index_in(table["vpid"], pa.array(vpids, table["vpid"].type))
        late_ns = pc.add(pc.multiply(order, 150 * MS), since_ns)
        early_ns = pc.subtract(last_ns, pc.multiply(order, 150 * MS))
        kept = pc.and_(
            pc.greater_equal(table["timestamp"], late_ns),
            pc.less_equal(table["timestamp"], early_ns),
        )
        ragged[name] = table.filter(kept)
    ragged = merged(ragged, dump(tables, since_ns, since_ns + 650 * MS))
    batches = [(name, one) for name, table in ragged.items() for one in table.to_batches()]

    def fill(engine: Engine) -> None:
        engine.feed(batches, looks_back=True, latest_by=1000 * MS)

    def model(within: tuple[int, int] | None) -> Model:
        given = Given(NO_LOSSES, {}, bounds=within)
        return Model(EngineTables(read_settled(fill, given)))

    cut_off, found = model(None), model(bounds)
    # Without it messages seem to have been published by nobody.
    assert found.matches.unmatched_take_count <= 4 < cut_off.matches.unmatched_take_count
    counts = {one[0]: one[3] for one in found.rows.engine.findings}
    assert counts["not_all_recorded"] > 100
    inside = messages(model_of_tables(tables), bounds[0])[: len(messages(found, 0))]
    assert len(inside) > 100
    assert messages(found, bounds[0]) == inside
    assert found.rows.engine.span[0] >= bounds[0]
    assert found.rows.engine.span[1] <= bounds[1]


def test_a_recorded_trace_that_begins_late(sample: Callable[[str], Path]) -> None:
    model = model_of_trace(open_trace(sample("attached_jazzy")), None, None)
    assert was_there(model) == len(model.entities.nodes.begin_ns) == 3
    known = messages(model, 0)
    assert {one[:3] for one in known} == {
        ("/chain_0", "/source", "/relay_0"),
        ("/chain_1", "/relay_0", "/sink"),
    }
    assert all("unknown" not in str(one[:4]) for one in known)
