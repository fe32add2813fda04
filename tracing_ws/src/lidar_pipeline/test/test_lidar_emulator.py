# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The emulated sensor as its clients meet it: by TCP, HTTP and UDP; needs no ROS."""

from __future__ import annotations

import json
import signal
import socket
import struct
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lidar_process import PACKAGE, Emulator, emulator

from lidar_pipeline.sensor import scene
from lidar_pipeline.sensor.capture import CaptureError, read_capture
from lidar_pipeline.sensor.packet import COLUMN, IMU, IMU_BYTES, LIDAR_BYTES, PIXEL


class Receiver:
    """Two sockets for what the emulator sends."""

    def __init__(self) -> None:
        self.lidar, self.imu = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in "ab")
        for each in (self.lidar, self.imu):
            each.bind(("127.0.0.1", 0))
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            each.settimeout(20)

    @property
    def arguments(self) -> list[str]:
        lidar, imu = (str(each.getsockname()[1]) for each in (self.lidar, self.imu))
        return ["--dest", "127.0.0.1", "--lidar-port", lidar, "--imu-port", imu]

    def packets(self, number: int) -> list[np.ndarray]:
        return [np.frombuffer(self.lidar.recv(20000), COLUMN) for _ in range(number)]


def ask(sensor: Emulator, *commands: str) -> list[str]:
    with socket.create_connection(("127.0.0.1", sensor.port), 10) as stream:
        lines = stream.makefile("rw")
        answers = []
        for command in commands:
            lines.write(command + "\n")
            lines.flush()
            answers.append(lines.readline().removesuffix("\n"))
    return answers


