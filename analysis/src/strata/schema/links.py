# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Message links that a user declares: what a node publishes from stored messages."""

from __future__ import annotations

from dataclasses import dataclass

LINK_KINDS = ("periodic_async", "partial_sync")
"""Kinds that can be declared; their meaning is in strata.layers.links."""


@dataclass(frozen=True)
class MessageLink:
    """`node` publishes on each of `outputs` from messages of `inputs`, all full names."""

    node: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    kind: str
