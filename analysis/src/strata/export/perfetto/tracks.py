# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Descriptors of tracks: processes, threads, groups and counters."""

from __future__ import annotations

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

from strata.export.perfetto.packets import PacketWriter

_TRACK = protos.TrackDescriptor
_BY_KEY = _TRACK.SIBLING_MERGE_BEHAVIOR_BY_SIBLING_MERGE_KEY


class Tracks:
    """Makes tracks; each method writes one descriptor and returns the track's uuid."""

    def __init__(self, packets: PacketWriter) -> None:
        self._packets = packets

    def group(
        self, name: str, description: str, *, parent: int | None = None, rank: int = 0
    ) -> int:
        """Make a group whose tracks are in the order of their rank, as it is among its own."""
        track = _TRACK(name=name, description=description, sibling_order_rank=rank)
        track.child_ordering = _TRACK.EXPLICIT
        # Groups of one name are of nodes of one name, in two processes.
        track.sibling_merge_behavior = _TRACK.SIBLING_MERGE_BEHAVIOR_NONE
        if parent is not None:
            track.parent_uuid = parent
        return self._packets.track(track)

    def lane(self, name: str, description: str, parent: int, key: str) -> int:
        """Make a track of slices; those with one key in a group are shown as one."""
        track = _TRACK(name=name, description=description, parent_uuid=parent)
        track.sibling_merge_behavior, track.sibling_merge_key = _BY_KEY, key
        return self._packets.track(track)

    def counter(self, name: str, description: str, parent: int, unit: str, rank: int = 1) -> int:
        """Make a counter; `unit` is its unit in words."""
        track = _TRACK(name=name, description=description, parent_uuid=parent)
        track.sibling_order_rank = rank
        if unit == "ns":
            track.counter.unit = protos.CounterDescriptor.UNIT_TIME_NS
        else:
            track.counter.unit_name = unit
        return self._packets.track(track)

    def process(self, pid: int, name: str, description: str, labels: list[str]) -> int:
        """Make the track of a process."""
        track = _TRACK(description=description)
        track.process.pid, track.process.process_name = pid, name
        track.process.process_labels.extend(labels)
        return self._packets.track(track)

    def thread(self, pid: int, tid: int, name: str, description: str, parent: int) -> int:
        """Make the track of a thread."""
        track = _TRACK(description=description, parent_uuid=parent)
        track.thread.pid, track.thread.tid, track.thread.thread_name = pid, tid, name
        return self._packets.track(track)
