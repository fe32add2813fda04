# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What nodes are called where nodes of several processes stand beside each other."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, Ints, Processes
from strata.model.entities import UNKNOWN, Callbacks, Entities, Nodes, take

_LABEL = re.compile(r"(.*) \((?:.* )?pid (\d+)\)", re.DOTALL)


def node_labels(nodes: Nodes, processes: Processes) -> npt.NDArray[np.object_]:
    """Return one label a node: its name, with its process where others have the name too.

    Two processes of one name are two runs, or the same run in two ROS domains: their messages are
    never put together. A node that is made again in its process keeps its label. With
    `processes.always_named` all have it, so that windows of a recording call a node the same.
    """
    vpid, host = processes.vpid[nodes.process], np.asarray(processes.host, object)[nodes.process]
    of_name: dict[str, set[int]] = {}
    for name, process in zip(nodes.name, nodes.process.tolist(), strict=True):
        of_name.setdefault(name, set()).add(process)
    shared = [processes.always_named or len(of_name[name]) > 1 for name in nodes.name]
    many = len(set(processes.host)) > 1
    labels = nodes.name.copy()
    for row in np.flatnonzero(shared):
        place = f"{host[row]} pid {vpid[row]}" if many else f"pid {vpid[row]}"
        labels[row] = f"{nodes.name[row]} ({place})"
    return labels


def label_parts(label: str) -> tuple[str, int] | None:
    """Return name and process id of a node's label that has both, else null."""
    match = _LABEL.fullmatch(label)
    return None if match is None else (match[1], int(match[2]))


def owner_names(
    nodes: Nodes, processes: Processes, node: Ints, process: Ints, handle: Ints
) -> npt.NDArray[np.object_]:
    """Return what the nodes of endpoints are called, one row an endpoint.

    An endpoint without a node is named by its process and rmw handle, so that two are never one;
    without these (`NONE`), too, it is `UNKNOWN`.
    """
    names = take(node_labels(nodes, processes), node, UNKNOWN)
    nameless = np.flatnonzero((node == NONE) & (process != NONE))
    names[nameless] = [
        f"(unknown {vpid}/{address:#x})"
        for vpid, address in zip(processes.vpid[process[nameless]], handle[nameless], strict=True)
    ]
    return names


def subscription_places(entities: Entities, rows: Ints) -> npt.NDArray[np.object_]:
    """Name subscriptions by topic and node, for findings; empty for `NONE`."""
    subscriptions = entities.subscriptions
    nodes = take(entities.nodes.name, subscriptions.node, UNKNOWN)
    names = np.asarray(
        [f"{topic} at {node}" for topic, node in zip(subscriptions.topic, nodes, strict=True)],
        dtype=object,
    )
    return take(names, rows, "")


def callback_places(callbacks: Callbacks, rows: Ints) -> npt.NDArray[np.object_]:
    """Name callbacks by what calls them, else by their symbol, for findings; empty for neither."""
    columns = zip(callbacks.kind, callbacks.trigger, callbacks.symbol, strict=True)
    names = np.asarray(
        [
            f"{kind} callback of {trigger}" if trigger else str(symbol or "")
            for kind, trigger, symbol in columns
        ],
        dtype=object,
    )
    return take(names, rows, "")
