# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Typed parameters of the nodes, and the QoS that they make."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSProfile,
    ReliabilityPolicy,
)

READY_TOPIC = "camera/ready"
"""A connected subscriber makes a publisher here, which the camera counts; nothing is ever sent."""

Value = TypeVar("Value", bool, int, float, str)


class CameraError(Exception):
    """A node cannot run; the text is the whole sentence."""


def setting(node: Node, name: str, default: Value, *, least: float | None = None) -> Value:
    """Declare a parameter and return its value; a whole number will do for a float.

    Raises CameraError when the value has another type or is below `least`.
    """
    descriptor = ParameterDescriptor(dynamic_typing=True)
    value = node.declare_parameter(name, default, descriptor).value
    if isinstance(default, float) and type(value) is int:
        value = float(value)
    if type(value) is not type(default):
        raise CameraError(f"Cannot use parameter {name}: {value!r} is no {type(default).__name__}.")
    if least is not None and not value >= least:
        raise CameraError(f"Cannot use parameter {name}: {value} is below {least:g}.")
    return value


def choice(node: Node, name: str, default: str, *others: str) -> str:
    """Declare a parameter that is one of some words.

    Raises CameraError when it is none of them.
    """
    value = setting(node, name, default)
    if value not in (default, *others):
        known = ", ".join(word or "''" for word in (default, *others))
        raise CameraError(f"Cannot use parameter {name}: {value!r} is none of {known}.")
    return value


def output(node: Node, name: str, *, force: bool) -> Path | None:
    """Declare a parameter that is the path of a file to write; null when it is empty.

    Raises CameraError when the file is there already and `force` is not set.
    """
    value = setting(node, name, "")
    if not value:
        return None
    path = Path(value)
    if path.exists() and not force:
        raise CameraError(
            f"Cannot write {path}: it is there already. Name another file, or set force."
        )
    return path


def qos_settings(node: Node, default: QoSProfile) -> QoSProfile:
    """Declare the parameters of a QoS; an empty word, or 0, keeps what `default` has.

    reliability, durability, history, depth, deadline_ms, liveliness, liveliness_lease_ms.
    Raises CameraError for a value that is none.
    """
    profile = QoSProfile(
        reliability=default.reliability,
        durability=default.durability,
        history=default.history,
        depth=setting(node, "depth", 0, least=0) or default.depth,
    )
    if word := choice(node, "reliability", "", "reliable", "best_effort"):
        profile.reliability = ReliabilityPolicy[word.upper()]
    if word := choice(node, "durability", "", "volatile", "transient_local"):
        profile.durability = DurabilityPolicy[word.upper()]
    if word := choice(node, "history", "", "keep_last", "keep_all"):
        profile.history = HistoryPolicy[word.upper()]
    if ms := setting(node, "deadline_ms", 0.0, least=0):
        profile.deadline = Duration(nanoseconds=round(ms * 1e6))
    if word := choice(node, "liveliness", "", "automatic", "manual_by_topic"):
        profile.liveliness = LivelinessPolicy[word.upper()]
    if ms := setting(node, "liveliness_lease_ms", 0.0, least=0):
        profile.liveliness_lease_duration = Duration(nanoseconds=round(ms * 1e6))
    return profile
