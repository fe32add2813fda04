# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver's parameters, named as ros2_ouster's where it has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.qos import QoSPresetProfiles, QoSProfile

from lidar_pipeline.driver.assembly import POLICIES
from lidar_pipeline.driver.points import LAYOUTS
from lidar_pipeline.driver.sensor_client import ROS_RECEPTION, Connection, SensorError
from lidar_pipeline.sensor.packet import MODES, TIMESTAMP_MODES

Value = TypeVar("Value", bool, int, float, str)
_PORTS = 65535
_LARGEST_BUFFER = 2**31 - 1
"""Bytes that a socket can have on Linux."""
_FASTEST_POLL, _SLOWEST_POLL = 1_000_000_000, 0.001
"""Hz."""
PROCESSORS = ("IMG", "PCL", "IMU", "SCAN")


@dataclass(frozen=True)
class Settings:
    """What the parameters say."""

    connection: Connection
    sensor_frame: str
    laser_frame: str
    imu_frame: str
    qos: QoSProfile
    proc_mask: frozenset[str]
    closing: str
    cloud_layout: str
    poll_hz: float
    receive_buffer: int
    listeners: int
    discovery_s: float
    scans: int


def setting(
    node: Node, name: str, default: Value, least: float | None = None, most: float | None = None
) -> Value:
    """Declare a parameter, once, and return its value; a whole number will do for a float.

    Raises SensorError when the value has another type or is below `least` or above `most`.
    """
    if not node.has_parameter(name):
        node.declare_parameter(name, default, ParameterDescriptor(dynamic_typing=True))
    value = node.get_parameter(name).value
    if isinstance(default, float) and type(value) is int:
        value = float(value)
    if type(value) is not type(default):
        raise SensorError(f"Cannot use parameter {name}: {value!r} is no {type(default).__name__}.")
    if least is not None and not value >= least:
        raise SensorError(f"Cannot use parameter {name}: {value} is below {least}.")
    if most is not None and value > most:
        raise SensorError(f"Cannot use parameter {name}: {value} is above {most}.")
    return value


def topic_qos(node: Node) -> QoSProfile:
    """Give the QoS of all topics, by the parameter use_system_default_qos."""
    preset = (
        QoSPresetProfiles.SYSTEM_DEFAULT
        if setting(node, "use_system_default_qos", default=False)
        else QoSPresetProfiles.SENSOR_DATA
    )
    return preset.value


def choice(node: Node, name: str, choices: tuple[str, ...]) -> str:
    """Declare a parameter that is one of some words, the first by default.

    Raises SensorError for another.
    """
    value = setting(node, name, choices[0])
    if value not in choices:
        raise SensorError(
            f"Cannot use parameter {name}: {value!r} is none of {', '.join(choices)}."
        )
    return value


def _mask(node: Node) -> frozenset[str]:
    given = setting(node, "proc_mask", "|".join(PROCESSORS))
    names = frozenset(given.split("|")) - {""}
    unknown = names - set(PROCESSORS)
    if unknown:
        raise SensorError(
            f"Cannot use parameter proc_mask: {sorted(unknown)[0]!r} is none of "
            f"{', '.join(PROCESSORS)}."
        )
    return names


def _poll_hz(node: Node) -> float:
    found = setting(node, "poll_hz", 0.0, 0, _FASTEST_POLL)
    if 0 < found < _SLOWEST_POLL:
        raise SensorError(
            "Cannot use parameter poll_hz: a poll takes more than 1000 s. Use 0 for threads, or at "
            "least 0.001."
        )
    return found


def read_settings(node: Node) -> Settings:
    """Declare and read all parameters. Raises SensorError."""
    if setting(node, "intra_process", default=False):
        raise SensorError(
            "Cannot use parameter intra_process: rclpy passes every message through the "
            "middleware. Use the driver in C++ (ouster_driver_cpp, composed_cpp)."
        )
    connection = Connection(
        lidar_ip=setting(node, "lidar_ip", ""),
        computer_ip=setting(node, "computer_ip", ""),
        tcp_port=setting(node, "tcp_port", 7501, 1, _PORTS),
        lidar_port=setting(node, "lidar_port", 7502, 0, _PORTS),
        imu_port=setting(node, "imu_port", 7503, 0, _PORTS),
        lidar_mode=choice(node, "lidar_mode", tuple(MODES)),
        timestamp_mode=choice(node, "timestamp_mode", (*TIMESTAMP_MODES, ROS_RECEPTION)),
    )
    settings = Settings(
        connection=connection,
        sensor_frame=setting(node, "sensor_frame", "laser_sensor_frame"),
        laser_frame=setting(node, "laser_frame", "laser_data_frame"),
        imu_frame=setting(node, "imu_frame", "imu_data_frame"),
        qos=topic_qos(node),
        proc_mask=_mask(node),
        closing=choice(node, "closing", POLICIES),
        cloud_layout=choice(node, "cloud_layout", LAYOUTS),
        poll_hz=_poll_hz(node),
        receive_buffer=setting(node, "receive_buffer", 26_214_400, 0, _LARGEST_BUFFER),
        listeners=setting(node, "listeners", 0, 0),
        discovery_s=setting(node, "discovery_s", 30.0, 0),
        scans=setting(node, "scans", 0, 0),
    )
    for name, given in (("lidar_ip", connection.lidar_ip), ("computer_ip", connection.computer_ip)):
        if not given:
            raise SensorError(f"Cannot use parameter {name}: it is empty. Give an address.")
    return settings
