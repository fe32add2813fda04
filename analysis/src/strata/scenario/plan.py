# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From a scenario to the commands of its processes, on this machine."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from strata.errors import ScenarioError
from strata.record.broker import Broker, answers
from strata.record.places import project_root
from strata.record.profiles import has_rmw
from strata.record.ros import ament_prefixes
from strata.scenario.expand import late
from strata.scenario.load import LoadedScenario
from strata.scenario.model import Load, Process, Program, Scenario
from strata.scenario.network import Link, namespaces_unavailable
from strata.scenario.place import Placement, lock_library, refused

SUBDIRECTORY = "scenario"
"""Where a session directory keeps what belongs to its scenario."""

PLAN = "plan.json"
OUTCOME = "outcome.json"
RESULTS = "results"

_SERVES_WITHIN_S = 30.0


@dataclass(frozen=True)
class ProcessPlan:
    """A process to start: its command, its variables beside those of all, and its placement.

    `program` is PACKAGE/EXECUTABLE or the command's first word; `ready_s` is in seconds.
    `serves_at` is the address where a broker of the middleware answers; null for others.
    `is_remote`: it stands for the part of the scenario that runs on another machine, `host`.
    """

    name: str
    program: str
    command: list[str]
    environment: dict[str, str]
    placement: Placement
    host: str | None
    ends: bool
    ready_says: str | None
    ready_s: float
    serves_at: str | None = None
    is_remote: bool = False


@dataclass(frozen=True)
class RemotePlan:
    """A part on another machine: the process that stands for it, and the file that this reads.

    `file` is relative to the directory of the plan; `about` is what the manifest says of the part.
    """

    process: ProcessPlan
    file: str
    text: str
    about: dict[str, Any]


@dataclass(frozen=True)
class RunPlan:
    """All that a run needs; `directory` holds logs/, parameters/ and results/.

    `patience_s` is how long the processes have to end after SIGINT; then comes SIGTERM, after half
    as long SIGKILL. `parameters` are the files of parameters to write, relative to the directory.
    `resources_s` is how often the use of CPU and memory is written down; 0 never. `is_part`: other
    hosts of the scenario are other machines.
    """

    directory: Path
    processes: list[ProcessPlan]
    load: list[str] | None
    workers: int
    seconds: float | None
    limit_s: float
    parameters: dict[str, str]
    network: Link | None = None
    resources_s: float = 0.0
    patience_s: float = 5.0
    is_part: bool = False

    def as_json(self) -> dict[str, Any]:
        """Give the document that the runner reads."""
        return {**asdict(self), "directory": str(self.directory)}


def chosen_program(process: Process, variant: str, prefixes: list[Path]) -> Program:
    """Choose the executable of a process that is no command.

    `variant` is wheels, cpp, or auto: one in C++ where it is installed below a prefix, the first of
    those that may be chosen. One that says `only` is chosen whatever is installed.
    """
    assert process.package and process.executable
    possible = [one for one in process.alternatives if one.is_possible]
    forced = [one for one in process.alternatives if one.only]
    installed = [one for one in possible if find_program(one, prefixes)]
    if forced:
        return forced[0].program
    if variant != "wheels" and installed:
        return installed[0].program
    if variant == "cpp" and possible:
        return possible[-1].program
    return Program(package=process.package, executable=process.executable)


def find_program(program: Program, prefixes: list[Path]) -> Path | None:
    """Find an executable as `ros2 run` does; null when no prefix has it."""
    for prefix in prefixes:
        path = prefix / "lib" / program.package / program.executable
        if os.access(path, os.X_OK):
            return path
    return None


def late_names(directory: Path) -> dict[str, str]:
    """Give the values of the placeholders that are known when a scenario runs."""
    return {"results": str(directory / RESULTS), "root": str(project_root() or Path.cwd())}


def parameter_file(process: Process, names: Mapping[str, str]) -> str:
    """Write the parameters of a process's nodes, as a file that ROS 2 reads."""
    document = {}
    for node in process.nodes:
        own: dict[str, Any] = {**node.qos.parameters(), **node.parameters}
        if process.executor:
            own = {"executor": process.executor.kind, "threads": process.executor.threads, **own}
        document[f"/{node.name}"] = {"ros__parameters": late(own, names)}
    return yaml.safe_dump(document, sort_keys=False)


