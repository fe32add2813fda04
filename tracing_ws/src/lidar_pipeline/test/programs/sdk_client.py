# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""ouster-sdk's own client of a sensor: configures the emulator by HTTP and takes packets.

Runs in an environment with ouster-sdk and in a network namespace of its own: the client knows only
port 80. Prints what it saw as JSON.
"""

from __future__ import annotations

import fcntl
import json
import socket
import struct
import subprocess
import sys
from pathlib import Path

from ouster.sdk import core, sensor

PACKAGE = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
WANTED = 200


def loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP))


def main() -> None:
    loopback_up()
    program = PACKAGE / "scripts/ouster_emulator"
    emulator = subprocess.Popen(
        [sys.executable, program, "--firmware", "2.5.3"],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(PACKAGE)},
    )
    assert emulator.stdout
    emulator.stdout.readline()
    try:
        config = core.SensorConfig()
        config.udp_dest = HOST
        config.udp_port_lidar, config.udp_port_imu = 17502, 17503
        config.lidar_mode = core.LidarMode._512x20
        sensor.set_config(HOST, config)
        source = sensor.SensorPacketSource(
            HOST, lidar_port=17502, imu_port=17503, no_auto_udp_dest=True
        )
        kinds: dict[str, int] = {}
        for _, packet in source:
            kinds[type(packet).__name__] = kinds.get(type(packet).__name__, 0) + 1
            if sum(kinds.values()) == WANTED:
                break
        told = {
            "packets": kinds,
            "prod_line": source.sensor_info[0].prod_line,
            "lidar_mode": str(sensor.get_config(HOST).lidar_mode),
        }
        print(json.dumps(told))
    finally:
        emulator.terminate()
        emulator.wait()


main()
