# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Takes a driver through its transitions and services; prints what it told at each step."""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_srvs.srv import Empty, Trigger

from lidar_pipeline.driver.node import OusterDriver

rclpy.init(args=sys.argv)
driver = OusterDriver()
asking = rclpy.create_node("asking")
executor = SingleThreadedExecutor()
executor.add_node(driver)
spinning = threading.Thread(target=executor.spin, daemon=True)
spinning.start()


def call(kind: Any, name: str) -> Any:
    client = asking.create_client(kind, f"/ouster_driver/{name}")
    assert client.wait_for_service(20)
    future = client.call_async(kind.Request())
    rclpy.spin_until_future_complete(asking, future, timeout_sec=20)
    return future.result()


def scans_after(least: int) -> int:
    until = time.monotonic() + 20
    while driver._counters["reader"].scans < least and time.monotonic() < until:
        time.sleep(0.02)
    return driver._counters["reader"].scans


told: dict[str, Any] = {"before": call(Trigger, "get_metadata").success}
told["transitions"] = [driver.trigger_configure().name, driver.trigger_activate().name]
told["first"] = scans_after(3)
told["metadata"] = json.loads(call(Trigger, "get_metadata").message)
call(Empty, "reset")
told["reset"] = scans_after(driver._counters["reader"].scans + 3) > told["first"]
told["transitions"] += [driver.trigger_deactivate().name]
still = driver._counters["reader"].scans
time.sleep(0.3)
told["inactive"] = driver._counters["reader"].scans - still
told["transitions"] += [driver.trigger_activate().name]
told["again"] = scans_after(still + 3) >= still + 3
told["transitions"] += [driver.trigger_deactivate().name, driver.trigger_cleanup().name]
told["transitions"] += [driver.trigger_configure().name, driver.trigger_activate().name]
told["anew"] = scans_after(2)
driver.end()
sys.stdout.write(json.dumps(told) + "\n")
sys.stdout.flush()
executor.shutdown()
spinning.join()
rclpy.shutdown()