def ros_arguments(process: Process, file: Path) -> list[str]:
    """Give the arguments of a process with nodes: several are named first, one is renamed."""
    if not process.nodes:
        return []
    several = len(process.nodes) > 1
    words = [node.name for node in process.nodes] if several else []
    words += ["--ros-args"]
    if not several:
        words += ["-r", f"__node:={process.nodes[0].name}"]
    for node in process.nodes:
        scope = f"{node.name}:" if several else ""
        for old, new in node.remappings.items():
            words += ["-r", f"{scope}{old}:={new}"]
    return [*words, "--params-file", str(file)]


def plan_run(
    loaded: LoadedScenario,
    directory: Path,
    environment: Mapping[str, str],
    broker: Broker | None = None,
    remote: Sequence[RemotePlan] = (),
) -> RunPlan:
    """Plan a run that keeps its files in a directory; `environment` is that of all processes.

    `broker` is what the middleware needs, and starts first; the parts on other machines, `remote`,
    come next. Raises ScenarioError when an executable or the middleware is not installed, or when a
    placement or a network of hosts is not possible.
    """
    scenario = loaded.scenario
    _refuse_missing_middleware(loaded, environment)
    names = late_names(directory)
    return RunPlan(
        directory=directory,
        processes=[
            *_broker(loaded, broker, environment),
            *(one.process for one in remote),
            *(
                _process(loaded, process, directory, environment, names)
                for process in scenario.processes
            ),
        ],
        load=load_command(scenario.load),
        workers=_workers(scenario.load),
        seconds=_seconds(loaded),
        limit_s=scenario.duration.longest_s,
        parameters=_files(scenario, names) | {one.file: one.text for one in remote},
        network=_network(loaded),
        resources_s=scenario.resources.every_s,
        is_part=loaded.part is not None,
    )


def _files(scenario: Scenario, names: Mapping[str, str]) -> dict[str, str]:
    return {
        f"parameters/{process.name}.yaml": parameter_file(process, names)
        for process in scenario.processes
        if process.nodes
    }


def _refuse_missing_middleware(loaded: LoadedScenario, environment: Mapping[str, str]) -> None:
    rmw = environment.get("RMW_IMPLEMENTATION")
    has_nodes = any(one.nodes for one in loaded.scenario.processes)
    if rmw and has_nodes and not has_rmw(rmw, environment):
        raise ScenarioError(
            f"Cannot run scenario {loaded.name}: no prefix on AMENT_PREFIX_PATH has a lib{rmw}.so. "
            f"Install {rmw}, or set another rmw.implementation (or RMW_IMPLEMENTATION)."
        )


def _broker(
    loaded: LoadedScenario, broker: Broker | None, environment: Mapping[str, str]
) -> list[ProcessPlan]:
    """Plan what the middleware needs, but where the scenario has it among its processes."""
    own = {word for one in loaded.scenario.processes for word in (one.name, one.executable)}
    if broker is None or broker.program in own:
        return []
    why = f"Cannot run scenario {loaded.name}: its profile needs {broker.program}"
    _refuse_several_hosts(loaded, why)
    inside = Program(package=broker.package, executable=broker.program)
    path = find_program(inside, ament_prefixes(environment))
    found = path or shutil.which(broker.program, path=environment.get("PATH"))
    if found is None and not answers(broker.address):
        raise ScenarioError(
            f"{why}, which is not in lib/{broker.package} of a prefix on AMENT_PREFIX_PATH nor on "
            f"PATH, and none answers at {broker.address}. Install {broker.package}."
        )
    return [
        ProcessPlan(
            name=broker.program,
            program=broker.program,
            command=[str(found or broker.program), *broker.arguments],
            environment={
                **{name: environment.get(name) or to for name, to in broker.environment},
                **dict(broker.fixed),
            },
            placement=Placement(),
            host=None,
            ends=False,
            ready_says=None,
            ready_s=_SERVES_WITHIN_S,
            serves_at=broker.address,
        )
    ]


def _refuse_several_hosts(loaded: LoadedScenario, why: str) -> None:
    if loaded.part is not None:
        how = "its hosts are several machines"
    elif loaded.scenario.hosts():
        how = f"network.link is {loaded.scenario.network.link}"
    else:
        return
    raise ScenarioError(
        f"{why}, which serves only one host, but {how}. Choose another rmw.profile, or run it "
        "on one host (--set network.link=none)."
    )


def _network(loaded: LoadedScenario) -> Link | None:
    link = link_of(loaded.scenario)
    why = namespaces_unavailable(link) if link else None
    if why:
        raise ScenarioError(
            f"Cannot connect the hosts of scenario {loaded.name}: {why}. Run it as root on a "
            "kernel that supports this, or on one host: --set network.link=none."
        )
    return link


