# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Run a scenario, inside a recording session or without one, and check what came of it."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.errors import ScenarioError
from strata.masking import mask_command, mask_document, mask_text
from strata.record.command import Command, End, held_signals
from strata.record.config import load_config
from strata.record.directory import (
    check_directory,
    clear_directory,
    default_directory,
    write_text,
)
from strata.record.host import describe_host, relevant_environment
from strata.record.kernel.recorder import ClockOffset
from strata.record.manifest import SCHEMA, Manifest, describe_ros
from strata.record.plan import Attachment
from strata.record.profiles import RmwProfile, load_profile
from strata.record.recording import Recording, record
from strata.record.ros import DEFAULT_RMW, Ros, ament_prefixes, caller_environment
from strata.scenario.domain import domain_held
from strata.scenario.load import LoadedScenario
from strata.scenario.plan import (
    OUTCOME,
    PLAN,
    RESULTS,
    SUBDIRECTORY,
    RemotePlan,
    RunPlan,
    chosen_program,
    plan_run,
)

_RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
_BEYOND_THIS_HOST = ("SUBNET", "SYSTEM_DEFAULT")
_RMW = "RMW_IMPLEMENTATION"


@dataclass(frozen=True)
class Finished:
    """A scenario that ran. `recording` is null without tracing; `unmet` says what was expected.

    `problems` say what is missing of the recordings on other machines.
    """

    directory: Path
    end: End
    recording: Recording | None
    unmet: list[str]
    problems: tuple[str, ...] = ()


def run_scenario(
    loaded: LoadedScenario,
    *,
    directory: Path | None = None,
    force: bool = False,
    traced: bool = True,
    session: str | None = None,
    kernel: bool = False,
    ros: Ros,
    base: Mapping[str, str] | None = None,
    clock_offset: ClockOffset = lambda _: None,
    remote: Sequence[RemotePlan] = (),
    say: Callable[[str], None] = lambda _: None,
) -> Finished:
    """Run a scenario and return how it went; its files are below `scenario/` of the directory.

    `directory` defaults to `sessions/<utc>_<scenario>`; `session` names another configuration
    than the scenario's. `remote` stands for its parts on other machines. The other arguments are
    those of `strata.record.recording.record`, and the same holds of threads and signals.

    Raises ScenarioError, SessionError or OutputError when nothing could be run.
    """
    target = (directory or default_directory(loaded.name)).absolute()
    caller, profile, environment = _surroundings(loaded, ros, base)
    broker = profile.broker if profile else None
    plan = plan_run(loaded, target / SUBDIRECTORY, environment, broker, remote)
    command = [sys.executable, "-m", "strata.scenario.runner", str(plan.directory / PLAN)]
    attachment = Attachment(
        prepare=lambda _: prepare(loaded, plan),
        describe=lambda _: {
            "scenario": describe_run(loaded, plan)
            | ({"remote": [one.about for one in remote]} if remote else {})
        },
    )
    with domain_held(loaded.name, environment, loaded.part):
        if traced:
            recording = record(
                load_config(session or loaded.scenario.session),
                command,
                directory=target,
                name=loaded.name,
                force=force,
                ros=ros,
                base=caller,
                rmw_profile=profile,
                kernel=kernel,
                clock_offset=clock_offset,
                attachment=attachment,
                named_only=loaded.part is not None,
                say=say,
            )
            end = recording.end
        else:
            recording = None
            end = _run_untraced(target, force, command, environment, ros, profile, attachment, say)
    unmet = [check["text"] for check in check_expected(loaded, plan.directory) if not check["met"]]
    return Finished(target, end, recording, unmet)


def check_run(loaded: LoadedScenario, *, ros: Ros, base: Mapping[str, str] | None = None) -> None:
    """Raise what `run_scenario` would raise for this machine, before anything runs.

    That is ScenarioError or SessionError: for what is not installed, allowed or fitting.
    """
    _, profile, environment = _surroundings(loaded, ros, base)
    broker = profile.broker if profile else None
    plan_run(loaded, Path(SUBDIRECTORY).absolute(), environment, broker)


