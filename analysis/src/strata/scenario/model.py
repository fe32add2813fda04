# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a scenario's document may say; docs/scenarios.md explains each key with its unit."""

from __future__ import annotations

import shlex
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
"""A name that ROS 2 takes for a node, and a file system for a file."""

MOST_HOSTS = 32
"""Hosts that a link joins at most."""

SHORTEST_S = 0.05
"""Shortest time between two looks at the processes, in seconds; more often would disturb them."""

Parameter = bool | int | float | str | list[bool] | list[int] | list[float] | list[str]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Executor(_Part):
    """The executor of a process: node parameters `executor` and `threads` (0: one a CPU)."""

    kind: Literal["single", "multi", "events"] = "single"
    threads: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _has_threads(self) -> Self:
        if self.threads and self.kind != "multi":
            raise ValueError(f"{self.threads} threads need kind multi, not {self.kind}")
        return self


class Qos(_Part):
    """Quality of service of a node's topics: each key that is stated is a node parameter."""

    reliability: Literal["reliable", "best_effort"] | None = None
    durability: Literal["volatile", "transient_local"] | None = None
    history: Literal["keep_last", "keep_all"] | None = None
    depth: int | None = Field(default=None, ge=1)
    deadline_ms: float | None = Field(default=None, gt=0)
    liveliness: Literal["automatic", "manual_by_topic"] | None = None
    liveliness_lease_ms: float | None = Field(default=None, gt=0)

    def parameters(self) -> dict[str, Parameter]:
        """Give the node parameters."""
        return self.model_dump(exclude_none=True)


class Node(_Part):
    """A ROS 2 node."""

    name: Name
    parameters: dict[str, Parameter] = {}
    qos: Qos = Qos()
    remappings: dict[str, str] = {}


class Priority(_Part):
    """Scheduling: SCHED_FIFO (1 to 99) or not, and memory that is never paged out."""

    policy: Literal["other", "fifo"] = "other"
    priority: int = Field(default=0, ge=0, le=99)
    lock_memory: bool = False

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.policy == "fifo" and not self.priority:
            raise ValueError("policy fifo needs a priority of 1 to 99")
        if self.policy == "other" and self.priority:
            raise ValueError(f"priority {self.priority} needs policy fifo")
        return self


class Program(_Part):
    """An executable of a ROS 2 package."""

    package: Name
    executable: str = Field(min_length=1)


class Alternative(Program):
    """An executable that takes the place of another: it may be chosen `when` all of this is true.

    With `only`, nothing else may be.
    """

    when: bool | list[bool] = True
    only: bool = False

    @property
    def is_possible(self) -> bool:
        """Tell whether it may be chosen."""
        return all(self.when) if isinstance(self.when, list) else self.when

    @property
    def program(self) -> Program:
        """Give the executable alone."""
        return Program(package=self.package, executable=self.executable)


class Ready(_Part):
    """When a process is ready, and the next may start: one of its lines has this in it."""

    says: str = Field(min_length=1)
    within_s: float = Field(default=30.0, gt=0)


class Process(_Part):
    """One process: an executable of a package (or a command), with no, one or several nodes.

    A command is a list of words, or text that is split into words as a shell does, without
    variables, globs and redirections. `cpp` has executables in C++ that take the same parameters,
    the preferred one first. `ends` tells that it ends by itself, when it has done its part; the run
    ends when all such processes have. `host` is where it runs when the network has a link.
    """

    name: Name
    package: Name | None = None
    executable: str | None = Field(default=None, min_length=1)
    cpp: Alternative | list[Alternative] | None = None
    command: list[str] | None = Field(default=None, min_length=1)
    nodes: list[Node] = []
    arguments: list[str] = []
    environment: dict[str, str] = {}
    executor: Executor | None = None
    priority: Priority = Priority()
    cpus: list[Annotated[int, Field(ge=0)]] = []
    host: Name | None = None
    ready: Ready | None = None
    ends: bool = False

    @property
    def alternatives(self) -> list[Alternative]:
        """List the executables in C++, in the order of preference."""
        return self.cpp if isinstance(self.cpp, list) else [self.cpp] if self.cpp else []

    @field_validator("command", mode="before")
    @classmethod
    def _words(cls, command: object) -> object:
        if not isinstance(command, str):
            return command
        try:
            return shlex.split(command)
        except ValueError as error:
            raise ValueError(f"it cannot be split into words: {error}") from error

    @model_validator(mode="after")
    def _is_one_program(self) -> Self:
        named = (self.package is not None, self.executable is not None)
        if self.command is not None:
            if any(named) or self.cpp or self.nodes or self.executor:
                raise ValueError("a command has no package, executable, cpp, nodes or executor")
        elif not all(named):
            raise ValueError("package and executable are both needed, or a command")
        if self.executor and not self.nodes:
            raise ValueError("an executor needs nodes")
        if len(set(self.cpus)) != len(self.cpus):
            raise ValueError(f"cpus {self.cpus} lists one twice")
        return self


class Rmw(_Part):
    """The middleware: an implementation, and a profile's file or shipped name."""

    implementation: str | None = Field(default=None, pattern=r"^rmw_\w+$")
    profile: str | None = None


