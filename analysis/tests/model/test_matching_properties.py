# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The matcher in random worlds: never a wrong match, and every message is accounted for."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from steady_systems import MISLEADING, SYSTEMS
from worlds import Recording, Row, World, as_humble, record, steady_world, worlds

from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.matching import CONFIDENCES, METHODS

EXAMPLES = settings(max_examples=40)

Found = set[tuple[int | None, int | None, tuple[int, int, int]]]


def place(model: Model, thread: int, ns: int) -> tuple[int, int, int]:
    processes = model.events.processes
    vpid = processes.vpid[processes.thread_process[thread]]
    return int(vpid), int(processes.thread_vtid[thread]), int(ns)


def matched(recording: Recording, model: Model) -> Found:
    """What was matched: the message of the publication, that of the take, and where it was."""
    published = recording.named("ros2:rmw_publish")
    taken = recording.named("ros2:rmw_take")
    publications, takes, matches = model.publications, model.takes, model.matches
    out = set()
    for publication, take in zip(matches.publication, matches.take, strict=True):
        by = place(
            model, publications.thread[publication], publications.rmw_publish_ns[publication]
        )
        at = place(model, takes.thread[take], takes.rmw_take_ns[take])
        out.add((published[by], taken[at], at))
    return out


def wrong(found: Found) -> Found:
    return {row for row in found if row[0] != row[1]}


def assert_all_counted(model: Model) -> None:
    counts, matches = Counter(model.findings.counts), model.matches
    assert len(set(matches.take.tolist())) == len(matches.take)
    assert len(model.takes) == (
        len(matches.take)
        + counts["ambiguous_matches"]
        + counts["unmatched_takes"]
        + counts["out_of_order_matches"]
    )
    assert len(model.takes) == (
        len(matches.take) + matches.ambiguous_count + matches.unmatched_take_count
    )
    assert len(model.publications) == (
        len(set(matches.publication.tolist())) + counts["untaken_publications"]
    )
    inferred = {METHODS.index("timestamp"), METHODS.index("publish time")}
    for method, confidence in zip(matches.method, matches.confidence, strict=True):
        assert CONFIDENCES[confidence] == ("inferred" if method in inferred else "exact")


@EXAMPLES
@given(worlds())
def test_never_a_wrong_match_and_all_is_counted(world: World) -> None:
    recording = record(world)
    model = recording.model()
    found = matched(recording, model)
    assert wrong(found) == set()
    assert_all_counted(model)
    # Nothing is left out but what has a twin: topic and stamp of another message.
    count = Counter(world.stamps().values())
    took = Counter(
        step.message
        for step in world.steps
        if step.kind == "take" and step.message is not None
        if count[step.endpoint.topic, step.stamp] == 1
    )
    assert Counter(take for _, take, _ in found) == took


@EXAMPLES
@given(worlds(collisions=False))
def test_without_losses_and_collisions_every_take_is_matched(world: World) -> None:
    recording = record(world)
    model = recording.model()
    took = [step for step in world.steps if step.kind == "take" and step.message is not None]
    empty = [step for step in world.steps if step.kind == "take" and step.message is None]
    assert len(model.matches.take) == len(model.takes) == len(took)
    assert model.findings.counts.get("empty_takes", 0) == len(empty)
    assert set(model.matches.confidence.tolist()) <= {CONFIDENCES.index("exact")}


def twins(world: World) -> set[int]:
    """Messages whose stamp another message has, too."""
    count = Counter(stamp for _, stamp in world.stamps().values())
    return {message for message, (_, stamp) in world.stamps().items() if count[stamp] > 1}


@EXAMPLES
@given(worlds(), st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(0, 10))
def test_lost_events_make_no_wrong_match(world: World, luck: list[int], lag: int) -> None:
    # A message whose twin was not recorded cannot be told from it: twins stay, or both would.
    kept = twins(world)
    whole = record(world)
    first = min((row["timestamp"] for rows in whole.rows.values() for row in rows), default=0)
    begin = first + lag * 1_000_000

    at = iter(range(1 << 30))

    def lost(event: str, row: Row) -> bool:
        late = "init" in event and row["timestamp"] < begin
        twin = event == "ros2:rmw_publish" and row["truth"] in kept
        return late or ("init" not in event and not twin and luck[next(at) % len(luck)] == 0)

    recording = whole.without(lost)
    model = recording.model()
    assert wrong(matched(recording, model)) == set()
    assert_all_counted(model)