def get(sensor: Emulator, path: str, data: bytes | None = None, method: str | None = None) -> Any:
    address = f"http://127.0.0.1:{sensor.http}/api/v1/{path}"
    request = urllib.request.Request(address, data, method=method)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def test_packets_are_of_the_format_and_in_time() -> None:
    receiver = Receiver()
    with emulator("--scans", "3", "--mode", "512x20", *receiver.arguments) as sensor:
        packets = receiver.packets(96)
        sent = sensor.sent()
        samples = [receiver.imu.recv(100) for _ in range(sent["imu_packets"])]
    assert (sent["lidar_packets"], sent["packets"], sent["scans"]) == (96, 96, 3)
    assert sent["lateness_ns"]["count"] == 96
    assert 0 <= sent["lateness_ns"]["p50"] <= sent["lateness_ns"]["max"]
    assert all(packet.nbytes == LIDAR_BYTES == 12608 for packet in packets)
    columns = np.concatenate(packets)
    assert (columns["measurement"] == np.tile(np.arange(512), 3)).all()
    assert (columns["frame"] == np.repeat([0, 1, 2], 512)).all()
    assert (columns["encoder"] == columns["measurement"] * np.uint32(176)).all()
    assert (columns["status"] == 0xFFFFFFFF).all()
    offsets = (columns["timestamp"] - columns["timestamp"][0]).astype(np.int64)
    assert (offsets == np.arange(1536) * 1_000_000_000 // (512 * 20)).all()
    used = np.zeros(64, bool)
    used[3::4] = True
    assert (columns["pixels"][:, ~used] == np.zeros((), PIXEL)).all()
    expected = np.concatenate([scene.pixels(frame, 0, 512, 512) for frame in range(3)])
    assert (columns["pixels"][:, used] == expected).all()
    assert all(len(sample) == IMU_BYTES == 48 for sample in samples)
    times = np.concatenate([np.frombuffer(sample, IMU) for sample in samples])["gyroscope"]
    assert (np.diff(times.astype(np.int64)) == 10_000_000).all()
    assert len(samples) == 16


def test_the_text_protocol_sets_up_what_is_staged_when_reinitialized() -> None:
    receiver = Receiver()
    lidar, imu = (each.getsockname()[1] for each in (receiver.lidar, receiver.imu))
    with emulator("--packets", "40") as sensor:
        assert ask(
            sensor,
            "get_config_param active udp_ip",
            "set_udp_dest_auto",
            "get_config_param staged udp_ip",
            "get_config_param active udp_ip",
            f"set_config_param udp_port_lidar {lidar} ",
            f"set_config_param udp_port_imu {imu} ",
            "set_config_param lidar_mode 2048x10 ",
            "set_config_param timestamp_mode TIME_FROM_PTP_1588 ",
            "get_config_param active lidar_mode",
            "write_config_txt",
            "reinitialize ",
            "get_config_param active lidar_mode",
        ) == [
            "",
            "set_udp_dest_auto",
            "127.0.0.1",
            "",
            *["set_config_param"] * 4,
            "1024x10",
            "write_config_txt",
            "reinitialize",
            "2048x10",
        ]
        columns = np.concatenate(receiver.packets(40))
        assert (np.diff(columns["encoder"].astype(int)) == 44).all()
        # Nanoseconds since 1970, not since the sensor was switched on.
        assert columns["timestamp"][0] > 1_600_000_000 * 10**9
        assert sensor.sent()["timestamp_mode"] == "TIME_FROM_PTP_1588"


def test_every_query_of_the_text_protocol_is_answered() -> None:
    with emulator() as sensor:
        answers = ask(
            sensor,
            "get_config_txt",
            "get_sensor_info",
            "get_time_info",
            "get_beam_intrinsics",
            "get_imu_intrinsics",
            "get_lidar_intrinsics",
            "get_alerts",
        )
        config, info, times, beams, imu, lidar, alerts = map(json.loads, answers)
        wrong = ask(
            sensor,
            "get_everything",
            "set_config_param udp_ip 1.2.3.4.5 ",
            "set_config_param lidar_mode 3x3",
            "set_config_param colour red",
            "get_config_param now lidar_mode",
            "",
        )
    assert (config["lidar_mode"], config["udp_port_lidar"]) == ("1024x10", 7502)
    assert (info["prod_line"], info["build_rev"]) == ("OS-1-16", "v1.13.0")
    assert times["timestamp"]["mode"] == "TIME_FROM_INTERNAL_OSC"
    assert [len(beams[name]) for name in sorted(beams)] == [64, 64]
    assert len(imu["imu_to_sensor_transform"]) == len(lidar["lidar_to_sensor_transform"]) == 16
    assert alerts == {"next_cursor": 0, "active": [], "log": []}
    assert all(answer.startswith("error: ") for answer in wrong), wrong


def test_the_http_interface_tells_and_sets() -> None:
    receiver = Receiver()
    lidar = receiver.lidar.getsockname()[1]
    with emulator("--packets", "1", "--firmware", "2.5.3") as sensor:
        assert "v2.5.3" in get(sensor, "system/firmware")["fw"]
        metadata = get(sensor, "sensor/metadata")
        assert metadata["lidar_data_format"]["pixel_shift_by_row"][:4] == [18, 12, 6, 0]
        assert get(sensor, "sensor/metadata/sensor_info") == metadata["sensor_info"]
        assert get(sensor, "sensor/cmd/get_config_param?args=active")["lidar_mode"] == "1024x10"
        staged = urllib.request.quote('. {"lidar_mode": "512x10"}')
        assert get(sensor, f"sensor/cmd/set_config_param?args={staged}") == "set_config_param"
        assert get(sensor, "sensor/cmd/get_config_param?args=staged")["lidar_mode"] == "512x10"
        assert get(sensor, "sensor/config")["lidar_mode"] == "1024x10"
        for name in ("system/network", "time/system", "system/time/ptp", "sensor/telemetry"):
            assert get(sensor, name)
        assert get(sensor, "user/data", b'"mine"', "PUT") == get(sensor, "user/data") == "mine"
        for path, status in (("sensor/nothing", 404), ("nothing", 404)):
            with pytest.raises(urllib.error.HTTPError) as refused:
                get(sensor, path)
            assert refused.value.code == status
        with pytest.raises(urllib.error.HTTPError) as refused:
            get(sensor, "sensor/config", b'{"lidar_mode": "3x3"}')
        assert refused.value.code == 400
        given = {"udp_dest": "@auto", "udp_port_lidar": lidar}
        get(sensor, "sensor/config", json.dumps(given).encode())
        (packet,) = receiver.packets(1)
        assert (np.diff(packet["encoder"].astype(int)) == 176).all()


def test_clients_that_go_away_and_starts_anew_leave_it_sound() -> None:
    receiver = Receiver()
    with emulator(*receiver.arguments, errors=subprocess.PIPE) as sensor:
        for port, words in ((sensor.port, b"get_alerts\n"), (sensor.http, b"GET /a HTTP/1.1\r\n")):
            with socket.create_connection(("127.0.0.1", port)) as stream:
                stream.send(words)
                # Ends with a reset, not in order.
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        for _ in range(2):
            receiver.packets(3)
            assert ask(sensor, "reinitialize ") == ["reinitialize"]
        receiver.packets(3)
        sensor.process.send_signal(signal.SIGTERM)
        sent = sensor.sent()
        _, errors = sensor.process.communicate(timeout=20)
    assert errors == ""
    assert sent["starts"] >= 2
    assert sent["packets"] == sent["lidar_packets"] == sent["lateness_ns"]["count"] >= 9


def test_loss_and_reorder_are_those_of_the_seed() -> None:
    runs = []
    for _ in range(2):
        receiver = Receiver()
        faults = ("--loss", "0.1", "--reorder", "0.1", "--seed", "9")
        arguments = ("--packets", "200", "--mode", "1024x20", *faults, *receiver.arguments)
        with emulator(*arguments) as sensor:
            sent = sensor.sent()
        order = [
            int(packet["frame"][0]) * 64 + int(packet["measurement"][0]) // 16
            for packet in receiver.packets(sent["lidar_packets"])
        ]
        runs.append(order)
        assert sent["lidar_packets"] + sent["lost"] == sent["packets"] == 200
        assert sent["lost"] > 5
        assert len(set(order)) == len(order)
        late = [at for at in range(1, len(order)) if order[at] < order[at - 1]]
        # One that was held back past the run's end, or past lost packets, is still the one before.
        assert 0 < len(late) <= sent["reordered"] <= len(late) + 1
    assert runs[0] == runs[1]


def test_what_is_recorded_is_replayed(tmp_path: Path) -> None:
    first, second = Receiver(), Receiver()
    path = tmp_path / "sensor.pcap"
    arguments = ("--packets", "20", "--mode", "512x20", "--record", str(path))
    with emulator(*arguments, *first.arguments) as sensor:
        sent = sensor.sent()
    recorded = list(read_capture(path))
    assert len(recorded) == sent["lidar_packets"] + sent["imu_packets"]
    with emulator("--replay", str(path), *second.arguments) as sensor:
        again = sensor.sent()
    assert [again[name] for name in ("lidar_packets", "imu_packets")] == [20, sent["imu_packets"]]
    for _ in range(20):
        assert first.lidar.recv(20000) == second.lidar.recv(20000)
    for _ in range(sent["imu_packets"]):
        assert first.imu.recv(100) == second.imu.recv(100)


def test_fragments_of_a_wire_are_joined_in_whatever_order_they_came(tmp_path: Path) -> None:
    path = tmp_path / "wire.pcap"
    payload = bytes(range(256)) * 12
    datagram = struct.pack(">HHHH", 1, 7502, 8 + len(payload), 0) + payload
    records = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for begin, more in ((1480, 0x2000), (0, 0x2000), (2960, 0)):
        part = datagram[begin : begin + 1480]
        place = more | begin // 8
        head = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(part), 7, place, 64, 17, 0, 1, 2)
        frame = bytes(12) + b"\x08\x00" + head + part
        records += [struct.pack("<IIII", 5, 6, len(frame), len(frame)), frame]
    path.write_bytes(b"".join(records))
    (found,) = read_capture(path)
    assert (found.at_ns, found.port, found.payload) == (5_000_006_000, 7502, payload)


