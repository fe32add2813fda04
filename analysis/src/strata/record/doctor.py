# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Is this machine ready to record? One check a function; each says how to mend what it finds."""

from __future__ import annotations

import contextlib
import grp
import importlib.util
import os
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from strata.errors import SessionError
from strata.record import daemon as session_daemon
from strata.record import leftovers
from strata.record.config import SessionConfig
from strata.record.dds import find_hooks, in_use, preflight
from strata.record.driver import LIBRARY as DRIVER_LIBRARY
from strata.record.host import lttng_ust_version, possible_cpus
from strata.record.kernel.events import DEFAULT_EVENTS
from strata.record.kernel.perf import plan_perf, probe
from strata.record.lttng import Lttng, tool_environment
from strata.record.preflight.preflight import Preflight
from strata.record.preload import asks_for, built_library
from strata.record.probe import offered_events
from strata.record.ros import DEFAULT_RMW, WHEELS, Ros, caller_environment, find_ros
from strata.schema.events import DDS_PROVIDER, DRIVER_PROVIDER

OK = "ok"
WARNING = "warning"
PROBLEM = "problem"

_BUFFERS = Path("/dev/shm")
_TRACING_GROUP = "tracing"
_RCLPY_PROVIDER = "python*/*-packages/rclpy_tracepoints/librclpy_provider.so"
_MIB = 1 << 20
_NAMESPACE = "pid_ns"


@dataclass(frozen=True)
class Check:
    """One finding. A `problem` keeps `strata record` from recording, a `warning` something else.

    `mend` says what to do; null when there is nothing to do.
    """

    name: str
    status: str
    found: str
    mend: str | None = None


def examine(config: SessionConfig, base: Mapping[str, str] | None = None) -> list[Check]:
    """Run every check; `config` is the session whose buffers must fit.

    Starts a session daemon for the time of the checks when none runs, to see the provider load.
    """
    environment = caller_environment(os.environ if base is None else base)
    ros, no_ros = _find_ros(environment)
    lttng = Lttng(tool_environment(environment, ros.prefixes if ros else ()))
    checks = [_tools(lttng), _userspace_tracer()]
    if checks[0].status == OK:
        checks.append(container_check(lttng, config))
        checks += _daemon_checks(lttng, ros, environment)
    checks += [_group(), no_ros or _ros(ros), *_workspace(ros)]
    checks += [_dds_hooks(ros, config), _driver_hooks(ros, config), _buffers(config)]
    return [*checks, *_readers()]


@dataclass(frozen=True)
class DdsExamined:
    """Which DDS hooks bind in the libraries that were given, else of the middleware in use.

    `others` are DDS libraries that are installed and not used.
    """

    rmw: str
    used: tuple[Preflight, ...]
    others: tuple[Preflight, ...]


def examine_dds(given: Sequence[Path] = (), base: Mapping[str, str] | None = None) -> DdsExamined:
    """Find out which DDS hooks bind in the libraries that a command would load. Nothing is run.

    `given` libraries are examined in place of those that have the same name, and count as in use.
    Raises SessionError when a given library or the table of hooks cannot be read.
    """
    environment = caller_environment(os.environ if base is None else base)
    ros, _ = _find_ros(environment)
    # Wheels whose provider is not built cannot be recorded, but their libraries can be read.
    with contextlib.suppress(SessionError):
        environment = ros.environment(environment) if ros else environment
    found = preflight(ros, environment, given)
    used, others = in_use(found, ros, environment)
    if given:
        named = {path.resolve() for path in given}
        of_given = [one for one in found if named & {one.library.resolve(), *_resolved(one)}]
        used, others = tuple(of_given), ()
    return DdsExamined(environment.get("RMW_IMPLEMENTATION") or DEFAULT_RMW, used, others)


def _resolved(found: Preflight) -> set[Path]:
    return {caller.resolve() for caller in found.callers}


def _tools(lttng: Lttng) -> Check:
    version = lttng.version()
    if version is None:
        return Check("lttng-tools", PROBLEM, "not installed", "make setup")
    if shutil.which("lttng-sessiond") is None:
        return Check("lttng-tools", PROBLEM, f"{version}, no lttng-sessiond", "make setup")
    return Check("lttng-tools", OK, version)


