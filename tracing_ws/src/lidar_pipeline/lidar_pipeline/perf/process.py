# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`perf_node --ros-args ...`: the node as a process."""

from __future__ import annotations

import sys

from lidar_pipeline.signals import hold_signals, when_signalled


def main(arguments: list[str] | None = None) -> int:
    """Take samples until there are enough or a signal comes; 0 also with fewer after a signal."""
    hold_signals()
    # Only now: these start threads.
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.signals import SignalHandlerOptions

    from lidar_pipeline.driver.sensor_client import SensorError
    from lidar_pipeline.perf.node import PerfNode

    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = PerfNode()
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        when_signalled(lambda: node.done.done() or node.done.set_result(None))
        executor.spin_until_future_complete(node.done)
        node.report()
        problem = node.done.result()
    except (SensorError, FileExistsError) as error:
        problem = str(error)
    finally:
        rclpy.shutdown()
    if problem:
        sys.stderr.write(f"{problem}\n")
    return 1 if problem else 0
