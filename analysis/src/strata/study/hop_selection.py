# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is measured of a cell."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from strata.schema.events import INTERNAL_TOPICS


@dataclass(frozen=True)
class HopSelection:
    """Which hops: globs of the topic and of the subscribing node, with or without its slash.

    The first `warm_up` publications of each publisher are kept and marked.
    """

    topic: str = "*"
    node: str = "*"
    warm_up: int = 0

    def has_topic(self, topic: str) -> bool:
        """Tell whether a topic is measured; those of ROS itself never are."""
        return topic not in INTERNAL_TOPICS and fnmatchcase(topic, self.topic)

    def has_node(self, node: str) -> bool:
        """Tell whether a subscribing node is measured."""
        return fnmatchcase(node, self.node) or fnmatchcase(node.rsplit("/", 1)[-1], self.node)
