# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From the text of `perf script` to a CTF trace with the names of lttng-modules."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from lttng_world import events

from strata.read import open_trace
from strata.record.kernel.ctf import KernelTrace, Origin
from strata.record.kernel.events import PERF_EVENTS, of_perf
from strata.record.kernel.text import Block, read_script, state_of
from strata.schema.events import CATALOGUE
from strata.schema.kernel_events import KERNEL_EVENTS

OFFSET = 1_700_000_000_123_456_789

# As perf 6.1 prints them.
TEXT = b"""\
14887 [000] 43830.421789413:    sched:sched_waking: comm=migration/0 pid=18 prio=0 target_cpu=001
14887 [000] 43830.421794931:    sched:sched_switch: prev_comm=my prev_pid=1 prev_pid=14887 \
prev_prio=120 prev_state=R+ ==> next_comm=migration/0 next_pid=18 next_prio=0
   18 [001] 43830.421794931:    sched:sched_switch: prev_comm=python prev_pid=14296 prev_prio=-1 \
prev_state=D|K ==> next_comm=swapper/1 next_pid=0 next_prio=120
14434 [000] 43830.424026241:     irq:softirq_entry: vec=1 [action=TIMER]
14887 [001] 43830.424108013: irq:irq_handler_entry: irq=36 name=virtio1 req.0
14887 [001] 43830.424110948:  irq:irq_handler_exit: irq=36 ret=handled
22967 [000] 43830.434026241: PERF_RECORD_LOST lost 79
22967 [000] 43830.444026241: PERF_RECORD_LOST lost 2
24001 [001] 43830.454026241:  net:net_dev_queue: dev=lo skbaddr=0xffff888103b9e000 len=98
24001 [001] 43830.454026242:  net:netif_receive_skb: dev=lo skbaddr=00000000f00dfeed len=84
24001 [001] 43830.464026242:  sched:sched_wakeup_new: comm=caf\xe9 pid=77 prio=120 target_cpu=000
24001 [001] 43830.474026242:  sched:sched_wakeup_new: nobody knows this format
"""
SWITCHES = b"""\
      Web Content 23043 [001] 44099.512049049: PERF_RECORD_SWITCH_CPU_WIDE OUT preempt  next \
pid/tid:    15/16\x20\x20
          python3    16 [001] 44099.512051853: PERF_RECORD_SWITCH_CPU_WIDE IN           prev \
pid/tid: 23043/23043
          python3    16 [001] 44099.512059585: PERF_RECORD_SWITCH_CPU_WIDE OUT          next \
pid/tid:     0/0\x20\x20
          python3    16 [001] 44099.512059586: PERF_RECORD_LOST lost 5
             :-1    -1 [001] 44099.512060000: PERF_RECORD_SWITCH_CPU_WIDE IN           prev \
pid/tid:     0/0\x20\x20
             :-1    -1 [001] 44099.512061000: PERF_RECORD_SWITCH_CPU_WIDE OUT          next \
pid/tid:     0/0\x20\x20
"""


def convert(place: Path, text: bytes, *, switches: bool, block_bytes: int = 1 << 20) -> list[Block]:
    blocks = []
    origin = Origin("a host", 'perf "6.1"', "6.1.0", OFFSET, "")
    with KernelTrace(place / "kernel", list(PERF_EVENTS), origin) as written:
        stream = io.BytesIO(text)
        for block in read_script(
            stream, list(PERF_EVENTS), switches=switches, block_bytes=block_bytes
        ):
            written.write(block)
            blocks.append(block)
    return blocks


