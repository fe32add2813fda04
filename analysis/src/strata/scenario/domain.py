# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One scenario at a time in a ROS domain of a machine: nodes of two would hear each other."""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from strata.errors import ScenarioError


@contextlib.contextmanager
def domain_held(
    name: str, environment: Mapping[str, str], part: Sequence[str] | None = None
) -> Iterator[None]:
    """Hold the domain of `environment` for the scenario of that name.

    Of a part, which has these hosts, each is held: the other parts may run on this machine, too.
    The kernel keeps it, as an abstract socket, until this process and the runner that inherits it
    have ended, however they do. Raises ScenarioError when another run holds it.
    """
    domain = environment.get("ROS_DOMAIN_ID") or "0"
    whole = f"strata-scenario-domain-{domain}"
    wanted = [whole] if part is None else [f"{whole}-host-{host}" for host in part]
    other = _is_held(f"{whole}-host-", exact=False) if part is None else _is_held(whole, exact=True)
    with contextlib.ExitStack() as opened:
        if other or not all(_hold(own, opened) for own in wanted):
            raise ScenarioError(
                f"Cannot run scenario {name}: another one is running on this machine in ROS "
                f"domain {domain}, and their nodes would discover each other. Wait until it "
                "ends, or set another ROS_DOMAIN_ID."
            )
        yield


def _hold(name: str, opened: contextlib.ExitStack) -> bool:
    """Hold an abstract socket of this name; false when another one does."""
    held = opened.enter_context(socket.socket(socket.AF_UNIX))
    try:
        held.bind(f"\0{name}")
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    held.set_inheritable(True)
    return True


def _is_held(name: str, *, exact: bool) -> bool:
    """Tell whether there is an abstract socket of this name, or one that begins with it."""
    try:
        lines = Path("/proc/net/unix").read_text().splitlines()
    except OSError:
        return False
    # The last of its words, when it has one.
    names = (line.rpartition(" ")[2].removeprefix("@") for line in lines)
    return any(one == name if exact else one.startswith(name) for one in names)
