# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes of a recording are killed, stopped or asked to end, at any moment of its life."""

from __future__ import annotations

import contextlib
import os
import signal
import time

from processes import CONSUMER, SAMPLER, SESSION_DAEMON, WATCHDOG
from trial import RECORDING, SET_UP, STOPPING, Trial
from workloads import Chain

from kinds.kind import Kind

_LOSSY = (SESSION_DAEMON, CONSUMER)
_ROLES = (SESSION_DAEMON, CONSUMER, WATCHDOG, SAMPLER)
_LONGEST_STOP_S = 3.0


def _recorder(trial: Trial) -> None:
    trial.await_moment()
    trial.kill_recorder()


def _group(trial: Trial) -> None:
    trial.await_moment()
    trial.kill_recorder(group=True)


def _session_daemon(trial: Trial) -> None:
    trial.await_moment()
    kill_lossy(trial, SESSION_DAEMON)


def _consumer(trial: Trial) -> None:
    trial.await_moment()
    kill_lossy(trial, CONSUMER)


def _watchdog(trial: Trial) -> None:
    trial.await_moment()
    kill_lossy(trial, WATCHDOG)


def _sampler(trial: Trial) -> None:
    trial.await_moment()
    kill_lossy(trial, SAMPLER)


def _program(trial: Trial) -> None:
    trial.await_moment(RECORDING)
    if trial.signal_program(signal.SIGKILL):
        trial.harmed_by = signal.SIGKILL


def _several(trial: Trial) -> None:
    trial.await_moment()
    roles = trial.chance.sample(_ROLES, 2)
    if trial.chance.random() < 0.5:
        trial.kill_recorder()
        roles.pop()
    for role in roles:
        kill_lossy(trial, role)


def kill_lossy(trial: Trial, role: str) -> None:
    """Kill a process; events may be lost from then on when it is one of LTTng's daemons."""
    before_ns = time.monotonic_ns()
    if not trial.signal_role(role, signal.SIGKILL):
        return
    if role == WATCHDOG:
        trial.watchdog_killed = True
    if role in _LOSSY and trial.lossy_from_ns is None:
        trial.lossy_from_ns = before_ns


def _asked(trial: Trial) -> None:
    signum = trial.chance.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    trial.await_moment()
    phase = trial.phase
    with contextlib.suppress(ProcessLookupError):
        os.kill(trial.recorder, signum)
    trial.note(f"{signum.name} strata", phase)
    if phase != SET_UP:
        trial.harmed_by = signum


def _stopped_for_a_while(trial: Trial) -> None:
    trial.await_moment(RECORDING, STOPPING)
    if trial.signal_role(CONSUMER, signal.SIGSTOP):
        time.sleep(trial.chance.uniform(0.1, _LONGEST_STOP_S))
        trial.signal_role(CONSUMER, signal.SIGCONT)


def _ros(trial: Trial) -> None:
    trial.await_moment(RECORDING, STOPPING)
    if trial.chance.random() < 0.3:
        trial.kill_recorder()
    else:
        kill_lossy(trial, trial.chance.choice(_LOSSY))


def _chain(trial: Trial) -> None:
    trial.workload = Chain(trial.place, trial.chance)
    trial.environment["ROS_DOMAIN_ID"] = str(trial.chance.randint(1, 100))
    trial.environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"


KINDS = (
    Kind("healthy", "nothing is done"),
    Kind("kill-strata", "kill -9 of the recorder", _recorder, weight=4),
    Kind("kill-group", "kill -9 of the recorder's process group", _group, weight=2),
    Kind("kill-sessiond", "kill -9 of the session daemon", _session_daemon, weight=3),
    Kind("kill-consumerd", "kill -9 of the consumer daemon", _consumer, weight=3),
    Kind("kill-watchdog", "kill -9 of the watchdog", _watchdog),
    Kind("kill-sampler", "kill -9 of the sampler of threads", _sampler),
    Kind("kill-command", "kill -9 of the recorded program", _program),
    Kind("kill-several", "kill -9 of two at once", _several, weight=2),
    Kind("signal", "SIGTERM, SIGINT or SIGHUP to the recorder", _asked, weight=2),
    Kind("stop-consumerd", "the consumer daemon is stopped for up to 3 s", _stopped_for_a_while),
    Kind("ros", "kill -9 while a chain of ROS 2 nodes is recorded", _ros, _chain, weight=2),
)