@pytest.mark.parametrize("block_bytes", [1 << 20, 300, 100])
def test_the_text_becomes_a_trace_with_the_names_of_lttng(tmp_path: Path, block_bytes: int) -> None:
    blocks = convert(tmp_path, TEXT, switches=False, block_bytes=block_bytes)
    assert sum(block.unread for block in blocks) == 1
    trace = open_trace(tmp_path)
    tables = {name: table.to_pylist() for name, table in trace.tables().items()}
    switches = tables["sched_switch"]
    at = 43830_421794931 + OFFSET
    contexts = {"host": "a host", "vpid": None, "vtid": None, "procname": None}
    assert {**switches[0], **contexts} == switches[0]
    assert [row.pop("timestamp") for row in switches] == [at, at]
    values = [tuple(value for key, value in row.items() if key not in contexts) for row in switches]
    assert sorted(values) == [
        (0, "my prev_pid=1", 14887, 120, 256, "migration/0", 18, 0),
        (1, "python", 14296, -1, 3, "swapper/1", 0, 120),
    ]
    (waking,) = tables["sched_waking"]
    assert (waking["tid"], waking["target_cpu"], waking["comm"]) == (18, 1, "migration/0")
    assert tables["irq_handler_entry"][0]["name"] == "virtio1 req.0"
    assert tables["irq_handler_exit"][0]["ret"] == 1
    assert tables["irq_softirq_entry"][0]["vec"] == 1
    assert tables["net_dev_queue"][0]["skbaddr"] == 0xFFFF888103B9E000
    assert tables["net_if_receive_skb"][0]["skbaddr"] == 0xF00DFEED
    assert tables["sched_wakeup_new"][0]["comm"] == "caf\N{REPLACEMENT CHARACTER}"
    assert trace.findings.counts == {"lost_kernel_events": 81}
    assert len(events(tmp_path)) == 9
    assert trace.losses[-1].end_ns == 43830_444026241 + OFFSET
    begin = 43830_421789413 + OFFSET
    assert all(begin <= (loss.begin_ns or 0) <= (loss.end_ns or 0) for loss in trace.losses)


def test_a_loss_between_events_has_its_own_time(tmp_path: Path) -> None:
    """Blocks that hold no event of a CPU, only its losses: before, between and after its events."""
    lines = (
        "1 [000] 10.000000100: irq:softirq_entry: vec=1",
        "1 [001] 10.000000200: PERF_RECORD_LOST lost 1",
        "1 [001] 10.000000300: irq:softirq_entry: vec=1",
        "1 [001] 10.000000400: PERF_RECORD_LOST lost 2",
        "1 [001] 10.000000500: PERF_RECORD_LOST lost 4",
        "1 [001] 10.000000600: irq:softirq_entry: vec=1",
        "1 [000] 10.000000700: irq:softirq_entry: vec=1",
        "1 [001] 10.000000800: PERF_RECORD_LOST lost 8",
    )
    text = "".join(f"{line}\n" for line in lines).encode()
    blocks = convert(tmp_path, text, switches=False, block_bytes=48)
    assert len(blocks) == len(lines)
    trace = open_trace(tmp_path)
    base = 10 * 10**9 + OFFSET
    assert len(events(tmp_path)) == sum(map(len, trace.tables().values())) == 4
    windows = [
        (loss.count, (loss.begin_ns or 0) - base, (loss.end_ns or 0) - base)
        for loss in trace.losses
    ]
    assert windows == [(1, 100, 200), (2, 300, 400), (4, 400, 500), (8, 600, 800)]
    assert trace.findings.counts == {"lost_kernel_events": 15}


def test_context_switches_alone_are_switches_too(tmp_path: Path) -> None:
    blocks = convert(tmp_path, SWITCHES, switches=True)
    trace = open_trace(tmp_path)
    rows = trace.tables()["sched_switch"].to_pylist()
    keys = ("prev_comm", "prev_tid", "prev_state", "next_tid")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        ("Web Content", 23043, 256, 16),
        ("python3", 16, 1, 0),
        (":-1", -1, 1, 0),
    ]
    assert trace.findings.counts == {"lost_kernel_events": 5}
    assert [block.unread for block in blocks] == [0]


def test_lines_of_context_switches_that_nobody_knows_are_counted(tmp_path: Path) -> None:
    unknown = b"python3 16 [001] 44099.600000000: PERF_RECORD_SWITCH_CPU_WIDE OUT to nobody\n"
    (block,) = convert(tmp_path, SWITCHES + unknown + b"what is this?\n", switches=True)
    assert (block.unread, len(block.batches[0].cpu)) == (2, 3)


@pytest.mark.parametrize(
    ("letters", "number"),
    [
        ("R", 0),
        ("R+", 256),
        ("S", 1),
        ("D", 2),
        ("D|K", 3),
        ("I", 128),
        ("X|Z", 48),
        ("0x100", 256),
    ],
)
def test_letters_of_a_state_are_its_bits(letters: str, number: int) -> None:
    assert state_of(letters) == number


def test_fields_are_those_of_the_catalogue() -> None:
    for event in PERF_EVENTS:
        declared = {field.name for field in CATALOGUE[event.name].fields}
        assert {name for name, _ in event.fields} == declared
    assert {event.name for event in KERNEL_EVENTS} == {event.name for event in PERF_EVENTS}


def test_names_and_patterns_choose_events() -> None:
    chosen, without = of_perf(["sched_w*", "sched_switch", "kmem_kmalloc"])
    names = [event.name for event in chosen]
    assert names == ["sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new"]
    assert without == ["kmem_kmalloc"]
