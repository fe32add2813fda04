# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Load a chain of two hops into the container: load_components.py MESSAGES DIRECTORY OF STAMPS."""

from __future__ import annotations

import sys

import rclpy
from composition_interfaces.srv import LoadNode
from rclpy.parameter import Parameter

NODES = {
    "sink": ("Sink", {"input": "/b", "messages": int(sys.argv[1])}),
    "relay_0": ("Relay", {"input": "/a", "output": "/b"}),
    "source": ("Source", {"output": "/a", "messages": int(sys.argv[1]), "peers": 2}),
}


def main() -> None:
    rclpy.init()
    node = rclpy.create_node("loader")
    client = node.create_client(LoadNode, "/ComponentManager/_container/load_node")
    assert client.wait_for_service(20.0), "no container"
    for name, (component, own) in NODES.items():
        settings = {**own, "depth": 1000, "log": sys.argv[2]}
        request = LoadNode.Request(
            package_name="relay_chain",
            plugin_name=f"relay_chain::{component}",
            node_name=name,
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
