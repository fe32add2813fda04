# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The part of a scenario that runs on one machine, where its hosts are several machines."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from strata.errors import ScenarioError
from strata.scenario.load import LoadedScenario
from strata.scenario.model import Network


def check_hosts(loaded: LoadedScenario, names: Collection[str], option: str) -> None:
    """Raise ScenarioError where a scenario cannot be on several machines, or not on these hosts.

    Every process must have a host, and each of the names must be one.
    """
    known = loaded.scenario.named_hosts()
    why = f"Cannot use {option} with scenario {loaded.name}"
    for process in loaded.scenario.processes:
        if process.host is None:
            raise ScenarioError(
                f"{why}: its process {process.name} has no host. Give each process a host."
            )
    for name in names:
        if name not in known:
            raise ScenarioError(f"{why}: it has no host {name}. Name one of {', '.join(known)}.")


def only_hosts(loaded: LoadedScenario, names: Collection[str]) -> LoadedScenario:
    """Return the part of a scenario whose processes are on these hosts, without a link of its own.

    It expects only what its own processes say: files of results are on one of the machines, and
    nobody says on which.
    """
    scenario = loaded.scenario
    processes = [one for one in scenario.processes if one.host in names]
    own = {one.name for one in processes}
    # Not validated again: a part may be without a process that ends, or without any.
    part = scenario.model_copy(
        update={
            "processes": processes,
            "network": Network(),
            "expected": [one for one in scenario.expected if one.process in own],
        }
    )
    return replace(
        loaded,
        scenario=part,
        part=tuple(name for name in scenario.named_hosts() if name in names),
        ends=any(one.ends for one in scenario.processes),
    )
