# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`ouster_driver --ros-args ...`: the driver as a process."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from lidar_pipeline.signals import hold_signals, when_signalled

_SWITCH_S = 0.0005
"""The receiving thread must not wait the usual 5 ms for the publishing one."""


def main(arguments: list[str] | None = None) -> int:
    """Run the driver until a signal or its bound ends it; the exit status."""
    hold_signals()
    settle_threads()
    # Only now: these start threads.
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.signals import SignalHandlerOptions

    from lidar_pipeline.driver.node import OusterDriver
    from lidar_pipeline.driver.sensor_client import SensorError

    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    node = OusterDriver()
    executor = SingleThreadedExecutor()
    executor.add_node(node)

    def stop() -> None:
        node.stopping = True
        if not node.done.done():
            node.done.set_result(True)

    try:
        when_signalled(stop)
        log = log_file(node)
        if problem := start(node):
            return _fail(problem)
        executor.spin_until_future_complete(node.done)
        report(node.end(), log)
    except (SensorError, FileExistsError) as error:
        return _fail(str(error))
    finally:
        rclpy.shutdown()
    return 0


def _fail(text: str) -> int:
    sys.stderr.write(f"{text}\n")
    return 1


def settle_threads() -> None:
    """Have threads of Python take turns often."""
    sys.setswitchinterval(_SWITCH_S)


def start(node: Any) -> str | None:
    """Configure and activate the driver where autostart asks for it; null, or what went wrong."""
    from rclpy.lifecycle import TransitionCallbackReturn

    from lidar_pipeline.driver.settings import setting

    if setting(node, "autostart", default=True):
        for trigger in (node.trigger_configure, node.trigger_activate):
            if trigger() != TransitionCallbackReturn.SUCCESS:
                return str(node.problem or "Cannot start the driver.")
    return None


def log_file(node: Any) -> Path | None:
    """Give the file of the driver's counts; null for none.

    Raises FileExistsError when it is there already and must stay.
    """
    from lidar_pipeline.driver.settings import setting

    directory, force = setting(node, "log", ""), setting(node, "force", default=False)
    if not directory:
        return None
    path = Path(directory) / "ouster_driver.json"
    if path.exists() and not force:
        raise FileExistsError(f"Cannot write counts to {path}: it is there already. Use force.")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def report(counts: dict[str, Any], log: Path | None) -> None:
    """Write what the driver received and published."""
    sys.stderr.write(f"ouster_driver: {json.dumps(counts)}\n")
    if log:
        log.write_text(json.dumps(counts, indent=2) + "\n")
        sys.stderr.write(f"ouster_driver: wrote {log}\n")