def container_check(lttng: Lttng, config: SessionConfig) -> Check:
    """Check for what distinguishes two containers of one host name."""
    name = "containers"
    if _NAMESPACE not in config.contexts:
        found = f"{config.name} does not record {_NAMESPACE}: processes of one id may be mixed up"
        return Check(
            name, WARNING, found, f"add {_NAMESPACE} to `contexts`, if you trace containers"
        )
    if lttng.unknown_contexts([_NAMESPACE]):
        found = f"no context {_NAMESPACE}: processes of one id in two containers are mixed up"
        return Check(name, WARNING, found, "install lttng-tools 2.12 or newer")
    return Check(name, OK, f"distinguished by the context {_NAMESPACE}")


def _userspace_tracer() -> Check:
    version = lttng_ust_version()
    if version is None:
        return Check("lttng-ust", WARNING, "version unknown", "make setup")
    return Check("lttng-ust", OK, version)


def _daemon_checks(
    lttng: Lttng, ros: Ros | None, environment: Mapping[str, str]
) -> Iterator[Check]:
    """Check what only a running session daemon can tell."""
    try:
        daemon = session_daemon.ensure(lttng)
    except SessionError as error:
        yield Check("session daemon", PROBLEM, str(error), "see the text; then strata doctor")
        return
    try:
        found = "starts and answers (none was running)" if daemon.ours else "running, answers"
        yield Check("session daemon", OK, found)
        yield _kernel(lttng)
        yield from _leftovers(lttng)
        if ros is not None:
            yield _events(ros, lttng, environment)
    finally:
        session_daemon.end(daemon, lttng, own="")


def _kernel(lttng: Lttng) -> Check:
    why_not = lttng.kernel_available()
    if why_not is None:
        return Check("kernel tracer", OK, "available")
    try:
        plan = plan_perf(DEFAULT_EVENTS, lttng.environment)
        no_perf = probe(plan, lttng.environment)
    except SessionError as error:
        no_perf = str(error)
    else:
        if no_perf is None:
            what = "context switches alone (no tracefs)" if plan.switches else "all usual events"
            found = f"no lttng-modules; perf {plan.version} records {what}"
            return Check("kernel tracer", OK, found)
    modules = Path("/lib/modules") / platform.release()
    if any(modules.rglob("lttng-tracer.ko*")):
        return Check("kernel tracer", WARNING, why_not, "run lttng-sessiond as root")
    return Check(
        "kernel tracer",
        WARNING,
        f"no lttng-modules for {platform.release()}, no perf ({no_perf}); "
        "kernel events are left out",
        "apt install lttng-modules-dkms, or linux-perf; run as root",
    )


def _leftovers(lttng: Lttng) -> Iterator[Check]:
    for session, state in leftovers.find(lttng):
        yield Check(
            "leftover session",
            WARNING,
            f"{session.name} of a killed recording, in {session.output}",
            "; ".join(leftovers.cleanup(session, state)),
        )
    pid = None if lttng.sessions() else session_daemon.orphan(lttng)
    if pid is not None:
        found = f"process {pid}, of a recording that was killed"
        yield Check("leftover session daemon", WARNING, found, f"kill {pid}")


def _events(ros: Ros, lttng: Lttng, environment: Mapping[str, str]) -> Check:
    name = "ros2 events"
    try:
        events = offered_events(lttng, ros.environment(environment))
    except SessionError as error:
        return Check(name, PROBLEM, str(error), "make setup")
    count = sum(event.startswith("ros2:") for event in events)
    if count == 0:
        return Check(
            name,
            PROBLEM,
            f"libtracetools of {ros.distro} loads, but LTTng sees none of its events",
            "make setup" if ros.kind == WHEELS else "install a tracetools built with LTTng",
        )
    return Check(name, OK, f"{count} tracepoints of {ros.distro} reach LTTng")


