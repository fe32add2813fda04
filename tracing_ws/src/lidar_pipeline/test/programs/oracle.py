# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Has ouster-sdk parse what the emulator sends over UDP, and compares every pixel with the scene.

Runs in an environment with ouster-sdk. `--process` reads from a running emulator, at its pace, set
up by its TCP port; else packets go through a socket one by one, as fast as they are parsed.
Prints one JSON object a mode; exit status 1 when anything differs.
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from ouster.sdk import core

PACKAGE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PACKAGE))

from lidar_pipeline.sensor import scene  # noqa: E402
from lidar_pipeline.sensor.intrinsics import USED_CHANNELS  # noqa: E402
from lidar_pipeline.sensor.packet import IMU_BYTES, LIDAR_BYTES, MODES, LidarMode  # noqa: E402
from lidar_pipeline.sensor.rendering import ScanRenderer, imu_sample  # noqa: E402
from lidar_pipeline.sensor.sending import Faults, Sender  # noqa: E402

FIELDS = {"RANGE": "range", "SIGNAL": "signal", "REFLECTIVITY": "reflectivity", "NEAR_IR": "noise"}
BEGIN_NS = 1_700_000_000_123_456_789
_SO_RCVBUFFORCE = 33


def bound_socket() -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(("127.0.0.1", 0))
    made.settimeout(10)
    try:
        made.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 32 << 20)
    except PermissionError:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 20)
    return made


class Judge:
    """Batches packets by the SDK, and compares each complete frame with the scene."""

    def __init__(self, mode: LidarMode) -> None:
        self.mode = mode
        lidar_mode = getattr(core.LidarMode, f"_{mode.name}")
        info = core.SensorInfo.from_default(lidar_mode)
        self.format = core.PacketFormat.from_info(info)
        assert self.format.lidar_packet_size == LIDAR_BYTES
        assert self.format.imu_packet_size == IMU_BYTES
        self._batcher = core.FrameBatcher(info)
        self._frame = core.LidarFrame(info)
        self.scans = self.wrong_pixels = self.wrong_headers = 0
        self._expected: dict[str, np.ndarray] = {}

    def packet(self, data: bytes) -> None:
        packet = core.LidarPacket(self.format)
        packet.buf[:] = np.frombuffer(data, np.uint8)
        if self._batcher.batch(packet, self._frame):
            self._compare()

    def _compare(self) -> None:
        frame, columns = self._frame, self.mode.columns
        pixels = scene.pixels(int(frame.frame_id), 0, columns, columns)
        for theirs, ours in FIELDS.items():
            expected = np.zeros((64, columns), np.uint32)
            expected[USED_CHANNELS] = pixels[ours].T
            self.wrong_pixels += int((frame.field(theirs) != expected).sum())
        first = int(frame.timestamp[0])
        period = 1e9 / columns / self.mode.hz
        late = frame.timestamp.astype(np.int64) - first - np.arange(columns) * period
        fine = (
            frame.frame_id == self.scans % 65536
            and (frame.measurement_id == np.arange(columns)).all()
            and (frame.status & 1 == 1).all()
            and np.abs(late).max() <= 1
            and frame.complete()
        )
        self.wrong_headers += not fine
        self.scans += 1


def one_by_one(mode: LidarMode, scans: int, judge: Judge) -> None:
    """Send and receive in turns, so that nothing is lost however slow the SDK is."""
    receiver = bound_socket()
    sender = Sender(Faults())
    sender.aim("127.0.0.1", receiver.getsockname()[1], receiver.getsockname()[1])
    renderer = ScanRenderer(mode)
    for number in range((scans + 1) * mode.packets):
        sender.lidar(renderer.packet(number, BEGIN_NS).view("u1").data)
        judge.packet(receiver.recv(LIDAR_BYTES + 1))
    sender.close()


@contextmanager
def emulator(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    line = [sys.executable, str(PACKAGE / "scripts/ouster_emulator")]
    ports = ["--tcp-port", "0", "--http-port", "0"]
    environment = {"PYTHONPATH": str(PACKAGE)}
    process = subprocess.Popen(
        [*line, *ports, *arguments], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert process.stdout
        yield process, json.loads(process.stdout.readline())["tcp"]
    finally:
        process.terminate()
        process.wait()


def by_process(mode: LidarMode, scans: int, judge: Judge) -> dict[str, int]:
    """Read from an emulator that is set up as a driver does; give what it says it sent."""
    receiver, imu = bound_socket(), bound_socket()
    with emulator("--packets", str((scans + 1) * mode.packets)) as (process, port):
        with socket.create_connection(("127.0.0.1", port)) as control:
            lines = control.makefile("rw")
            for setting in (
                "udp_ip 127.0.0.1",
                f"udp_port_lidar {receiver.getsockname()[1]}",
                f"udp_port_imu {imu.getsockname()[1]}",
                f"lidar_mode {mode.name}",
            ):
                lines.write(f"set_config_param {setting} \n")
                lines.flush()
                assert lines.readline() == "set_config_param\n"
            lines.write("reinitialize \n")
            lines.flush()
            assert lines.readline() == "reinitialize\n"
        for _ in range((scans + 1) * mode.packets):
            judge.packet(receiver.recv(LIDAR_BYTES + 1))
        assert process.stdout
        sent = json.loads(process.stdout.readline())
    check_imu(judge.format, [imu.recv(IMU_BYTES + 1) for _ in range(sent["imu_packets"])])
    return sent


def check_imu(packets: core.PacketFormat, received: list[bytes]) -> None:
    """Compare IMU packets with the samples that they should be; raises AssertionError."""
    times = []
    for number, data in enumerate(received):
        packet = core.ImuPacket(packets)
        packet.buf[:] = np.frombuffer(data, np.uint8)
        sample = imu_sample(number, packet.sys_ts(), packet.gyro_ts())
        assert data == sample.tobytes(), number
        found = [packets.imu_la_x(data), packets.imu_la_y(data), packets.imu_la_z(data)]
        found += [packets.imu_av_x(data), packets.imu_av_y(data), packets.imu_av_z(data)]
        expected = (*sample["acceleration"], *sample["angular_velocity"])
        assert np.allclose(np.ravel(found), expected), (found, expected)
        times.append(packet.gyro_ts())
    assert set(np.diff(times)) == {10_000_000}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scans", type=int, default=1000)
    parser.add_argument("--modes", nargs="+", choices=MODES, default=list(MODES))
    parser.add_argument("--process", action="store_true")
    given = parser.parse_args()
    status = 0
    for name in given.modes:
        begin = time.monotonic()
        judge = Judge(MODES[name])
        sent = {}
        if given.process:
            sent = by_process(MODES[name], given.scans, judge)
        else:
            one_by_one(MODES[name], given.scans, judge)
        result = {
            "mode": name,
            "scans": judge.scans,
            "wrong_pixels": judge.wrong_pixels,
            "wrong_headers": judge.wrong_headers,
            "seconds": round(time.monotonic() - begin, 1),
            "sent": sent,
        }
        print(json.dumps(result), flush=True)
        if judge.scans != given.scans or judge.wrong_pixels or judge.wrong_headers:
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
