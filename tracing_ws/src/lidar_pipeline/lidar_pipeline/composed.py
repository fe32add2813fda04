# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`composed perf_node ouster_driver --ros-args ...`: both in one process, on one executor."""

from __future__ import annotations

import sys

from lidar_pipeline.driver.process import log_file, report, settle_threads, start
from lidar_pipeline.signals import hold_signals, when_signalled

_NODES = {"perf_node", "ouster_driver"}


def main(arguments: list[str]) -> int:
    """Run driver and perf node until that one has its samples or a signal comes; the exit status.

    The names of the nodes are for the reader: there is no choice.
    """
    hold_signals()
    settle_threads()
    named = {word for word in arguments[1 : _options(arguments)] if not word.startswith("-")}
    if named - _NODES:
        sys.stderr.write(
            f"Cannot run {min(named - _NODES)}: it is none of perf_node, ouster_driver.\n"
        )
        return 2
    # Only now: these start threads.
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.signals import SignalHandlerOptions
    from rclpy.task import Future

    from lidar_pipeline.driver.node import OusterDriver
    from lidar_pipeline.driver.sensor_client import SensorError
    from lidar_pipeline.perf.node import PerfNode

    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    problem: str | None
    try:
        perf, driver = PerfNode(), OusterDriver()
        executor = SingleThreadedExecutor()
        executor.add_node(perf)
        executor.add_node(driver)
        ended = Future()

        def end(_: Future | None = None) -> None:
            driver.stopping = True
            if not ended.done():
                ended.set_result(True)

        perf.done.add_done_callback(end)
        driver.done.add_done_callback(end)
        when_signalled(end)
        log = log_file(driver)
        problem = start(driver)
        if problem is None:
            executor.spin_until_future_complete(ended)
            report(driver.end(), log)
            perf.report()
            problem = perf.done.result() if perf.done.done() else None
    except (SensorError, FileExistsError) as error:
        problem = str(error)
    finally:
        rclpy.shutdown()
    if problem:
        sys.stderr.write(f"{problem}\n")
    return 1 if problem else 0


def _options(arguments: list[str]) -> int:
    return arguments.index("--ros-args") if "--ros-args" in arguments else len(arguments)