def _group() -> Check:
    name = "tracing group"
    if os.geteuid() == 0:
        return Check(name, OK, "root needs none")
    mend = f"sudo usermod -aG {_TRACING_GROUP} $USER, log in again"
    try:
        group = grp.getgrnam(_TRACING_GROUP)
    except KeyError:
        return Check(name, WARNING, "no such group; only kernel events need it", "make setup")
    if group.gr_gid in os.getgroups():
        return Check(name, OK, "member")
    return Check(name, WARNING, "not a member; only kernel events need it", mend)


def _find_ros(environment: Mapping[str, str]) -> tuple[Ros | None, Check | None]:
    try:
        return find_ros(environment), None
    except SessionError as error:
        return None, Check("ROS 2", PROBLEM, str(error), "make setup, or record with --no-ros")


def _ros(ros: Ros | None) -> Check:
    assert ros is not None
    return Check("ROS 2", OK, f"{ros.distro}, {ros.kind}, in {ros.prefix}")


def _workspace(ros: Ros | None) -> Iterator[Check]:
    if ros is None:
        return
    if ros.kind == WHEELS and ros.provider is None:
        yield Check("provider", PROBLEM, "tracetools_provider is not built", "make setup")
    elif ros.provider is not None:
        yield Check("provider", OK, str(ros.provider))
    if ros.rclpy_tracepoints is None:
        found = "not built: no callbacks and executor events of rclpy programs"
        yield Check("rclpy_tracepoints", WARNING, found, "make setup")
    elif not any(ros.rclpy_tracepoints.parent.glob(_RCLPY_PROVIDER)):
        found = (
            f"{ros.rclpy_tracepoints}; no lttng-ust headers when it was built: no rclpy:* events"
        )
        yield Check("rclpy_tracepoints", WARNING, found, "install liblttng-ust-dev, make setup")
    else:
        yield Check("rclpy_tracepoints", OK, str(ros.rclpy_tracepoints))


def _dds_hooks(ros: Ros | None, config: SessionConfig) -> Check:
    name = "dds_tracepoints"
    hooks = find_hooks(ros)
    if hooks is None:
        status = PROBLEM if ros and asks_for(config.ust, DDS_PROVIDER) else WARNING
        return Check(name, status, "not built: no events of the DDS layer", "make setup")
    if not hooks.guard:
        found = f"{hooks.library}; no ust_guard: programs that close all descriptors are ended"
        return Check(name, WARNING, found, "make setup")
    return Check(name, OK, str(hooks.library))


def _driver_hooks(ros: Ros | None, config: SessionConfig) -> Check:
    name = "driver_tracepoints"
    library = built_library(DRIVER_LIBRARY, ros)
    if library is None:
        status = PROBLEM if ros and asks_for(config.ust, DRIVER_PROVIDER) else WARNING
        return Check(name, status, "not built: no events of sensor drivers", "make setup")
    return Check(name, OK, str(library))


def _buffers(config: SessionConfig) -> Check:
    name = "buffers"
    needed = config.channel.memory_on(possible_cpus())
    try:
        free = shutil.disk_usage(_BUFFERS).free
    except OSError as error:
        return Check(name, PROBLEM, f"{_BUFFERS}: {error.strerror}", f"mount a tmpfs on {_BUFFERS}")
    each = "user" if config.buffers == "per-uid" else "traced process"
    found = (
        f"{config.name} takes {needed // _MIB} MiB for each {each}, "
        f"{free // _MIB} MiB free in {_BUFFERS}"
    )
    if needed > free:
        return Check(name, PROBLEM, found, "lower channel.num_subbuf, or enlarge /dev/shm")
    if needed * 4 > free:
        return Check(name, WARNING, found, "lower channel.num_subbuf, or enlarge /dev/shm")
    return Check(name, OK, found)


def _readers() -> Iterator[Check]:
    if shutil.which("babeltrace2") is None:
        yield Check("babeltrace2", WARNING, "not installed", "make setup")
    else:
        yield Check("babeltrace2", OK, "installed")
    if importlib.util.find_spec("bt2") is None:
        found = "not importable here: nothing can be analysed"
        yield Check("bt2 for Python", WARNING, found, "make setup; use .venv/bin/strata")
    else:
        yield Check("bt2 for Python", OK, "importable")
