# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Load the driver and perf_node into the container: load_components.py TCP-PORT DIRECTORY."""

from __future__ import annotations

import sys

import rclpy
from composition_interfaces.srv import LoadNode
from rclpy.parameter import Parameter

_DRIVER = {"lidar_ip": "127.0.0.1", "computer_ip": "127.0.0.1", "tcp_port": int(sys.argv[1])}
_DRIVER |= {"lidar_port": 0, "imu_port": 0, "lidar_mode": "512x20", "listeners": 1}
# The driver first: it must not hold the container up while it waits for its listener.
NODES = {
    "ouster_driver": ("OusterDriver", _DRIVER),
    "perf_node": ("PerfNode", {"n_samples": 100}),
}


def main() -> None:
    rclpy.init()
    node = rclpy.create_node("loader")
    client = node.create_client(LoadNode, "/ComponentManager/_container/load_node")
    assert client.wait_for_service(20.0), "no container"
    for name, (component, own) in NODES.items():
        settings = {**own, "log": sys.argv[2]}
        request = LoadNode.Request(
            package_name="lidar_pipeline",
            plugin_name=f"lidar_pipeline::{component}",
            parameters=[Parameter(k, value=v).to_parameter_msg() for k, v in settings.items()],
            extra_arguments=[
                Parameter("use_intra_process_comms", value=True).to_parameter_msg(),
            ],
        )
        future = client.call_async(request)
        rclpy.spin_until_future_complete(node, future, timeout_sec=20.0)
        assert future.result().success, future.result().error_message
        assert future.result().full_node_name == f"/{name}"
    rclpy.shutdown()


main()
