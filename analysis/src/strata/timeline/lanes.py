# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The lanes of a timeline, in the order in which the message met them, and their roles in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from strata.schema.rows import NONE, Rows
from strata.timeline.spans import SENSOR, THREAD, TRANSIT, Lane
from strata.timeline.work import ThreadKey

EXECUTOR, PUBLISHER, TAKER, ASIDE = "executor", "publisher", "taker", "aside"
"""What a thread is to a message: runs callbacks, publishes outside of them, takes, or ran
elsewhere what it waited behind."""

_WORDS = {
    EXECUTOR: "executor of {}",
    PUBLISHER: "publishing thread of {}",
    TAKER: "taking thread of {}",
    ASIDE: "ran what the message waited behind: {}",
}
_NAMED = 3
"""More nodes than this are counted."""


class ThreadNames:
    """Names of processes and threads, from `processes`, `thread_cpu` and `executor_threads`."""

    def __init__(self, processes: Rows, thread_cpu: Rows, executor_threads: Rows) -> None:
        self._process = {(row["host"], row["vpid"]): row["procname"] for row in processes.records()}
        self._name = {
            (row["host"], row["vpid"], row["vtid"]): row["name"] for row in thread_cpu.records()
        }
        self._executors = {
            (row["host"], row["vpid"], row["vtid"]) for row in executor_threads.records()
        }

    def is_executor(self, thread: ThreadKey) -> bool:
        """Tell whether a thread is known to have run callbacks of an executor."""
        return thread in self._executors

    def lane(self, thread: ThreadKey, role: str) -> Lane:
        """Return the lane of a thread."""
        host, vpid, vtid = thread
        if vtid == NONE:
            return Lane(THREAD, role)
        process = self._process.get((host, vpid))
        return Lane(THREAD, role, host, process, vpid, vtid, self._name.get(thread))


@dataclass
class _Thread:
    thread: ThreadKey
    roles: dict[str, dict[str, None]] = field(default_factory=dict)


@dataclass
class _Between:
    kind: str
    topics: dict[str, None] = field(default_factory=dict)


class Lanes:
    """Lanes while they are found; each has its number at once."""

    def __init__(self, names: ThreadNames) -> None:
        self._names = names
        self._found: list[_Thread | _Between] = []
        self._number: dict[object, int] = {}

    def thread(self, thread: ThreadKey, role: str, of: str) -> int:
        """Return the lane of a thread, which has one more role: of a node, topic or callback."""
        if role == EXECUTOR and thread[2] != NONE and not self._names.is_executor(thread):
            role = TAKER
        at = self._add(thread, lambda: _Thread(thread))
        found = self._found[at]
        assert isinstance(found, _Thread)
        found.roles.setdefault(role, {})[of] = None
        return at

    def between(self, first: int, second: ThreadKey, topic: str) -> int:
        """Return the lane of messages from one lane to a thread, which may have none yet."""
        return self._between((first, second), TRANSIT, topic)

    def sensor(self, source: str) -> int:
        """Return the lane of sensor data that wait for their driver."""
        return self._between(SENSOR, SENSOR, source)

    def _between(self, key: object, kind: str, topic: str) -> int:
        at = self._add(key, lambda: _Between(kind))
        found = self._found[at]
        assert isinstance(found, _Between)
        found.topics[topic] = None
        return at

    def _add(self, key: object, make: Callable[[], _Thread | _Between]) -> int:
        if key not in self._number:
            self._number[key] = len(self._found)
            self._found.append(make())
        return self._number[key]

    def threads(self) -> Mapping[int, ThreadKey]:
        """Return the threads by the number of their lane."""
        return {
            at: found.thread for at, found in enumerate(self._found) if isinstance(found, _Thread)
        }

    def all(self) -> tuple[Lane, ...]:
        """Return the lanes by number."""
        return tuple(
            self._names.lane(found.thread, _role(found.roles))
            if isinstance(found, _Thread)
            else Lane(found.kind, _between_words(found))
            for found in self._found
        )


def _role(roles: Mapping[str, Mapping[str, None]]) -> str:
    named = [_WORDS[role].format(_listed([*own])) for role, own in roles.items()]
    return "; ".join(named)


def _between_words(lane: _Between) -> str:
    if lane.kind == SENSOR:
        return f"sensor data: {_listed([*lane.topics])}"
    return f"in transit or waiting: {_listed([*lane.topics])}"


def _listed(names: list[str]) -> str:
    if len(names) <= _NAMED:
        return ", ".join(names)
    return f"{', '.join(names[: _NAMED - 1])} and {len(names) - _NAMED + 1} others"
