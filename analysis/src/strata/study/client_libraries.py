# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which client library the measured nodes use: rclpy costs many times what rclcpp does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from strata.analysis import Analysis
from strata.stats.callbacks import python_nodes

if TYPE_CHECKING:
    from strata.study.campaign_results import Outcome, Results

RCLPY, RCLCPP = "rclpy", "rclcpp"
ENDS = ("publisher_client", "subscription_client")


def clients_of(analysis: Analysis) -> dict[str, str]:
    """Return the client library of each node, by its name; those that registered no callback are
    not in it.
    """
    objects = analysis.callback_objects
    known = objects.loc[objects["symbol"].notna() & objects["node"].notna(), "node"].astype(str)
    python = python_nodes(objects)
    return {node: RCLPY if node in python else RCLCPP for node in known.unique()}


def client_words(results: Results, cells: Iterable[Outcome]) -> str:
    """Name the client libraries of the measured hops: ``rclpy``, ``rclpy and rclcpp``.

    Empty where no cell tells.
    """
    found: set[str] = set()
    # All are measured first: the tables of cells that are known are read together.
    for measured in [results.measured(cell) for cell in cells]:
        hops = measured.read("hops", list(ENDS))
        found |= {str(one) for end in ENDS for one in hops[end].dropna()}
    return " and ".join(sorted(found, reverse=True))


def ends_of(clients: Mapping[str, str], publisher: str, subscription: str) -> dict[str, str | None]:
    """Return the columns of a hop that say the client library of either end; null: not known."""
    return {ENDS[0]: clients.get(publisher), ENDS[1]: clients.get(subscription)}