def link_of(scenario: Scenario) -> Link | None:
    """Give the link between the hosts that a scenario names; null when all is on this one."""
    network, hosts = scenario.network, tuple(scenario.hosts())
    if not hosts:
        return None
    return Link(hosts, **network.model_dump(exclude={"link"}))


def _seconds(loaded: LoadedScenario) -> float | None:
    """Give when the run is over; null where processes end by themselves, told `${seconds}`."""
    ends = loaded.ends or any(one.ends for one in loaded.scenario.processes)
    return None if ends else loaded.scenario.duration.seconds


def _process(
    loaded: LoadedScenario,
    process: Process,
    directory: Path,
    environment: Mapping[str, str],
    names: Mapping[str, str],
) -> ProcessPlan:
    command, program = _command(loaded.scenario, process, environment, names)
    own = {name: late(value, names) for name, value in process.environment.items() if value}
    placement = placement_of(process)
    why = refused(placement)
    if why is None and placement.lock_memory and lock_library(environment) is None:
        why = "the package memory_lock, which locks it, is not built (`make setup`)"
    if why is not None:
        raise ScenarioError(
            f"Cannot place process '{process.name}' of scenario {loaded.name}: {why}. Change its "
            "priority and cpus, or get the privilege (as root, or in /etc/security/limits.conf)."
        )
    file = directory / "parameters" / f"{process.name}.yaml"
    arguments = [late(one, names) for one in process.arguments]
    return ProcessPlan(
        name=process.name,
        program=program,
        command=[*command, *arguments, *ros_arguments(process, file)],
        environment=own,
        placement=placement,
        host=process.host if loaded.scenario.hosts() or loaded.part is not None else None,
        ends=process.ends,
        ready_says=process.ready.says if process.ready else None,
        ready_s=process.ready.within_s if process.ready else 0.0,
    )


def placement_of(process: Process) -> Placement:
    """Give the placement that a process asks for."""
    priority = process.priority
    return Placement(priority.priority, tuple(process.cpus), priority.lock_memory)


def _command(
    scenario: Scenario, process: Process, environment: Mapping[str, str], names: Mapping[str, str]
) -> tuple[list[str], str]:
    if process.command is not None:
        words = [str(late(word, names)) for word in process.command]
        found = shutil.which(words[0], path=environment.get("PATH"))
        if found is None:
            raise ScenarioError(
                f"Cannot run process '{process.name}': there is no program {words[0]}. Install it."
            )
        return [found, *words[1:]], words[0]
    prefixes = ament_prefixes(environment)
    program = chosen_program(process, scenario.variant, prefixes)
    path = find_program(program, prefixes)
    if path is None:
        step = f"Run `make setup`, or install {program.package}."
        if program in [one.program for one in process.alternatives if one.only]:
            step = f"Install {program.package}, or choose another program."
        elif program in [one.program for one in process.alternatives]:
            step = f"Build {program.package} where rclcpp is installed, or --set variant=wheels."
        raise ScenarioError(
            f"Cannot run process '{process.name}': no prefix on AMENT_PREFIX_PATH has "
            f"lib/{program.package}/{program.executable}. {step}"
        )
    return [str(path)], f"{program.package}/{program.executable}"


def _workers(load: Load) -> int:
    return load.workers or len(load.cpus) or len(os.sched_getaffinity(0))


def load_command(load: Load) -> list[str] | None:
    """Give the command that loads the machine; null for no load.

    Raises ScenarioError when stress-ng is asked for and not there, or a CPU is not usable.
    """
    if not load.any:
        return None
    why = refused(Placement(cpus=tuple(load.cpus)))
    if why:
        raise ScenarioError(f"Cannot load the machine: {why}. Change load.cpus.")
    stress = shutil.which("stress-ng") if load.generator != "own" else None
    if load.generator == "stress-ng" and stress is None:
        raise ScenarioError(
            "Cannot load the machine: stress-ng is not installed. Install it, or use "
            "load.generator own."
        )
    cpus = ",".join(map(str, load.cpus))
    workers = _workers(load)
    if stress is None:
        words = [str(load.cpu_percent), str(workers), str(load.memory_mib), load.policy]
        return [sys.executable, "-m", "strata.scenario.busy", *words, *([cpus] if cpus else [])]
    command = [stress, "--quiet"]
    if load.cpu_percent:
        command += ["--cpu", str(workers), "--cpu-load", f"{load.cpu_percent:.0f}"]
    if load.memory_mib:
        command += ["--vm", "1", "--vm-bytes", f"{load.memory_mib}M", "--vm-keep"]
    if load.policy == "idle":
        command += ["--sched", "idle"]
    return [*command, *(["--taskset", cpus] if cpus else [])]
