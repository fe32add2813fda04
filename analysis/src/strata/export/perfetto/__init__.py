# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""An analysis as a Perfetto trace: protobuf packets that ui.perfetto.dev and trace_processor open.

* a process and thread track each, with callbacks, takes, publishes and the executor's waits for
  work; a flow leads from each publish to each take of the message
* a group for each hop, with its messages, their layers inside, and counters
* a group for each service and action, with its calls or goals and their layers
* a track for each CPU, where the kernel's scheduler was recorded
* a track for each chain, with a slice for each message; all its slices have one colour

All times are ns since the epoch (`BUILTIN_CLOCK_REALTIME`).
"""

from __future__ import annotations

from pathlib import Path

from strata.export.chosen import Chosen
from strata.export.file_target import replacing_file
from strata.export.perfetto.calls import CallSlices
from strata.export.perfetto.chains import ChainSlices
from strata.export.perfetto.counters import Counters
from strata.export.perfetto.cpus import CpuSlices
from strata.export.perfetto.hops import HopSlices
from strata.export.perfetto.packets import PacketWriter
from strata.export.perfetto.processes import ProcessTracks
from strata.export.perfetto.threads import ThreadSlices
from strata.export.perfetto.tracks import Tracks
from strata.export.written import Written
from strata.timeline import Timelines


def write(chosen: Chosen, target: Path, *, force: bool = False) -> Written:
    """Write what was chosen as one Perfetto trace, all or nothing. Raises OutputError."""
    timelines = Timelines(chosen.analysis)
    with replacing_file(target, chosen.choice.max_bytes, force=force) as file:
        packets = PacketWriter(file, chosen.analysis.trace.begin_ns)
        tracks = Tracks(packets)
        processes = ProcessTracks(chosen.analysis, tracks)
        ChainSlices(chosen, packets, tracks, timelines).write()
        hops = HopSlices(chosen, packets, tracks, timelines)
        hops.write()
        CallSlices(chosen, packets, tracks).write()
        ThreadSlices(chosen, packets, tracks, processes).write()
        CpuSlices(chosen, packets, tracks).write()
        Counters(chosen, packets, tracks, processes, hops.groups).write()
        counts = {
            "slices": packets.slices,
            "flows": packets.flows,
            "counter values": packets.values,
        }
        size = file.size
    return Written(target, size, counts)
