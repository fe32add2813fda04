# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Run a scenario whose hosts are several machines, and bring the recordings together.

Each part is recorded on its machine. Those of other machines are kept in `hosts/NAME` of the
session, each a session of its own, and an analysis of the session reads them, too.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from strata import __version__
from strata.errors import ScenarioError, StrataError
from strata.record.directory import check_directory, default_directory
from strata.record.kernel.recorder import ClockOffset
from strata.record.ros import Ros
from strata.scenario.host_recordings import Brought, fetch
from strata.scenario.host_side import Request
from strata.scenario.load import LoadedScenario, scenarios_in
from strata.scenario.part import check_hosts, only_hosts
from strata.scenario.place import Placement
from strata.scenario.plan import SUBDIRECTORY, ProcessPlan, RemotePlan
from strata.scenario.remote_host import RemoteHost, Unreachable
from strata.scenario.runner import ALL_RUN
from strata.scenario.running import Finished, check_run, profile_digest, run_scenario, what_runs

_PASSED_ON = ("ROS_DOMAIN_ID", "RMW_IMPLEMENTATION")
SETS_UP_WITHIN_S = 120.0
"""How long a part may take until its processes run, in seconds, besides what they wait for."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class _Remote:
    """A part on another machine: what is asked for, and what that machine answered."""

    host: RemoteHost
    request: Request
    answer: Mapping[str, Any]

    @property
    def place(self) -> str:
        """Name its directory, for people."""
        return f"{self.host.address}:{self.answer['directory']}"


def run_on_machines(
    loaded: LoadedScenario,
    remotes: Sequence[RemoteHost],
    *,
    directory: Path | None = None,
    force: bool = False,
    traced: bool = True,
    session: str | None = None,
    kernel: bool = False,
    ros: Ros,
    clock_offset: ClockOffset = lambda _: None,
    say: Say = lambda _: None,
) -> Finished:
    """Run a scenario with some hosts on other machines, the rest on this one.

    The other arguments are those of `run_scenario`. The remote parts begin first, and this one
    when their processes run; they end after it, unless all processes that end by themselves have.

    Raises ScenarioError for a machine that cannot be reached, has another Strata or middleware, or
    cannot run its part. A recording that could not be brought here is one of the `problems`.
    """
    target = (directory or default_directory(loaded.name)).absolute()
    check_directory(target, force=force)
    here = _part_here(loaded, remotes)
    check_run(here, ros=ros)
    asked = [_ask(loaded, one, session, kernel=kernel, traced=traced) for one in remotes]
    _compare(here, asked, ros, say)
    finished = run_scenario(
        here,
        directory=target,
        force=force,
        traced=traced and bool(here.scenario.processes),
        session=session,
        kernel=kernel,
        ros=ros,
        clock_offset=clock_offset,
        remote=[_planned(loaded, one, target) for one in asked],
        say=say,
    )
    return _brought_together(finished, asked, target, say)


def check_on_machines(
    loaded: LoadedScenario,
    remotes: Sequence[RemoteHost],
    *,
    ros: Ros,
    base: Mapping[str, str] | None = None,
) -> None:
    """Raise what `run_on_machines` would raise of this machine; the others are not asked."""
    check_run(_part_here(loaded, remotes), ros=ros, base=base)


def introduced(remote: RemoteHost, action: str = "introduce") -> dict[str, Any]:
    """Ask a machine who it is.

    Raises ScenarioError when it cannot be reached, or has another version of Strata.
    """
    try:
        answer = remote.ask(action, {})
    except Unreachable as error:
        raise ScenarioError(f"Cannot use {error}.") from error
    _refuse_other_version(remote, answer)
    return answer


def _part_here(loaded: LoadedScenario, remotes: Sequence[RemoteHost]) -> LoadedScenario:
    names = [one.name for one in remotes]
    check_hosts(loaded, names, "--host")
    return only_hosts(loaded, set(loaded.scenario.named_hosts()) - set(names))


def _ask(
    loaded: LoadedScenario,
    remote: RemoteHost,
    session: str | None,
    *,
    kernel: bool,
    traced: bool,
) -> _Remote:
    request = Request(
        run=secrets.token_hex(8),
        host=remote.name,
        scenario=loaded.name,
        file=f"{loaded.name}{loaded.file.suffix}",
        files=_files(loaded),
        changes={key: text for key, text in loaded.changes.items() if key != "duration"},
        duration=loaded.changes.get("duration"),
        session=session,
        kernel=kernel,
        traced=traced,
        variables={name: os.environ[name] for name in _PASSED_ON if os.environ.get(name)},
    )
    try:
        answer = remote.ask("check", asdict(request))
    except Unreachable as error:
        raise ScenarioError(
            f"Cannot run scenario {loaded.name}: {str(error).rstrip('.')}."
        ) from error
    _refuse_other_version(remote, answer)
    return _Remote(remote, request, answer)


def _files(loaded: LoadedScenario) -> dict[str, str]:
    """Read the files that a scenario is made of, and a profile beside it, by name.

    A file that was named by a symbolic link has that name, too: it is the scenario's.
    """
    paths = [Path(path) for path in loaded.read]
    profile = loaded.scenario.rmw.profile
    if profile is not None and (beside := loaded.file.parent / profile).is_file():
        paths.append(beside)
    texts = {path.name: path.read_text(encoding="utf-8") for path in paths}
    if loaded.name not in scenarios_in(loaded.file):
        texts[f"{loaded.name}{loaded.file.suffix}"] = texts[loaded.file.name]
    return texts


def _refuse_other_version(remote: RemoteHost, answer: Mapping[str, Any]) -> None:
    if answer.get("strata") != __version__:
        raise ScenarioError(
            f"Cannot use {remote.title}: it has Strata {answer.get('strata')}, and this machine "
            f"has {__version__}. Install the same version on both."
        )


def _compare(here: LoadedScenario, asked: Sequence[_Remote], ros: Ros, say: Say) -> None:
    for one in asked:
        there = one.answer.get("ros")
        if there != ros.distro:
            say(f"{one.host.title} has ROS 2 {there}, and this machine {ros.distro}")
        own = profile_digest(here)
        if one.answer.get("profile") != own:
            raise ScenarioError(
                f"Cannot use {one.host.title}: its profile {here.scenario.rmw.profile} is not "
                "that of this machine. Install the same version of Strata on both."
            )
    _compare_programs(what_runs(here, ros=ros), asked, say)


def _compare_programs(own: Mapping[str, Any], asked: Sequence[_Remote], say: Say) -> None:
    """Compare what each machine has chosen by itself: the middleware, C++ or Python.

    Raises ScenarioError for several middlewares, which do not serve each other in all; what C++
    and Python cost differs, so that is said.
    """
    sides = [
        ("this machine", own),
        *((one.host.title, one.answer.get("runs") or {}) for one in asked),
    ]
    rmw = {title: side["rmw"] for title, side in sides if side.get("rmw")}
    if len(set(rmw.values())) > 1:
        told = ", ".join(f"{name} on {title}" for title, name in rmw.items())
        raise ScenarioError(
            f"Cannot run nodes with several middlewares: {told}. Use --set rmw.implementation=NAME "
            "for one on all."
        )
    chosen = {title: side["libraries"] for title, side in sides if side.get("libraries")}
    if len({tuple(libraries) for libraries in chosen.values()}) > 1:
        told = ", ".join(f"{' and '.join(found)} on {title}" for title, found in chosen.items())
        say(
            f"warning: the machines run programs of several variants: {told}. Use --set "
            "variant=wheels (or cpp) for the same on all"
        )


def _planned(loaded: LoadedScenario, remote: _Remote, target: Path) -> RemotePlan:
    part = only_hosts(loaded, [remote.host.name]).scenario
    file = f"remote/{remote.host.name}.json"
    ready_s = sum(one.ready.within_s for one in part.processes if one.ready)
    command = [sys.executable, "-m", "strata.scenario.remote_part"]
    process = ProcessPlan(
        name=f"host_{remote.host.name}",
        program="ssh",
        command=[*command, str(target / SUBDIRECTORY / file)],
        environment={},
        placement=Placement(),
        host=remote.host.name,
        ends=any(one.ends for one in part.processes),
        ready_says=ALL_RUN,
        ready_s=SETS_UP_WITHIN_S + ready_s,
        is_remote=True,
    )
    document = {"host": remote.host.as_json(), "request": asdict(remote.request)}
    about = {
        "host": remote.host.name,
        "address": remote.host.address,
        "directory_there": remote.answer["directory"],
        "machine": remote.answer.get("host"),
        "strata": remote.answer.get("strata"),
        "runs": remote.answer.get("runs"),
    }
    return RemotePlan(process, file, json.dumps(document, indent=1) + "\n", about)


def _brought_together(
    finished: Finished, asked: Sequence[_Remote], target: Path, say: Say
) -> Finished:
    directory = finished.recording.directory if finished.recording else target
    if directory is None:
        return finished
    unmet, problems = list(finished.unmet), []
    for one in asked:
        try:
            brought: Brought = fetch(one.host, one.request, directory)
        except (Unreachable, StrataError) as error:
            fact = str(error).rstrip(".")
            problems.append(
                f"the recording of host {one.host.name} is not here: {fact}. If it is in "
                f"{one.place}, copy it and add it with `strata add-host {directory} COPY`"
            )
            continue
        say(f"the recording of {one.host.title} is in {brought.directory}")
        unmet += brought.unmet
        problems += brought.problems
    return replace(finished, unmet=unmet, problems=tuple(problems))
