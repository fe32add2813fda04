# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Causes over the whole system: what stands out, what does not, and in which order it is said."""

from __future__ import annotations

import pandas as pd
import pytest
from scene import Scene

from strata.model.build import Model
from strata.model.executor_frames import executor_threads_frame, executors_frame
from strata.model.frames import callback_instances_frame
from strata.model.thread_cpu_frames import thread_cpu_frame
from strata.pipeline.messages import Wanted, message_results
from strata.schema import tables as declared
from strata.schema.quality import Ledger
from strata.verdict.groups import group_chains
from strata.verdict.system import judge_system
from strata.verdict.time_parts import finished, time_parts, with_executor

MS = 1_000_000


def tables_of(model: Model) -> dict[str, pd.DataFrame]:
    found = message_results(model, Wanted(), Ledger()).tables
    return {
        **found,
        "callback_instances": callback_instances_frame(model),
        "executors": executors_frame(model),
        "executor_threads": executor_threads_frame(model),
        "thread_cpu": thread_cpu_frame(model),
    }


def system(work_ns: int, period_ns: int, *, other_ns: int = 0, count: int = 50) -> Scene:
    """/source sends each period; /sink's thread has it 100 us later, and works.

    It also works for `other_ns` in a callback of /other, which begins just before each publish.
    """
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.subscription("/t", node="/sink", pid=2, symbol="on_t")
    made.subscription("/u", node="/other", pid=2, symbol="on_u")
    free = 0
    made.play("0 2.2 wait")
    for number in range(1, count + 1):
        sent = number * period_ns
        if sent - 2000 > free and other_ns:
            free = sent - 2000
            made.play(f"{free} 2.2 ready\n{free + 10} 2.2 callback_start on_u")
            free += 20 + other_ns
            made.play(f"{free} 2.2 callback_end on_u\n{free + 10} 2.2 wait")
        ready = max(sent + 100_000, free + 100)
        made.play(
            f"""
            {sent - 1000} 1.1 rcl_publish /t
            {sent} 1.1 rmw_publish /t {sent}
            {ready} 2.2 ready
            {ready + 10} 2.2 execute on_t
            {ready + 20} 2.2 rmw_take on_t {sent}
            {ready + 30} 2.2 callback_start on_t
            {ready + 30 + work_ns} 2.2 callback_end on_t
            {ready + 40 + work_ns} 2.2 wait
            """
        )
        free = ready + 40 + work_ns
    return made


def judged(made: Scene) -> tuple[str, bool, pd.DataFrame]:
    model, _ = made.model()
    verdict, found = judge_system(tables_of(model))
    return verdict.text, verdict.stands_out, found["system_causes"]


def test_parts_of_a_message_add_up_to_its_latency() -> None:
    model, _ = system(10 * MS, 8 * MS, other_ns=3 * MS).model()
    found = tables_of(model)
    messages = finished(with_executor(found["messages"], found["takes"], found["executor_threads"]))
    parts = time_parts(messages, found["executor_blockers"])
    sums = parts.groupby("message_id")["duration_ns"].sum()
    assert (sums == messages.set_index("message_id")["latency_ns"]).all()
    assert set(parts["kind"]) == {"executor", "topic", "hop"}


def test_nothing_stands_out_of_a_system_that_is_well() -> None:
    text, stands_out, causes = judged(system(200_000, 10 * MS))
    assert not stands_out
    assert not causes["stands_out"].any()
    assert text.startswith("Nothing stands out: no executor is full, and nothing has 30 % or more")
    assert "takes longer than a healthy system may need" in text
    assert "The largest part is the callback for /t in /sink: 200 us each, 66 % of the" in text


def test_an_executor_that_is_full_is_said_first_and_with_what_fills_it() -> None:
    # 12 ms of work each 10 ms: the queue grows, and the callback itself has little of it.
    text, stands_out, causes = judged(system(12 * MS, 10 * MS))
    assert stands_out
    assert causes.iloc[0]["kind"] == "executor"
    assert causes.iloc[0]["busy"] > 0.95
    assert text.startswith("The executor of /sink (thread 2) is full: it runs callbacks for 9")
    assert "It is filled by /t in /sink (9" in text


def test_an_executor_that_is_not_full_stands_out_by_what_messages_wait_for_it() -> None:
    text, _, causes = judged(system(200_000, 100 * MS, other_ns=30 * MS))
    first = causes.iloc[0]
    assert (first["kind"], first["layer"]) == ("executor", "executor wait")
    assert first["share"] > 0.95
    assert 0.2 < first["busy"] < 0.4
    assert text.startswith("Messages wait 30.0 ms each for the executor of /other and /sink")
    assert "behind /u in /other (100 %)" in text


def test_a_callback_that_takes_its_time_is_named() -> None:
    text, _, causes = judged(system(20 * MS, 100 * MS))
    assert causes.iloc[0]["kind"] == "hop"
    assert (
        text == "The callback for /t in /sink takes 99 % of the time of all messages: 20.0 ms each."
    )