def what_runs(
    loaded: LoadedScenario, *, ros: Ros, base: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Give what `run_scenario` would run on this machine, where that is for it to choose.

    `rmw` is the middleware of its nodes, null without any. `programs` has the program of each
    process that could be in C++ or in Python, `libraries` those two that are chosen: cpp, wheels.
    """
    _, _, environment = _surroundings(loaded, ros, base)
    scenario, prefixes = loaded.scenario, ament_prefixes(environment)
    programs, libraries = {}, set()
    for process in scenario.processes:
        possible = [one for one in process.alternatives if one.is_possible and not one.only]
        if process.command is None and possible:
            program = chosen_program(process, scenario.variant, prefixes)
            programs[process.name] = f"{program.package}/{program.executable}"
            is_cpp = program in [one.program for one in possible]
            libraries.add("cpp" if is_cpp else "wheels")
    has_nodes = any(process.nodes for process in scenario.processes)
    rmw = (environment.get(_RMW) or DEFAULT_RMW) if has_nodes else None
    return {"rmw": rmw, "programs": programs, "libraries": sorted(libraries)}


def _surroundings(
    loaded: LoadedScenario, ros: Ros, base: Mapping[str, str] | None
) -> tuple[dict[str, str], RmwProfile | None, dict[str, str]]:
    """Give the caller's environment with what the scenario states, its profile, and the nodes'."""
    caller = caller_environment(os.environ if base is None else base)
    caller |= _stated_variables(loaded, caller)
    profile = _profile(loaded)
    environment = ros.environment(caller)
    if profile:
        environment = profile.environment(environment, ros)
    return caller, profile, environment


def rmw_variables(loaded: LoadedScenario, environment: Mapping[str, str]) -> dict[str, str]:
    """Give the variables that make a scenario's middleware what it says, profile included."""
    made = {**environment, **_stated_variables(loaded, environment)}
    profile = _profile(loaded)
    if profile:
        made = profile.environment(made, None)
    return {name: value for name, value in made.items() if environment.get(name) != value}


def _stated_variables(loaded: LoadedScenario, environment: Mapping[str, str]) -> dict[str, str]:
    """Give what the scenario says of the middleware beside a profile."""
    rmw, made = loaded.scenario.rmw, {}
    stated = environment.get(_RMW)
    if rmw.implementation:
        if stated and stated != rmw.implementation:
            raise ScenarioError(
                f"Cannot run scenario {loaded.name}: it is for {rmw.implementation}, but {_RMW} "
                f"is {stated}. Unset {_RMW}, or use --set rmw.implementation={stated}."
            )
        made[_RMW] = rmw.implementation
    if loaded.scenario.hosts() or loaded.part is not None:
        stated = environment.get(_RANGE)
        if stated not in (None, "", *_BEYOND_THIS_HOST):
            raise ScenarioError(
                f"Cannot run scenario {loaded.name}: its processes are on several hosts, but "
                f"{_RANGE} is {stated}, which prevents discovery between them. Unset it."
            )
        made[_RANGE] = stated or _BEYOND_THIS_HOST[0]
    elif not rmw.profile and _RANGE not in environment:
        made[_RANGE] = "LOCALHOST"
    return made


def _profile(loaded: LoadedScenario) -> RmwProfile | None:
    name = loaded.scenario.rmw.profile
    if name is None:
        return None
    beside = loaded.file.parent / name
    return load_profile(str(beside) if beside.is_file() else name)


def part_problem(directory: Path) -> str | None:
    """Give why the part of a run on another machine failed; null when none did."""
    try:
        outcome = json.loads((directory / SUBDIRECTORY / OUTCOME).read_text())
    except (OSError, ValueError):
        return None
    failed = any(one["failed"] for one in outcome.get("remote", ()))
    return outcome["problems"][0] if failed and outcome["problems"] else None


def profile_digest(loaded: LoadedScenario) -> str | None:
    """Give the SHA-256 of the file of a scenario's profile; null without one.

    Raises SessionError.
    """
    profile = _profile(loaded)
    return profile.sha256 if profile else None


def prepare(loaded: LoadedScenario, plan: RunPlan) -> None:
    """Write what the run needs, and what it was made of, into the session's directory.

    The plan may hold secrets until the run is over: others cannot read the directory.
    """
    plan.directory.mkdir(mode=0o750, parents=True, exist_ok=True)
    for name, text in plan.parameters.items():
        path = plan.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (plan.directory / RESULTS).mkdir(parents=True, exist_ok=True)
    text = loaded.file.read_text(encoding="utf-8")
    write_text(plan.directory / loaded.file.name, mask_text(text))
    write_text(plan.directory / PLAN, json.dumps(plan.as_json(), indent=1) + "\n")


def describe_run(loaded: LoadedScenario, plan: RunPlan) -> dict[str, Any]:
    """Describe a scenario and what came of it, for the manifest; secrets are masked.

    The plan, which nobody needs any more, loses its own.
    """
    masked = mask_document(plan.as_json())
    write_text(plan.directory / PLAN, json.dumps(masked, indent=1) + "\n")
    outcome: dict[str, Any] = {}
    path = plan.directory / OUTCOME
    if path.is_file():
        outcome = json.loads(path.read_text())
    return {
        "name": loaded.name,
        "file": str(loaded.file),
        "read": loaded.read,
        "changes": mask_document(loaded.changes),
        "part": loaded.part and list(loaded.part),
        **mask_document(loaded.scenario.document()),
        "outcome": outcome,
        "checks": check_expected(loaded, plan.directory),
    }


def check_expected(loaded: LoadedScenario, directory: Path) -> list[dict[str, Any]]:
    """Check what the scenario expects: each with its text and whether it is met."""
    out = []
    for check in loaded.scenario.expected:
        if check.says is not None:
            text = f"{check.process} says '{check.says}'"
            log = directory / "logs" / f"{check.process}.log"
            said = log.read_text(errors="replace") if log.is_file() else ""
            met = re.search(check.says, said) is not None
        else:
            text = f"there is a file {check.file}"
            met = (directory / RESULTS / str(check.file)).is_file()
        out.append({"text": text, "met": met})
    return out


def _run_untraced(
    target: Path,
    force: bool,
    command: list[str],
    environment: dict[str, str],
    ros: Ros,
    profile: RmwProfile | None,
    attachment: Attachment,
    say: Callable[[str], None],
) -> End:
    """Run the command without a session, with a manifest that says so."""
    check_directory(target, force=force)
    manifest = Manifest(target)
    manifest.content = {
        "schema": SCHEMA,
        "session": None,
        "host": describe_host(),
        "ros": describe_ros(ros, environment),
        "rmw_profile": profile.as_json(environment, ros) if profile else None,
        "command": {"line": mask_command(command), "cwd": str(Path.cwd()), "uid": os.getuid()},
        "environment": relevant_environment(environment),
    }
    with held_signals():
        for path in clear_directory(target):
            say(f"removed {path}")
        attachment.prepare(target)
        say(f"running into {target} (no session: nothing is traced)")
        manifest.begin()
        child = Command(command[0], command, environment)
        try:
            end = child.wait()
        except BaseException:
            child.kill()
            raise
        manifest.end(end)
        manifest.content |= attachment.describe(target)
        manifest.write()
    return end
