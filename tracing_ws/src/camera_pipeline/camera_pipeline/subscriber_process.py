# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Run the subscriber in this process."""

from __future__ import annotations

import sys

import rclpy
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from camera_pipeline.settings import CameraError
from camera_pipeline.stop import when_signalled
from camera_pipeline.subscriber import ImageSubscriber


def run_subscriber(arguments: list[str]) -> int:
    """Run the subscriber to its end; the exit status. The signals must be held already.

    1 when no image came in time; losses are a result, not a failure.
    """
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = ImageSubscriber()
        if node.executor_kind == "multi":
            executor = MultiThreadedExecutor(num_threads=node.threads or None)
        else:
            executor = SingleThreadedExecutor()
        executor.add_node(node)
        when_signalled(node.finish)
        executor.spin_until_future_complete(node.done)
        sys.stderr.write(f"image_subscriber: {node.close()}\n")
        problem = node.done.result()
        if problem:
            sys.stderr.write(f"{problem}\n")
            return 1
    except CameraError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    finally:
        rclpy.shutdown()
    return 0
