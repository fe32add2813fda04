# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Causes over the whole system: what stands out, what does not, and in which order it is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from kernel_scene import kernel_tables
from message_results import message_results
from scene import BASE, Scene
from table_rows import frame_of, rows_of
from thread_samples import samples

from strata.model.build import Model
from strata.model.executor_frames import executor_threads_rows, executors_rows
from strata.model.frames import callback_instances_rows
from strata.model.of_tables import model_of_tables
from strata.model.thread_cpu_frames import thread_cpu_rows
from strata.pipeline.messages import Wanted
from strata.read.thread_cpu import read_thread_cpu
from strata.schema import tables as declared
from strata.schema.rows import Rows
from strata.verdict.groups import group_chains
from strata.verdict.system import JUDGED, judge_system
from strata.verdict.threads import executors_of
from strata.verdict.time_parts import finished, time_parts

MS = 1_000_000


def tables_of(model: Model) -> dict[str, Rows]:
    found = message_results(model, Wanted())
    own = {
        "callback_instances": callback_instances_rows(model),
        "executors": executors_rows(model),
        "executor_threads": executor_threads_rows(model),
        "thread_cpu": thread_cpu_rows(model),
    }
    return {
        table.name: own[table.name] if table.name in own else found.rows(table.name)
        for table in JUDGED
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
    model = made.model()
    verdict, found = judge_system(tables_of(model))
    return verdict.text, verdict.stands_out, frame_of(found["system_causes"])


def test_parts_of_a_message_add_up_to_its_latency() -> None:
    model = system(10 * MS, 8 * MS, other_ns=3 * MS).model()
    found = tables_of(model)
    messages, chosen = found["messages"], finished(found["messages"])
    executor = executors_of(messages, found["takes"], found["executor_threads"])
    parts = list(time_parts(messages, chosen, executor, found["executor_blockers"]))
    sums = np.zeros(len(messages), np.int64)
    for part in parts:
        sums[part.message] += part.duration_ns
    assert chosen.any()
    assert sums[chosen].tolist() == messages["latency_ns"][chosen].tolist()
    assert {part.kind for part in parts} == {"executor", "topic", "hop"}


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
    assert text.startswith("The executor of /sink (thread 2) is full: it runs callbacks for 100 %")
    assert "It is filled by /t in /sink (100 %)" in text


def test_an_executor_that_is_not_full_stands_out_by_what_messages_wait_for_it() -> None:
    text, _, causes = judged(system(200_000, 100 * MS, other_ns=30 * MS))
    first = causes.iloc[0]
    assert (first["kind"], first["layer"]) == ("executor", "executor wait")
    assert first["share"] > 0.95
    assert 0.2 < first["busy"] < 0.4
    assert text.startswith("Messages wait 30.0 ms each for the executor of /other and /sink")
    assert "behind /u in /other (100 %)" in text


def load_of(made: Scene) -> pd.DataFrame:
    """What fills the executor of thread 2, by trigger."""
    model = made.model()
    tables = tables_of(model)
    load = frame_of(judge_system(tables)[1]["executor_load"])
    threads = frame_of(tables["executor_threads"]).set_index("vtid")
    own = load[load["executor_id"] == threads.loc[2, "executor_id"]]
    return own[own["work"] == "callback"].set_index("trigger")


def hanging(until_ms: int) -> Scene:
    """An executor that hangs in the callback of /u from the sixth second on, for good."""
    made = system(200_000, 100 * MS)
    made.play(
        f"""
        {5200 * MS} 2.2 ready
        {5200 * MS + 10} 2.2 callback_start on_u
        {until_ms * MS} 1.1 rcl_publish /t
        """
    )
    return made


def test_a_callback_that_never_ends_fills_its_executor() -> None:
    made = hanging(25_200)
    load = load_of(made)
    hung = load.loc["/u"]
    assert (hung["count"], hung["unfinished"]) == (1, 1)
    assert hung["duration_ns"] == 20_000 * MS - 10
    # Of 25.2 s altogether.
    assert hung["share"] == pytest.approx(20 / 25.2, rel=1e-3)
    assert load.loc["/t", "unfinished"] == 0
    thread = executor_threads_rows(made.model()).frame().set_index("vtid").loc[2]
    assert thread["executing_ns"] == 20_000 * MS - 10 + 50 * 200_000
    parts = thread[["executing_ns", "waiting_ns", "ready_ns"]].sum()
    assert parts == thread["end_ns"] - thread["begin_ns"]


def test_a_callback_that_threw_counts_until_its_thread_went_on() -> None:
    made = system(200_000, 100 * MS)
    made.play(
        f"""
        {5200 * MS} 2.2 ready
        {5200 * MS + 10} 2.2 callback_start on_u
        {5207 * MS} 2.2 wait
        {9000 * MS} 1.1 rcl_publish /t
        """
    )
    hung = load_of(made).loc["/u"]
    assert (hung["duration_ns"], hung["unfinished"]) == (7 * MS - 10, 1)


def test_what_hangs_does_so_until_its_process_was_last_seen(tmp_path: Path) -> None:
    # Threads of the process were sampled until 8 s, so it was gone then; the trace goes on.
    samples(
        tmp_path,
        "0 2.2 cpu 1 wait 0 slices 1\n5300 2.2 cpu 9 wait 0 slices 2\n"
        "8000 2.9 cpu 2 wait 0 slices 3\n25000 1.1 cpu 5 wait 0 slices 9",
    )
    read = read_thread_cpu(tmp_path)
    model = model_of_tables(hanging(25_200).tables(), cpu=(read, BASE))
    (hung,) = callback_instances_rows(model).frame().query("end_ns.isna()").to_dict("records")
    assert hung["until_ns"] - BASE == 8000 * MS
    assert model.findings.counts["callbacks_without_end"] == 1


def test_an_executor_is_full_while_messages_come_and_idle_before() -> None:
    # Idle for 50 s, then 12 ms of work each 10 ms for 10 s.
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.subscription("/t", node="/sink", pid=2, symbol="on_t")
    made.play("0 2.2 wait")
    free = 0
    for number in range(1000):
        sent = 50_000 * MS + number * 10 * MS
        ready = max(sent + 100_000, free + 100)
        made.play(
            f"""
            {sent} 1.1 rmw_publish /t {sent}
            {ready} 2.2 ready
            {ready + 10} 2.2 execute on_t
            {ready + 20} 2.2 rmw_take on_t {sent}
            {ready + 30} 2.2 callback_start on_t
            {ready + 30 + 12 * MS} 2.2 callback_end on_t
            {ready + 40 + 12 * MS} 2.2 wait
            """
        )
        free = ready + 40 + 12 * MS
    text, _, causes = judged(made)
    assert causes.iloc[0]["kind"] == "executor"
    assert causes.iloc[0]["busy"] > 0.99
    assert text.startswith(
        "The executor of /sink (thread 2) is full in the 12.0 s from its first message to its "
        "last: it runs callbacks for 100 % of its time"
    )
    assert "It is filled by /t in /sink (100 %)" in text
    load = load_of(made).loc["/t"]
    assert load["share"] == pytest.approx(12 / 62, rel=0.01)
    assert load["traffic_share"] > 0.99


def test_a_callback_that_takes_its_time_is_named() -> None:
    text, _, causes = judged(system(20 * MS, 100 * MS))
    assert causes.iloc[0]["kind"] == "hop"
    assert (
        text == "The callback for /t in /sink takes 99 % of the time of all messages: 20.0 ms each."
    )


@pytest.mark.parametrize(("slow", "stands_out"), [(4, False), (5, True)])
def test_a_few_slow_messages_are_no_cause(slow: int, stands_out: bool) -> None:
    """50 messages of 300 us; to some of them the way is 300 ms."""
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.subscription("/t", node="/sink", pid=2, symbol="on_t")
    made.play("0 2.2 wait")
    for number in range(1, 51):
        sent = number * 500 * MS
        ready = sent + (300 * MS if number <= slow else 100_000)
        made.play(
            f"""
            {sent} 1.1 rmw_publish /t {sent}
            {ready} 2.2 ready
            {ready + 10} 2.2 execute on_t
            {ready + 20} 2.2 rmw_take on_t {sent}
            {ready + 30} 2.2 callback_start on_t
            {ready + 200_030} 2.2 callback_end on_t
            {ready + 200_040} 2.2 wait
            """
        )
    text, found, causes = judged(made)
    assert found == stands_out
    assert causes.iloc[0]["where"] == "/t"
    assert causes.iloc[0]["share"] > 0.95
    assert text.startswith("Nothing stands out") != stands_out


def cpu_of(made: Scene, cpu_wait_ns: int) -> dict[str, Rows]:
    model = made.model()
    row = {
        "host": executor_threads_rows(model).frame()["host"].iloc[0],
        "vpid": 2,
        "vtid": 2,
        "process": "sink",
        "source": "samples",
        "traffic_on_cpu_ns": 100 * MS,
        "traffic_cpu_wait_ns": cpu_wait_ns,
    }
    return {**tables_of(model), "thread_cpu": rows_of(declared.THREAD_CPU, pd.DataFrame([row]))}


def test_a_process_short_of_cpu_comes_after_executors_and_before_the_rest() -> None:
    verdict, found = judge_system(cpu_of(system(20 * MS, 100 * MS), 400 * MS))
    causes = frame_of(found["system_causes"])
    assert causes["kind"].tolist()[:2] == ["cpu", "hop"]
    assert causes["share"].isna().tolist()[:2] == [True, False]
    assert verdict.text.startswith(
        "Process sink (2) of /sink is short of CPU: in 80 % of the time in which its threads "
        "were runnable they had none, 8.00 ms for each message that they sent or took (by "
        "samples of the kernel's counters). The callback for /t"
    )
    verdict, found = judge_system(cpu_of(system(200_000, 100 * MS, other_ns=30 * MS), 4000 * MS))
    assert found["system_causes"].texts("kind").tolist()[:2] == ["executor", "cpu"]
    assert (
        "of their time its threads waited for a CPU. Process sink (2) of /other, /sink"
        in verdict.text
    )


def preempted(other_ns: int) -> str:
    """Events of the kernel: thread 9 has the CPU for so long before thread 2 gets it."""
    lines = ["0 cpu0 2 S 9"]
    for number in range(1, 51):
        begin = number * 100 * MS + 100_000 - 50
        lines.append(f"{begin - other_ns} cpu0 wake 2 cpu0")
        lines.append(f"{begin} cpu0 9 R 2")
        lines.append(f"{begin + 2 * MS + 200} cpu0 2 S 9")
    return "\n".join(lines)


def test_kernel_events_tell_which_process_is_short_of_cpu() -> None:
    # 8 ms of waiting and 2 ms of running for each message, and nothing was sampled.
    made = system(2 * MS, 100 * MS)
    model = model_of_tables(made.tables() | kernel_tables(preempted(8 * MS)))
    (row,) = thread_cpu_rows(model).frame().query("vpid == 2").to_dict("records")
    assert row["source"] == "kernel events"
    assert row["cpu_wait_ns"] == 50 * 8 * MS
    assert row["on_cpu_ns"] == 50 * (2 * MS + 200)
    assert row["longest_wait_ns"] == 8 * MS
    assert row["slices"] == 50
    # Between the first message that it took and the last: 49 waits are whole.
    assert row["traffic_cpu_wait_ns"] == 49 * 8 * MS
    verdict, found = judge_system(tables_of(model))
    first = found["system_causes"].record(0)
    assert (first["kind"], first["source"], first["stands_out"]) == ("cpu", "kernel events", True)
    assert "is short of CPU: in 8" in verdict.text
    assert "that they sent or took (by kernel events)." in verdict.text


def test_kernel_events_of_a_process_that_has_its_cpu_are_no_cause() -> None:
    made = system(2 * MS, 100 * MS)
    model = model_of_tables(made.tables() | kernel_tables(preempted(300_000)))
    assert "cpu" not in judge_system(tables_of(model))[1]["system_causes"].texts("kind")


def test_what_was_sampled_is_not_taken_from_kernel_events(tmp_path: Path) -> None:
    samples(tmp_path, "0 2.2 cpu 1 wait 0 slices 1\n5300 2.2 cpu 9 wait 3 slices 2")
    made = system(2 * MS, 100 * MS).tables() | kernel_tables(preempted(8 * MS))
    model = model_of_tables(made, cpu=(read_thread_cpu(tmp_path), BASE))
    (row,) = thread_cpu_rows(model).frame().query("vpid == 2").to_dict("records")
    assert (row["source"], row["cpu_wait_ns"]) == ("samples", 3 * MS)


@pytest.mark.parametrize("cpu_wait_ns", [20 * MS, 0])
def test_a_process_that_has_its_cpu_is_not_named(cpu_wait_ns: int) -> None:
    verdict, found = judge_system(cpu_of(system(200_000, 10 * MS), cpu_wait_ns))
    assert not verdict.stands_out
    assert "cpu" not in found["system_causes"].texts("kind")


def test_a_trace_without_messages_has_no_verdict() -> None:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.play("10 1.1 rcl_publish /t\n20 1.1 rmw_publish /t 20")
    text, stands_out, causes = judged(made)
    assert (text, stands_out, len(causes)) == ("", False, 0)


def chains_of(*ways: str) -> Rows:
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
                "latency_p50_ns": (number + 1) * 1e6,
                "latency_max_ns": (number + 2) * 1e6,
            }
        )
    return rows_of(declared.CHAINS, pd.DataFrame(rows))


def grouped(chains: Rows) -> tuple[pd.DataFrame, pd.DataFrame]:
    groups, members = group_chains(chains)
    return frame_of(groups), frame_of(members)


def test_chains_that_differ_by_number_or_namespace_are_one_group() -> None:
    groups, members = grouped(
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
    assert groups["p50_low_ns"].tolist() == [1e6, 4e6, 6e6]
    assert groups["p50_high_ns"].tolist() == [3e6, 5e6, 6e6]
    assert groups["max_ns"].tolist() == [4e6, 6e6, 7e6]


def test_many_shapes_between_the_same_ends_are_one_group() -> None:
    between = "abcdefgh"
    ways = [f"/first -> /{name}_node -> /last" for name in between]
    groups, members = grouped(chains_of(*ways, "/other -> /last"))
    assert members["group_id"].tolist() == [0] * 8 + [1]
    assert groups["nodes"].tolist() == ["/first -> ... -> /last", "/other -> /last"]
    assert groups["same"].tolist() == ["ends", "shape"]
    few, _ = grouped(chains_of(*ways[:6]))
    assert len(few) == 6


def test_no_chain_is_no_group() -> None:
    groups, members = grouped(Rows.none(declared.CHAINS))
    assert len(groups) == len(members) == 0