class Duration(_Part):
    """How long: one of the units; `per_second` of them come in a second, as far as is known."""

    messages: int | None = Field(default=None, ge=1)
    scans: int | None = Field(default=None, ge=1)
    frames: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0)
    per_second: float | None = Field(default=None, gt=0)
    limit_s: float | None = Field(default=None, gt=0)

    @property
    def unit(self) -> str:
        """Name the unit that is stated."""
        return next(iter(self.model_dump(exclude_none=True)))

    @property
    def count(self) -> float:
        """Give the number of that unit."""
        return float(getattr(self, self.unit))

    @property
    def expected_s(self) -> float | None:
        """Give the time that it should take, in seconds; null when it cannot be told."""
        if self.seconds is not None:
            return self.seconds
        return self.count / self.per_second if self.per_second else None

    @property
    def longest_s(self) -> float:
        """Bound the time of a run, in seconds: far above what a loaded machine needs."""
        return self.limit_s or 120.0 + 5.0 * (self.expected_s or 0.0)


class Load(_Part):
    """What disturbs the machine meanwhile: busy CPUs, and memory that is written again and again.

    `workers` 0 is one a CPU; `cpu_percent` is of one CPU, for each worker. Workers of policy idle
    (SCHED_IDLE) run only where a CPU would sleep: they keep it awake and take nothing from others.
    """

    cpu_percent: float = Field(default=0.0, ge=0, le=100)
    workers: int = Field(default=0, ge=0)
    policy: Literal["other", "idle"] = "other"
    memory_mib: int = Field(default=0, ge=0)
    generator: Literal["auto", "own", "stress-ng"] = "auto"
    cpus: list[Annotated[int, Field(ge=0)]] = []

    @property
    def any(self) -> bool:
        """Return whether there is a load at all."""
        return self.cpu_percent > 0 or self.memory_mib > 0


class Network(_Part):
    """What joins the hosts of the processes; without a link all run on this one.

    `veth`: each host is a network namespace of its own on this machine. The other keys are of that
    link and of no effect without one: rate in Mbit/s, 0 not limited; delay of a packet one way, in
    us; packets lost, in percent; longest packet, in bytes; the time that the link may catch up, us.
    """

    link: Literal["none", "veth"] = "none"
    rate_mbit: float = Field(default=1000.0, ge=0)
    delay_us: float = Field(default=0.0, ge=0)
    loss_percent: float = Field(default=0.0, ge=0, le=100)
    mtu: int = Field(default=1500, ge=576, le=65535)
    burst_us: float = Field(default=100.0, ge=0)


class Resources(_Part):
    """How often CPU time and memory of the processes are written down, in seconds; 0 never."""

    every_s: float = Field(default=1.0, ge=0)

    @model_validator(mode="after")
    def _can_be_kept(self) -> Self:
        if 0 < self.every_s < SHORTEST_S:
            raise ValueError(f"every_s {self.every_s:g} is below {SHORTEST_S:g}; 0 is off")
        return self


class Expected(_Part):
    """What must hold at the end: a process said something, or a file is there.

    `says` is a regular expression that a line of the process's log matches; `file` is relative to
    the directory of results.
    """

    process: Name | None = None
    says: str | None = None
    file: str | None = None

    @model_validator(mode="after")
    def _is_one_check(self) -> Self:
        if (self.says is None) == (self.file is None) or (self.says is None) != (
            self.process is None
        ):
            raise ValueError("write `process` and `says`, or `file`")
        return self


class Scenario(_Part):
    """A workload: what runs, how, on what middleware, for how long, and what must come of it."""

    question: str = Field(min_length=1)
    description: str = ""
    workload: Literal["relay", "lidar", "camera"]
    settings: dict[str, bool | int | float | str] = {}
    variant: Literal["auto", "wheels", "cpp"] = "auto"
    processes: list[Process] = Field(min_length=1)
    rmw: Rmw = Rmw()
    session: str = "full"
    duration: Duration
    load: Load = Load()
    network: Network = Network()
    resources: Resources = Resources()
    expected: list[Expected] = []

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        names = [process.name for process in self.processes]
        # The load's log, and the machine's CPU time, stand beside theirs.
        _refuse_twice("process", [*names, "load", "machine"])
        _refuse_twice("node", [node.name for one in self.processes for node in one.nodes])
        if self.duration.seconds is None and not any(one.ends for one in self.processes):
            raise ValueError("no process has `ends`, so duration.seconds is needed")
        self._refuse_no_hosts()
        for check in self.expected:
            if check.process is not None and check.process not in names:
                raise ValueError(f"expected: there is no process '{check.process}'")
        return self

    def hosts(self) -> list[str]:
        """Name the hosts that the network joins, in the processes' order; none without a link."""
        return [] if self.network.link == "none" else self.named_hosts()

    def named_hosts(self) -> list[str]:
        """Name the hosts of the processes, in their order, link or not."""
        return list(dict.fromkeys(one.host for one in self.processes if one.host))

    def _refuse_no_hosts(self) -> None:
        if self.network.link == "none":
            return
        for process in self.processes:
            if process.host is None:
                raise ValueError(f"network.link is {self.network.link}: {process.name} has no host")
        if not 2 <= len(self.hosts()) <= MOST_HOSTS:
            raise ValueError(
                f"network.link is {self.network.link}, which connects 2 to {MOST_HOSTS} hosts, "
                f"but the processes name {len(self.hosts())}"
            )

    def document(self) -> dict[str, Any]:
        """Give the whole scenario, defaults filled in, for the manifest."""
        return self.model_dump(mode="json")


def _refuse_twice(what: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"two are called {what} '{twice[0]}'")
