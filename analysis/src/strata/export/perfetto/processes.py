# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes and threads as tracks: their ids, which differ over all hosts, and their names."""

from __future__ import annotations

from collections import defaultdict

from strata.analysis import Analysis
from strata.export.perfetto.tracks import Tracks

_FIRST_OTHER_ID = 1 << 22
"""Linux gives no larger id: ids from here on replace one that another host or container uses."""

ThreadKey = tuple[str, int, int]


class _Ids:
    """An id for each key: its own while no other key has it, else a new one."""

    def __init__(self) -> None:
        self._taken: dict[int, object] = {}
        self._next = _FIRST_OTHER_ID

    def of(self, key: object, wanted: int) -> int:
        """Return the id of a key that has none yet."""
        if wanted not in self._taken:
            self._taken[wanted] = key
            return wanted
        self._next += 1
        return self._next


class ProcessTracks:
    """Makes the tracks of processes and threads when they are first asked for."""

    def __init__(self, analysis: Analysis, tracks: Tracks) -> None:
        self._tracks, self._ids = tracks, _Ids()
        self._processes: dict[tuple[str, int], tuple[int, int]] = {}
        self._threads: dict[ThreadKey, int] = {}
        self._names: dict[tuple[str, int], str] = {}
        for row in analysis.rows("processes").records():
            self._names.setdefault((row["host"], row["vpid"]), row["procname"] or "process")
        self._nodes: dict[tuple[str, int], dict[str, None]] = defaultdict(dict)
        for row in analysis.rows("nodes").records():
            self._nodes[row["host"], row["vpid"]][row["name"]] = None
        self._thread_names = {
            (row["host"], row["vpid"], row["vtid"]): row["name"]
            for row in analysis.rows("thread_cpu").records()
        }
        executors = {row["executor_id"]: row for row in analysis.rows("executors").records()}
        self._executors = {
            (row["host"], row["vpid"], row["vtid"]): executors[row["executor_id"]]
            for row in analysis.rows("executor_threads").records()
        }
        self._hosts = {host for host, _ in self._names}

    def process(self, host: str, vpid: int) -> int:
        """Return the track of a process."""
        return self._process(host, vpid)[1]

    def _process(self, host: str, vpid: int) -> tuple[int, int]:
        found = self._processes.get((host, vpid))
        if found is None:
            pid = self._ids.of((host, vpid), vpid)
            nodes = ", ".join(self._nodes.get((host, vpid), ()))
            name = nodes or self._names.get((host, vpid), "process")
            words = f"Process {vpid} on host {host}" + (f" with nodes {nodes}." if nodes else ".")
            several = len(self._hosts) > 1
            track = self._tracks.process(
                pid, f"{host}: {name}" if several else name, words, [host] if several else []
            )
            found = self._processes[host, vpid] = (pid, track)
        return found

    def thread(self, key: ThreadKey) -> int:
        """Return the track of a thread (host, vpid, vtid)."""
        if key not in self._threads:
            host, vpid, vtid = key
            pid, parent = self._process(host, vpid)
            # The first thread of a process has its id.
            tid = pid if vtid == vpid else self._ids.of(key, vtid)
            name, words = self._thread_words(key)
            self._threads[key] = self._tracks.thread(pid, tid, name, words, parent)
        return self._threads[key]

    def _thread_words(self, key: ThreadKey) -> tuple[str, str]:
        own = self._thread_names.get(key)
        executor = self._executors.get(key)
        if executor is None:
            return own or "thread", f"Thread {key[2]}: it runs no executor."
        kind = f"{executor['kind']} executor"
        return (
            f"{own} ({kind})" if own else kind,
            f"Thread {key[2]} of a {kind} that runs callbacks of {executor['nodes']}. Slices are "
            "waits for work, takes, callbacks and publishes.",
        )