def test_a_capture_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "no.pcap"
    path.write_bytes(b"no capture at all, not even its header")
    with pytest.raises(CaptureError, match="it is no pcap file"):
        list(read_capture(path))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_its_counts(number: signal.Signals) -> None:
    receiver = Receiver()
    with emulator(*receiver.arguments) as sensor:
        receiver.packets(3)
        sensor.process.send_signal(number)
        assert sensor.sent()["lidar_packets"] >= 3
        assert sensor.process.wait(2) == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--loss", "2"], "'2' is not a probability"),
        (["--tcp-port", "x"], "'x' is not a port"),
        (["--scans", "-1"], "--scans"),
        (["--mode", "9x9"], "invalid choice: '9x9'"),
    ],
)
def test_a_wrong_command_line_is_refused(arguments: list[str], says: str) -> None:
    line = [sys.executable, str(PACKAGE / "scripts/ouster_emulator"), *arguments]
    done = subprocess.run(
        line, env={"PYTHONPATH": str(PACKAGE)}, capture_output=True, text=True, timeout=20
    )
    assert done.returncode == 2
    assert done.stderr.startswith("Cannot read the command line: ")
    assert says in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--record", "/nowhere/a.pcap"], "Cannot record to /nowhere/a.pcap: No such file"),
        (["--replay", "/nowhere/a.pcap"], "Cannot replay /nowhere/a.pcap: there is no such file"),
        (["--dest", "1.2.3.4.5"], "Cannot send to --dest 1.2.3.4.5: "),
    ],
)
def test_what_cannot_be_is_refused(arguments: list[str], says: str) -> None:
    line = [sys.executable, str(PACKAGE / "scripts/ouster_emulator"), "--tcp-port", "0"]
    done = subprocess.run(
        [*line, "--http-port", "0", *arguments],
        env={"PYTHONPATH": str(PACKAGE)},
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(says)
