# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which messages the options of `strata export` choose, compared with the whole tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata import Analysis, analyze
from strata.export.chosen import Choice, Chosen

Sample = Callable[[str], Path]


@pytest.fixture(scope="module")
def analysis(sample: Sample) -> Analysis:
    return analyze(sample("fast_relaymp_st"))


def test_without_a_choice_everything_is_there(analysis: Analysis) -> None:
    chosen = Chosen(analysis)
    for name in ("messages", "chain_instances", "chain_segments", "hops", "callbacks"):
        assert len(chosen.rows(name)) == len(analysis.rows(name))
    assert len(chosen.messages) == len(analysis.rows("messages"))
    assert chosen.intervals.tolist() == [[analysis.trace.begin_ns, analysis.trace.end_ns + 1]]


def test_the_slowest_are_those_of_their_chain(analysis: Analysis) -> None:
    chosen = Chosen(analysis, Choice(slowest=3))
    frame = analysis.chain_instances
    expected = frame.sort_values(
        ["chain_id", "latency_ns", "chain_instance_id"], ascending=[True, False, True]
    ).groupby("chain_id")
    ids = sorted(expected.head(3)["chain_instance_id"])
    assert chosen.rows("chain_instances")["chain_instance_id"].tolist() == ids
    segments = analysis.chain_segments
    own = segments[segments["chain_instance_id"].isin(ids)]
    assert sorted(own["message_id"].unique()) == chosen.messages.tolist()
    assert len(chosen.rows("chain_segments")) == len(own)
    for row in frame[frame["chain_instance_id"].isin(ids)].itertuples():
        inside = (chosen.intervals[:, 0] <= row.begin_ns) & (row.end_ns < chosen.intervals[:, 1])
        assert inside.sum() == 1


def test_a_stretch_of_time_has_what_was_published_in_it(analysis: Analysis) -> None:
    publish = analysis.rows("messages")["publish_ns"]
    begin, end = (int(one) for one in np.quantile(publish, [0.25, 0.5]))
    chosen = Chosen(analysis, Choice(begin_ns=begin, end_ns=end))
    own = analysis.messages[(publish >= begin) & (publish < end)]
    assert 0 < len(own) < len(publish)
    assert chosen.rows("messages")["message_id"].tolist() == own["message_id"].tolist()
    instances = chosen.rows("chain_instances")
    assert ((instances["begin_ns"] >= begin) & (instances["begin_ns"] < end)).all()


def test_a_chain_has_its_own_messages_alone(analysis: Analysis) -> None:
    chosen = Chosen(analysis, Choice(chains=(0,)))
    assert set(chosen.rows("chain_instances")["chain_id"]) == {0}
    segments = analysis.chain_segments
    of_chain = segments.loc[segments["chain_id"] == 0, "message_id"].unique()
    assert chosen.messages.tolist() == sorted(of_chain)


def test_a_time_without_messages_is_empty(analysis: Analysis) -> None:
    after = analysis.trace.end_ns + 10
    chosen = Chosen(analysis, Choice(begin_ns=after, end_ns=after + 1, slowest=2))
    assert not len(chosen.messages)
    assert chosen.intervals.shape == (0, 2)
    assert not chosen.overlapping(np.array([0, after]), np.array([5, after + 1])).any()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**10), st.integers(-1, 10**9)), max_size=20))
def test_what_overlaps_is_found_like_one_by_one(
    analysis: Analysis, spans: list[tuple[int, int]]
) -> None:
    chosen = Chosen(analysis, Choice(slowest=4))
    zero = analysis.trace.begin_ns
    begin = np.array([zero + at for at, _ in spans], np.int64)
    end = np.array([-1 if for_ < 0 else zero + at + for_ for at, for_ in spans], np.int64)
    found = chosen.overlapping(begin, end).tolist()
    intervals = chosen.intervals.tolist()
    for at, until, overlaps in zip(begin.tolist(), end.tolist(), found, strict=True):
        last = analysis.trace.end_ns if until < 0 else until
        assert overlaps == any(b <= last and at < e for b, e in intervals)


CHOICES = {
    "a chain": lambda trace: Choice(chains=(0,)),
    "the slowest": lambda trace: Choice(slowest=3),
    "a time": lambda trace: Choice(
        begin_ns=trace.begin_ns + (trace.end_ns - trace.begin_ns) // 3,
        end_ns=trace.begin_ns + (trace.end_ns - trace.begin_ns) // 2,
    ),
}
SINGLE = {"publications": "publication_id", "takes": "take_id", "callback_instances": "instance_id"}


@pytest.mark.parametrize("what", CHOICES)
@pytest.mark.parametrize("name", ["fast_blocked_st", "actions_jazzy", "cell_lidar"])
def test_what_belongs_to_chosen_messages_is_chosen_with_them(
    sample: Sample, name: str, what: str
) -> None:
    analysis = analyze(sample(name))
    chosen = Chosen(analysis, CHOICES[what](analysis.trace))
    frames = {table: chosen.rows(table).frame() for table in (*SINGLE, "messages")}
    messages = frames["messages"]
    for table, key in SINGLE.items():
        whole = analysis.rows(table)
        assert len(frames[table]) < len(whole) or name != "fast_blocked_st"
        assert set(frames[table][key]) <= set(whole[key].tolist())
    assert set(messages["publication_id"]) <= set(frames["publications"]["publication_id"])
    assert set(messages["take_id"]) <= set(frames["takes"]["take_id"])
    executions = set(frames["callback_instances"]["instance_id"])
    if what != "a time":
        # Nothing else is there: not a publication, take or execution of another message.
        assert set(messages["publication_id"]) == set(frames["publications"]["publication_id"])
        assert set(messages["take_id"]) == set(frames["takes"]["take_id"])
        started = frames["takes"]["instance_id"].dropna()
        published = frames["publications"]["instance_id"].dropna()
        assert executions == {*started, *published}
        assert set(chosen.rows("timer_fires").frame()["instance_id"]) <= executions
    else:
        times = chosen.intervals[0]
        publications = frames["publications"]
        begin = publications["client_ns"].fillna(publications["rmw_publish_ns"])
        assert begin.between(*times, inclusive="left").all()
        every = analysis.publications
        every = every[
            every["client_ns"].fillna(every["rmw_publish_ns"]).between(*times, inclusive="left")
        ]
        assert set(every["publication_id"]) == set(publications["publication_id"])


def test_calls_and_goals_are_those_of_the_time(sample: Sample) -> None:
    analysis = analyze(sample("actions_jazzy"))
    goals = np.sort(analysis.rows("action_goals")["begin_ns"])
    begin = int(goals[len(goals) // 2])
    chosen = Chosen(analysis, Choice(begin_ns=begin))
    for table in ("service_calls", "action_goals"):
        whole = analysis.rows(table)["begin_ns"]
        found = chosen.rows(table)["begin_ns"]
        assert sorted(found) == sorted(whole[whole >= begin])
        assert 0 < len(found) < len(whole)
