# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Faults that are planted in real systems are named as the right layer, with their size.

What each costs is known apart from the trace: from the nodes' own stamps, from the rate of a link,
from the instants at which a thread was stopped, from the kernel's counters.
"""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from subprocess import Popen

import numpy as np
import numpy.typing as npt
import pytest
from chain_truth import (
    CHAIN,
    check_sums,
    clock_offset_ns,
    mean_of,
    ns,
    of_topic,
    own_latency,
    the_bottleneck,
    truth,
)
from networks import network, slow_link
from recorder import Recorder
from starved import chain_waits, largest, waits_of
from stopping import StoppableThread, find_process, find_receiver

from strata.schema.layers import DDS_LAYERS
from strata.stats.groups import TAIL, TYPICAL

pytestmark = pytest.mark.live

HOP = ("--relays", "0", "--processes", "two")
APART = Path(__file__).parent / "programs/chain_apart.py"
MS = 1_000_000
MOST = 0.8
"""A machine that does other things too disturbs some messages, in other layers than the planted."""


def agrees(
    measured_ns: npt.ArrayLike, planted_ns: npt.ArrayLike, waited_ns: npt.ArrayLike = 0
) -> npt.NDArray[np.bool_]:
    """Tell which are within 10 % or 100 us of what was planted, or of what waited for a CPU."""
    planted = np.asarray(planted_ns, float)
    bound = np.maximum(0.1 * planted, 100_000) + np.asarray(waited_ns, float)
    return np.asarray(np.abs(np.asarray(measured_ns, float) - planted) <= bound)


def test_a_payload_of_4_mb_is_seen_in_every_layer_that_copies_it(recorded: Recorder) -> None:
    line = (*HOP, "--messages", "25", "--rate", "10", "--payload")
    record = partial(recorded, config="full", profile="fastdds_shm_large_segment")
    small_session, analysis = record(*line, "1024", name="small")
    small = of_topic(analysis, "/chain_0")
    large_session, analysis = record(*line, str(4 << 20), name="large")
    large = of_topic(analysis, "/chain_0")
    check_sums(analysis)

    # Not the median: what a busy machine adds, it adds to any layer.
    middle = {layer.column: large[layer.column].quantile(0.25) for layer in DDS_LAYERS}
    assert sorted(middle, key=lambda name: -middle[name])[:2] == ["transport_ns", "serialize_ns"]
    # A copy of 4 MB takes some 100 us on any machine.
    for column in ["serialize_ns", "transport_ns", "deserialize_ns"]:
        assert large[column].median() - small[column].median() > 100_000, column
    # Whole fragments of at most 65500 bytes.
    assert large["fragments"].median() == -(-(4 << 20) // 65500)
    assert not large["recovered_fragments"].any()

    # The longest is neither: rclpy turns the C message into a Python one, in client take.
    largest(large_session, analysis, "/chain_0", "client take", "/sink")
    # The conversion to the message's C form is within: publish() begins where the source called it.
    for session, messages in [(small_session, small), (large_session, large)]:
        own = ns(own_latency(session, "source", "sink"))
        traced = ns(messages["callback_start_ns"] - messages["publish_ns"])
        assert (traced < own).all()
        assert agrees(traced, own).mean() >= MOST
    grown = large["client_publish_ns"].median() - small["client_publish_ns"].median()
    assert grown > 100_000


def test_a_shared_memory_segment_below_the_payload_is_resends(recorded: Recorder) -> None:
    # The default segment holds 512 KiB: what does not fit is lost and sent again. On a single CPU
    # the reader cannot empty it meanwhile.
    alone = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    line = (*HOP, "--messages", "20", "--rate", "5", "--payload", str(4 << 20))
    session, analysis = recorded(*line, inside=alone, config="full", profile="fastdds_shm")
    check_sums(analysis)
    largest(session, analysis, "/chain_0", "dds receive", "resends of /chain_0")
    messages = of_topic(analysis, "/chain_0")
    assert (messages["recovered_fragments"] > 0).mean() > 0.5
    own = ns(own_latency(session, "source", "sink"))
    traced = ns(messages["callback_start_ns"] - messages["publish_ns"])
    assert agrees(traced, own).mean() >= MOST


def test_a_slow_link_is_transport(recorded: Recorder, tmp_path: Path) -> None:
    messages, payload = 30, 200_000
    with slow_link(rate=20_000_000, burst=4096) as link:
        pids = [str(link.near.pid), str(link.far.pid)]
        numbers = [str(messages), "5", str(payload)]
        line = ["python3", str(APART), *pids, *numbers, str(tmp_path / "session/truth")]
        session, analysis = recorded.run(line, config="full")
        queue = link.queue()
    assert queue["drops"] == 0
    check_sums(analysis)
    hop = of_topic(analysis, "/chain_0")
    assert len(hop) == messages
    assert (hop["transport"] == "UDPv4").all()

    # Ethernet, IP and UDP around at most 1480 bytes; the first burst passes at once.
    on_the_wire = payload * 1514 / 1480 - link.burst
    planted_ns = on_the_wire * 8e9 / link.rate
    # Fast DDS sends again what is still queued. Of the last message those copies never arrive, and
    # what was slow cannot be told from what was lost.
    waited = waits_of(session, hop)
    assert agrees(hop["transport_ns"], planted_ns, waited).mean() >= MOST
    place = ("/chain_0", "transport", "/chain_0 to /sink over UDPv4")
    largest(session, analysis, *place, TAIL)
    typical_ns = largest(session, analysis, *place)
    assert agrees(typical_ns, planted_ns, chain_waits(session, analysis, "/chain_0", TYPICAL))
    own = ns(own_latency(session, "source", "sink"))
    assert agrees(hop["callback_start_ns"] - hop["publish_ns"], own).all()


def test_a_tiny_socket_buffer_is_resends(recorded: Recorder) -> None:
    line = (*HOP, "--messages", "60", "--rate", "15", "--payload", "300000")
    with network() as alone:
        record = partial(recorded, *line, inside=alone.inside, config="full")
        plain, _ = record(name="plain", profile="fastdds_udp")
        before = alone.udp("RcvbufErrors")
        tiny, analysis = record(name="tiny", profile="fastdds_udp_small_buffers")
        dropped = alone.udp("RcvbufErrors") - before
    check_sums(analysis)
    typical_ns = largest(tiny, analysis, "/chain_0", "dds receive", "resends of /chain_0")
    messages = of_topic(analysis, "/chain_0")
    assert 0 < messages["recovered_fragments"].sum() <= dropped

    lost = (messages["recovered_fragments"] > 0).to_numpy()
    assert lost.mean() > 0.5
    # Before a resend, Fast DDS' reader and writer wait for 5 ms each: these were spared one.
    spared = own_latency(plain, "source", "sink")
    usual_ns = spared[spared < 8 * MS].median()
    planted = own_latency(tiny, "source", "sink").to_numpy() - usual_ns
    resent = ns(messages["resend_ns"][lost])
    assert agrees(resent, planted[lost]).mean() > 0.5
    assert agrees(np.median(resent), np.median(planted[lost]))
    again = ns(messages["resend_ns"].fillna(0))
    assert agrees(typical_ns, mean_of(analysis, "/chain_0", TYPICAL, again))


@pytest.mark.parametrize("transport", ["shm", "udp"])
def test_a_stopped_receiver_thread_is_transport(recorded: Recorder, transport: str) -> None:
    stops: list[tuple[int, int]] = []

    def plant(recording: Popen[str]) -> None:
        assert recording.stderr is not None
        while "all connected" not in recording.stderr.readline():
            assert recording.poll() is None
        sink = find_process(recording.pid, "relay_chain.several", "\0sink\0")
        with StoppableThread.seized(find_receiver(sink, transport)) as thread:
            # Less than the messages take: this process may have to wait for CPUs, too.
            until = time.monotonic() + 2.2
            while time.monotonic() < until:
                time.sleep(0.03)
                thread.stop(0.06)
        stops.extend(thread.stops)

    line = (*HOP, "--messages", "270", "--rate", "100")
    session, analysis = recorded(
        *line, meanwhile=plant, config="full", profile=f"fastdds_{transport}"
    )
    check_sums(analysis)
    messages = of_topic(analysis, "/chain_0")
    sent = ns(truth(session, "source", "publish")["t_mono_ns"])
    left = np.zeros(len(sent), np.int64)
    for begin_ns, end_ns in np.asarray(stops) + clock_offset_ns(session):
        during = (sent > begin_ns) & (sent < end_ns)
        left[during] = end_ns - sent[during]
    held = left > 5 * MS
    # Six messages come in each stop, of which the last one waits too short to count.
    assert len(stops) >= 10
    assert held.sum() >= 4 * len(stops)
    transported = ns(messages["transport_ns"])
    waited = waits_of(session, messages)
    assert agrees(transported[held], left[held], waited[held]).mean() >= MOST
    assert np.median((transported - waited)[left == 0]) < MS
    carried = {"shm": "SHM", "udp": "UDPv4"}[transport]
    where = f"/chain_0 to /sink over {carried}"
    typical_ns = largest(session, analysis, "/chain_0", "transport", where)
    assert agrees(typical_ns, mean_of(analysis, "/chain_0", TYPICAL, transported))


def test_a_busy_executor_is_executor_wait_behind_what_it_ran(recorded: Recorder) -> None:
    line = ("--relays", "1", "--processes", "two", "--messages", "300", "--rate", "100")
    session, analysis = recorded(*line, "--block", "relay_0=60@11", config="full")
    check_sums(analysis)
    chain = "/chain_0 -> /chain_1"
    blocker = "relay_chain.node.ChainNode.on_slow [/slow] (/relay_0)"
    behind_ns = largest(session, analysis, chain, "executor wait", f"behind {blocker}")
    waiting_ns = chain_waits(session, analysis, chain, TYPICAL)
    if waiting_ns < 0.05 * behind_ns:
        text = the_bottleneck(analysis, chain).text
        assert f"executor wait behind {blocker}" in text

    sent = ns(truth(session, "source", "publish")["t_mono_ns"])
    asked = ns(truth(session, "distractor", "publish")["t_mono_ns"])
    since = sent[:, None] - asked[None, :]
    blocked = ((since > MS) & (since < 50 * MS)).any(axis=1)
    assert blocked.mean() > 0.4
    # A third of the time nothing blocks.
    own = ns(own_latency(session, "source", "relay_0"))
    planted = own - np.quantile(own, 0.1)
    messages = of_topic(analysis, "/chain_0")
    waited, starved = ns(messages["executor_wait_ns"]), waits_of(session, messages)
    assert agrees(waited[blocked], planted[blocked], starved[blocked]).mean() >= MOST
    # Until the node ran any of the chain's callbacks; the rest of the wait is for those before.
    ran = np.sort(ns(truth(session, "relay_0", "cb_start")["t_mono_ns"]))
    first = np.maximum(ran[np.searchsorted(ran, sent)] - sent - np.quantile(own, 0.1), 0)
    assert agrees(behind_ns, mean_of(analysis, chain, TYPICAL, first), waiting_ns)
    slow = analysis.callbacks.set_index("symbol").loc["relay_chain.node.ChainNode.on_slow"]
    assert agrees(slow["duration_p50_ns"], 60 * MS, waiting_ns)


def test_a_slow_callback_is_its_hold(recorded: Recorder) -> None:
    line = ("--processes", "two", "--messages", "100", "--rate", "50", "--work", "relay_1=5")
    session, analysis = recorded(*line, config="full")
    check_sums(analysis)
    where = "relay_chain.nodes.Relay.on_message [/chain_1] (/relay_1)"
    held_ns = largest(session, analysis, CHAIN, "hold", where)
    entered = truth(session, "relay_1", "cb_start")["t_mono_ns"]
    planted = ns(truth(session, "relay_1", "publish")["t_mono_ns"] - entered)
    assert planted.min() >= 5 * MS
    held = ns(of_topic(analysis, "/chain_2")["hold_ns"])
    assert agrees(held, planted).mean() >= MOST
    assert agrees(held_ns, mean_of(analysis, CHAIN, TYPICAL, planted))
