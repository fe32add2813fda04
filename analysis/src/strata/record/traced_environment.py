# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The environment in which programs can be traced: ROS 2's, and what is preloaded into them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from strata.record.config import DRIVER_PORTS, SessionConfig
from strata.record.dds import Dds, find_hooks, plan_dds
from strata.record.driver import LIBRARY as DRIVER_LIBRARY
from strata.record.driver import Driver, plan_driver
from strata.record.guard import preload
from strata.record.preload import asks_for, built_library, guards_beside
from strata.record.profiles import RmwProfile
from strata.record.ros import STATEDUMP, Ros
from strata.schema.events import DDS_PROVIDER, DRIVER_PROVIDER

_NO_STATEDUMP = (
    f"entities are announced once only: {STATEDUMP} is not built, so recordings that attach later "
    "have no names (`make setup`)"
)
_NO_HOOKS = "no DDS events: their hooks are not built (`make setup`)"


@dataclass(frozen=True)
class TracedEnvironment:
    """The variables, and what they preload: null for what is not asked for."""

    variables: dict[str, str]
    dds: Dds | None
    driver: Driver | None
    lacks: tuple[str, ...] = ()
    """What else is missing, in words."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Give what the user should know: hooks that do not bind, libraries that are not built."""
        layers = (self.dds, self.driver)
        return (*self.lacks, *(remark for layer in layers if layer for remark in layer.remarks))


def traced_environment(
    caller: Mapping[str, str],
    ros: Ros | None,
    events: Sequence[str],
    driver_ports: Sequence[int],
    rmw_profile: RmwProfile | None,
) -> TracedEnvironment:
    """Make the environment in which programs emit `events`, patterns as a configuration has them.

    `caller` is what the caller has; `ros` null adds no ROS 2. Raises SessionError when a library
    that the events need is not built for this ROS 2, or the profile does not fit.
    """
    variables = ros.environment(caller) if ros else dict(caller)
    if rmw_profile:
        variables = rmw_profile.environment(variables, ros)
    dds = plan_dds(ros, variables) if asks_for(events, DDS_PROVIDER) else None
    if dds and dds.hooks:
        variables = dds.hooks.preload(variables)
    driver = plan_driver(ros, driver_ports) if asks_for(events, DRIVER_PROVIDER) else None
    if driver:
        variables = driver.preload(variables)
    return TracedEnvironment(variables, dds, driver)


def configured_environment(
    caller: Mapping[str, str],
    ros: Ros | None,
    config: SessionConfig,
    rmw_profile: RmwProfile | None = None,
) -> TracedEnvironment:
    """Make the environment that the events of a configuration need. Raises SessionError."""
    return traced_environment(caller, ros, config.ust, config.driver_ports, rmw_profile)


def fullest_environment(
    caller: Mapping[str, str], ros: Ros | None, rmw_profile: RmwProfile | None = None
) -> TracedEnvironment:
    """Make the environment with every hook that is built, and fits the middleware in use.

    Programs in it can be recorded with any configuration. Of a middleware without a ROS 2 nothing
    is known, so its hooks are preloaded. Raises SessionError.
    """
    driver = [f"{DRIVER_PROVIDER}:*"] if built_library(DRIVER_LIBRARY, ros) else []
    if find_hooks(ros) is None:
        plain = traced_environment(caller, ros, driver, DRIVER_PORTS, rmw_profile)
        return replace(plain, dds=Dds(None, (), (_NO_HOOKS,)))
    events = [f"{DDS_PROVIDER}:*", *driver]
    whole = traced_environment(caller, ros, events, DRIVER_PORTS, rmw_profile)
    if ros is None or whole.dds is None or whole.dds.bound:
        return whole
    plain = traced_environment(caller, ros, driver, DRIVER_PORTS, rmw_profile)
    return replace(plain, dds=replace(whole.dds, hooks=None))


def announcing(made: TracedEnvironment, ros: Ros | None) -> TracedEnvironment:
    """Have programs announce their entities again when a session starts, without a ROS 2 too."""
    statedump = built_library(STATEDUMP, ros)
    if statedump is None:
        return replace(made, lacks=(_NO_STATEDUMP,))
    variables = dict(made.variables)
    if str(statedump) not in variables.get("LD_PRELOAD", "").split(":"):
        preload(variables, [statedump, *guards_beside(statedump, STATEDUMP, ros)])
    return replace(made, variables=variables)
