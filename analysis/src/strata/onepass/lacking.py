# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a trace may hold that the engine has no machine for yet."""

from __future__ import annotations

import numpy as np

from strata.model.columns import NONE
from strata.onepass.tables import EngineTables


def lacks(tables: EngineTables) -> str | None:
    """Say what a trace holds that the engine has no machine for; None where it has all."""
    counts = tables.engine.counts
    if not any(name.startswith("ros2:") for name in counts):
        return "any event of ros2"
    for name in counts:
        if name == "" or name in _WITHOUT_MACHINE:
            return name or "an event of no known provider"
    inits = tables.engine.inits()
    contexts = inits.get("ros2:rcl_init")
    if contexts is not None and len(np.unique(contexts["process"])) < len(contexts["process"]):
        return "several contexts in a process"
    if (tables.rows["processes"]["pid_ns"] != NONE).any():
        spaces = tables.rows["processes"]
        keys = set(zip(spaces["host"].tolist(), spaces["vpid"].tolist(), strict=True))
        if len(keys) < len(spaces["vpid"]):
            return "several namespaces of process ids"
    if tables.size("samples") and (
        inits.get("ros2:rcl_client_init") is not None or _has_service_traffic(tables)
    ):
        return "calls of services that only the middleware's events show"
    stamps = tables.rows["publishes"]["stamp"]
    if (stamps[tables.rows["publishes"]["of_application"] == 1] <= 0).any():
        return "publications without a stamp"
    return None


_WITHOUT_MACHINE = frozenset(
    {
        "ros2:rmw_take_request",
        "ros2:rmw_send_response",
        "ros2:rmw_send_request",
        "ros2:rmw_take_response",
    }
)


def _has_service_traffic(tables: EngineTables) -> bool:
    """Tell whether any sample is of a writer of a service."""
    kept = tables.engine.inits().get("dds:create_writer")
    if kept is None:
        return False
    runs, used = tables.engine.bytes, set(tables.rows["samples"]["writer"].tolist())
    used_writers = {runs[number] for number in used if number != NONE}
    for topic, prefix, entity in zip(
        tables.words(kept["topic_name"]),
        kept["gid_prefix"].tolist(),
        kept["gid_entity"].tolist(),
        strict=True,
    ):
        of_service = str(topic).startswith(("rq/", "rr/"))
        if (
            of_service
            and NONE not in (prefix, entity)
            and runs[prefix] + runs[entity] in used_writers
        ):
            return True
    return False