@EXAMPLES
@given(worlds(), st.lists(st.booleans(), min_size=1, max_size=40))
def test_beside_lost_events_no_callback_is_anothers(world: World, luck: list[int]) -> None:
    whole = record(world)
    at = iter(range(1 << 30))
    lost: list[int] = []

    def gone(event: str, row: Row) -> bool:
        if "init" in event or luck[next(at) % len(luck)]:
            return False
        lost.append(row["timestamp"])
        return True

    recording = whole.without(gone)
    model = recording.model((np.asarray(lost, np.int64), np.asarray(lost, np.int64)))
    named = {kind: whole.named(f"ros2:callback_{kind}") for kind in ("start", "end")}
    taken, executions, takes = whole.named("ros2:rmw_take"), model.executions, model.takes
    began = [
        named["start"][place(model, thread, ns)]
        for thread, ns in zip(executions.thread, executions.start_ns, strict=True)
    ]
    for message, thread, end_ns in zip(began, executions.thread, executions.end_ns, strict=True):
        assert end_ns == NONE or named["end"][place(model, thread, end_ns)] == message
    for thread, ns, execution in zip(takes.thread, takes.rmw_take_ns, takes.execution, strict=True):
        assert execution == NONE or began[execution] == taken[place(model, thread, ns)]
    if not lost:
        assert NONE not in takes.execution


@EXAMPLES
@given(worlds(), st.lists(st.integers(0, 9), min_size=1, max_size=9), st.permutations(range(4)))
def test_order_of_rows_and_numbers_of_processes_do_not_matter(
    world: World, order: list[int], numbers: list[int]
) -> None:
    recording = record(world)

    def renumber(event: str, row: Row) -> dict[str, Any]:
        process = row["vpid"] - 100
        thread = row["vtid"] - 1000 * row["vpid"]
        vpid = 100 + numbers[process]
        return row | {"vpid": vpid, "vtid": 1000 * vpid + thread}

    expected = recording.model()
    other = recording.shuffled(order).changed(renumber)
    model = other.model()
    plain = {(*row[:2], row[2][2]) for row in matched(recording, expected)}
    assert {(*row[:2], row[2][2]) for row in matched(other, model)} == plain
    assert model.findings.counts == expected.findings.counts


@EXAMPLES
@given(SYSTEMS)
def test_publications_without_stamps_are_never_matched_wrongly(system: dict[str, Any]) -> None:
    recording = as_humble(record(steady_world(**system)))
    model = recording.model()
    assert wrong(matched(recording, model)) == set()
    assert_all_counted(model)


@EXAMPLES
@given(SYSTEMS, st.integers(0, 10), st.integers(0, 1 << 32))
def test_lost_events_make_no_wrong_inferred_match(
    system: dict[str, Any], lost_percent: int, seed: int
) -> None:
    # Lost at random, as buffers lose: a foe who chooses them can make a wrong offset the steadiest.
    random = Random(seed)
    whole = as_humble(record(steady_world(**system)))
    recording = whole.without(
        lambda event, _: "init" not in event and random.randrange(100) < lost_percent
    )
    model = recording.model()
    assert wrong(matched(recording, model)) == set()
    assert_all_counted(model)


@pytest.mark.parametrize("system", MISLEADING.values(), ids=MISLEADING)
@pytest.mark.parametrize(("seed", "lost_percent"), [(0, 7), (1, 3), (3, 3)])
def test_what_stands_out_by_chance_makes_no_wrong_inferred_match(
    system: dict[str, Any], seed: int, lost_percent: int
) -> None:
    random, whole = Random(seed), as_humble(record(steady_world(**system)))
    recording = whole.without(
        lambda event, _: "init" not in event and random.randrange(100) < lost_percent
    )
    model = recording.model()
    assert wrong(matched(recording, model)) == set()
