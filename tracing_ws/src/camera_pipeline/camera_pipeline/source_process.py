# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Run the camera in this process."""

from __future__ import annotations

import contextlib
import sys
import threading

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from camera_pipeline.settings import CameraError
from camera_pipeline.source import CameraSource
from camera_pipeline.stop import when_signalled


def run_source(arguments: list[str]) -> int:
    """Run the camera to its end; the exit status. The signals must be held already."""
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = CameraSource()
        when_signalled(node.stop)
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        # For the parameters' services only: images are published on this thread, as in gscam
        # outside of any callback.
        spinning = threading.Thread(target=_spin, args=(executor,), name="executor", daemon=True)
        spinning.start()
        try:
            node.run()
        finally:
            executor.shutdown()
            spinning.join(2)
            refused = f", refused {node.refused}" if node.refused else ""
            sys.stderr.write(
                f"camera_source: published {node.published} images, dropped {node.dropped}"
                f"{refused}\n"
            )
    except CameraError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    finally:
        rclpy.shutdown()
    return 0


def _spin(executor: SingleThreadedExecutor) -> None:
    with contextlib.suppress(ExternalShutdownException):
        executor.spin()