def cpu_of(made: Scene, cpu_wait_ns: int) -> dict[str, pd.DataFrame]:
    model, _ = made.model()
    row = {
        "host": executor_threads_frame(model)["host"].iloc[0],
        "vpid": 2,
        "vtid": 2,
        "process": "sink",
        "traffic_on_cpu_ns": 100 * MS,
        "traffic_cpu_wait_ns": cpu_wait_ns,
    }
    return {**tables_of(model), "thread_cpu": pd.DataFrame([row])}


def test_a_process_short_of_cpu_comes_after_executors_and_before_the_rest() -> None:
    verdict, found = judge_system(cpu_of(system(20 * MS, 100 * MS), 400 * MS))
    causes = found["system_causes"]
    assert causes["kind"].tolist()[:2] == ["cpu", "hop"]
    assert causes["share"].isna().tolist()[:2] == [True, False]
    assert verdict.text.startswith(
        "Process sink (2) of /sink is short of CPU: in 80 % of the time in which its threads could "
        "run they had none, 8.00 ms for each message that they sent or took. The callback for /t"
    )
    verdict, found = judge_system(cpu_of(system(200_000, 100 * MS, other_ns=30 * MS), 4000 * MS))
    assert found["system_causes"]["kind"].tolist()[:2] == ["executor", "cpu"]
    assert (
        "of their time its threads waited for a CPU. Process sink (2) of /other, /sink"
        in verdict.text
    )


@pytest.mark.parametrize("cpu_wait_ns", [20 * MS, 0])
def test_a_process_that_has_its_cpu_is_not_named(cpu_wait_ns: int) -> None:
    verdict, found = judge_system(cpu_of(system(200_000, 10 * MS), cpu_wait_ns))
    assert not verdict.stands_out
    assert "cpu" not in set(found["system_causes"]["kind"])


def test_a_trace_without_messages_has_no_verdict() -> None:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.play("10 1.1 rcl_publish /t\n20 1.1 rmw_publish /t 20")
    text, stands_out, causes = judged(made)
    assert (text, stands_out, len(causes)) == ("", False, 0)


def chains_of(*ways: str) -> pd.DataFrame:
    """Chains over nodes; topic n of a way is that of its node n. Medians are 1, 2, 3 ... ms."""
    rows = []
    for number, way in enumerate(ways):
        nodes = way.split(" -> ")
        rows.append(
            {
                "chain_id": number,
                "name": " -> ".join(f"{node}/out" for node in nodes[:-1]),
                "nodes": way,
                "hop_count": len(nodes) - 1,
                "count": 10,
                "latency_p50": (number + 1) * 1e6,
                "latency_max": (number + 2) * 1e6,
            }
        )
    return pd.DataFrame(rows, columns=declared.CHAINS.names)


def test_chains_that_differ_by_number_or_namespace_are_one_group() -> None:
    groups, members = group_chains(
        chains_of(
            "/robot_1/camera -> /robot_1/detector -> /fleet",
            "/robot_2/camera -> /robot_2/detector -> /fleet",
            "/robot_12/camera -> /robot_12/detector -> /fleet",
            "/a/relay_0 -> /a/relay_1",
            "/b/relay_0 -> /b/relay_1",
            "/lidar -> /fleet",
        )
    )
    assert members["group_id"].tolist() == [0, 0, 0, 1, 1, 2]
    assert groups["nodes"].tolist() == [
        "/robot_*/camera -> /robot_*/detector -> /fleet",
        "/*/relay_0 -> /*/relay_1",
        "/lidar -> /fleet",
    ]
    assert groups["same"].tolist() == ["shape"] * 3
    assert groups["chains"].tolist() == [3, 2, 1]
    assert groups["chain_id"].tolist() == [2, 4, 5]
    assert groups["p50_low"].tolist() == [1e6, 4e6, 6e6]
    assert groups["p50_high"].tolist() == [3e6, 5e6, 6e6]
    assert groups["max"].tolist() == [4e6, 6e6, 7e6]


def test_many_shapes_between_the_same_ends_are_one_group() -> None:
    between = "abcdefgh"
    ways = [f"/first -> /{name}_node -> /last" for name in between]
    groups, members = group_chains(chains_of(*ways, "/other -> /last"))
    assert members["group_id"].tolist() == [0] * 8 + [1]
    assert groups["nodes"].tolist() == ["/first -> ... -> /last", "/other -> /last"]
    assert groups["same"].tolist() == ["ends", "shape"]
    few, _ = group_chains(chains_of(*ways[:6]))
    assert len(few) == 6


def test_no_chain_is_no_group() -> None:
    groups, members = group_chains(declared.CHAINS.empty())
    assert len(groups) == len(members) == 0
