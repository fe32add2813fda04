# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One scenario at a time in a ROS domain of a machine: nodes of two would hear each other."""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Iterator, Mapping

from strata.errors import ScenarioError


@contextlib.contextmanager
def domain_held(name: str, environment: Mapping[str, str]) -> Iterator[None]:
    """Hold the domain of `environment` for the scenario of that name.

    The kernel keeps it, as an abstract socket, until this process and the runner that inherits it
    have ended, however they do. Raises ScenarioError when another run holds it.
    """
    domain = environment.get("ROS_DOMAIN_ID") or "0"
    with socket.socket(socket.AF_UNIX) as held:
        try:
            held.bind(f"\0strata-scenario-domain-{domain}")
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise ScenarioError(
                f"Cannot run scenario {name}: another one is running on this machine in ROS "
                f"domain {domain}, and their nodes would discover each other. Wait until it "
                "ends, or set another ROS_DOMAIN_ID."
            ) from error
        held.set_inheritable(True)
        yield
