# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver against the emulator, in processes of their own, as a user runs them."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from pathlib import Path

import pytest
from lidar_process import (
    BOUND_S,
    DRIVERS,
    PACKAGE,
    PERF_NODES,
    WITH_RCLCPP,
    both,
    counts,
    emulator,
    finish,
    start,
    start_driver,
)
from traced_ros import free_domain

CHECKER = PACKAGE / "test/programs/check_messages.py"
PTP = "TIME_FROM_PTP_1588"


@pytest.mark.parametrize("driver_program", DRIVERS)
@pytest.mark.parametrize(("mode", "layout"), [("512x20", "column"), ("1024x10", "row")])
def test_every_message_is_what_the_sensor_saw(driver_program: str, mode: str, layout: str) -> None:
    domain = free_domain()
    with emulator() as sensor:
        checker = start(domain, CHECKER, mode=mode, scans=8, layout=layout)
        driver = start_driver(
            domain,
            sensor.port,
            driver_program,
            lidar_mode=mode,
            listeners=6,
            cloud_layout=layout,
        )
        _, out, errors = finish(checker)
        status, _, told = finish(driver, end=True)
    found = json.loads(out)
    assert found["wrong"] == [], (found, errors)
    assert min(found["seen"].values()) >= 8, found
    assert status == 0, told
    received = counts(told)
    assert received["missing_packets"] == received["lidar_dropped"] == 0
    assert received["before_first_packets"] == received["late_packets"] == 0


@pytest.mark.parametrize("driver_program", DRIVERS)
def test_lost_and_swapped_packets_are_counted(driver_program: str) -> None:
    arguments = ("--scans", "30", "--loss", "0.03", "--reorder", "0.05", "--seed", "5")
    with emulator(*arguments) as sensor:
        driver = start_driver(free_domain(), sensor.port, driver_program, lidar_mode="512x20")
        sent = sensor.sent()
        time.sleep(1)  # The driver does not know that no more come.
        status, _, told = finish(driver, end=True)
    assert status == 0, told
    received = counts(told)
    assert sent["lost"] > 10
    assert received["lidar_packets"] == sent["lidar_packets"]
    assert received["lidar_dropped"] == received["duplicate_packets"] == 0
    assert received["missing_columns"] == 16 * received["missing_packets"]
    # Those of a scan that nothing closed any more are in no scan; a swap may bring one too late.
    open_packets = sent["packets"] - 32 * (received["scans"] + received["lost_scans"])
    assert 0 <= open_packets <= 32
    expected = sent["lost"] + received["late_packets"] + received["before_first_packets"]
    assert expected - open_packets <= received["missing_packets"] <= expected


@pytest.mark.parametrize("driver_program", DRIVERS)
def test_a_bound_ends_it(driver_program: str) -> None:
    with emulator() as sensor:
        driver = start_driver(
            free_domain(), sensor.port, driver_program, lidar_mode="512x20", scans=4
        )
        status, _, told = finish(driver)
    assert status == 0, told
    assert counts(told)["scans"] >= 4


@pytest.mark.parametrize("program", PERF_NODES)
def test_samples_and_counts_are_written(tmp_path: Path, program: str) -> None:
    domain = free_domain()
    with emulator() as sensor:
        perf = start(domain, program, n_samples=8, warm_up=2, log=tmp_path / "truth")
        driver = start_driver(
            domain, sensor.port, timestamp_mode=PTP, listeners=1, log=tmp_path / "truth"
        )
        status, out, errors = finish(perf)
        ended = finish(driver, end=True)
    assert (status, ended[0]) == (0, 0), (errors, ended)
    (summary,) = json.loads(out)
    assert summary == json.loads((tmp_path / "truth/perf.json").read_text())[0]
    assert (summary["samples"], summary["warm_up"]) == (8, 2)
    assert summary["lost_by_sequence"] is not None
    # A stamp is the begin of the sweep, which takes 100 ms.
    assert summary["latency_ns"]["min"] > 100_000_000
    lines = (tmp_path / "truth/perf_points.csv").read_text().splitlines()
    assert lines[0] == "recv_stamp,msg_stamp"
    assert len(lines) == 11
    assert counts(ended[2]) == json.loads((tmp_path / "truth/ouster_driver.json").read_text())


@pytest.mark.parametrize("losses", ["refuse", "count"])
@pytest.mark.parametrize("program", PERF_NODES)
def test_a_sensor_that_falls_silent_ends_it(program: str, losses: str) -> None:
    domain = free_domain()
    with emulator("--scans", "12") as sensor:
        perf = start(domain, program, n_samples=100, quiet_s=1.0, losses=losses)
        driver = start_driver(domain, sensor.port, lidar_mode="512x20", listeners=1)
        status, out, errors = finish(perf)
        finish(driver, end=True)
    (summary,) = json.loads(out)
    assert 0 < summary["samples"] <= 12
    assert "came, then none for 1 s." in errors
    assert status == (0 if losses == "count" else 1), errors


@pytest.mark.parametrize(
    ("program", "intra_process"),
    [("composed", False)]
    + [pytest.param("composed_cpp", each, marks=WITH_RCLCPP) for each in (False, True)],
)
def test_driver_and_perf_node_share_a_process(
    tmp_path: Path, program: str, intra_process: bool
) -> None:
    with emulator() as sensor:
        own = {"lidar_ip": "127.0.0.1", "computer_ip": "127.0.0.1", "tcp_port": sensor.port}
        own |= {"lidar_port": 0, "imu_port": 0, "timestamp_mode": PTP, "listeners": 1}
        own |= {"intra_process": intra_process, "n_samples": 6, "warm_up": 2, "log": tmp_path}
        status, out, told = finish(start(free_domain(), program, **own))
    assert status == 0, told
    (summary,) = json.loads(out)
    assert (summary["samples"], summary["warm_up"]) == (6, 2)
    # By pointer a message has no number.
    assert (summary["lost_by_sequence"] is None) == intra_process
    assert counts(told) == json.loads((tmp_path / "ouster_driver.json").read_text())
    assert counts(told)["published_scans"] >= 8


@pytest.mark.parametrize("program", both("composed"))
def test_a_composed_driver_that_cannot_start_says_why(program: str) -> None:
    status, _, errors = finish(start(free_domain(), program))
    assert status == 1
    assert "Cannot" in errors.splitlines()[-1]
    assert "Traceback" not in errors


@pytest.mark.parametrize("driver_program", DRIVERS)
def test_a_poll_below_the_packets_rate_fills_the_socket(driver_program: str) -> None:
    with emulator("--scans", "20") as sensor:
        driver = start_driver(
            free_domain(),
            sensor.port,
            driver_program,
            lidar_mode="1024x20",
            poll_hz=320.0,
            closing="next",
            receive_buffer=1_000_000,
        )
        sent = sensor.sent()
        status, _, told = finish(driver, end=True)
    assert status == 0, told
    received = counts(told)
    # The poll takes 320 of 1280 packets a second, and the buffer keeps about 60.
    assert received["receive_buffer"] <= 2_000_000
    assert received["lidar_dropped"] > 100
    assert received["missing_packets"] + received["lost_scans"] > 0
    kinds = ("lidar_packets", "lidar_dropped", "lidar_unread")
    assert sum(received[kind] for kind in kinds) == sent["lidar_packets"]


@pytest.mark.parametrize("driver_program", DRIVERS)
def test_a_sensor_that_dies_and_packets_that_are_none_are_told(driver_program: str) -> None:
    with emulator("--scans", "10") as sensor:
        driver = start_driver(free_domain(), sensor.port, driver_program, lidar_mode="512x20")
        assert driver.stderr
        bound = threading.Timer(BOUND_S, driver.kill)
        bound.start()
        told = []
        for says in (": UDP ports ", "No packet on UDP port", "1 of 1 packets on UDP port"):
            while says not in (line := driver.stderr.readline()):
                assert line, (says, told)
                told.append(line)
            told.append(line)
            if "No packet" in says:
                port = int(line.partition("UDP port ")[2].split()[0])
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
                    other.sendto(bytes(20000), ("127.0.0.1", port))
        bound.cancel()
        status, _, rest = finish(driver, end=True)
    assert status == 0, (told, rest)
    received = counts(rest)
    assert (received["scans"], received["wrong_packets"]) == (10, 1)
    assert received["missing_packets"] == received["lost_scans"] == 0


@pytest.mark.parametrize("driver_program", DRIVERS)
@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"lidar_mode": "4096x5"}, "Cannot use parameter lidar_mode: '4096x5' is none of 512x10"),
        ({"timestamp_mode": "TIME_FROM_SYS_CLK"}, "'TIME_FROM_SYS_CLK' is none of TIME_FROM_INTE"),
        ({"tcp_port": 1}, "Cannot set the sensor at 127.0.0.1:1 up"),
        ({"proc_mask": "PCL|XYZ"}, "Cannot use parameter proc_mask: 'XYZ' is none of"),
        ({"closing": "late"}, "Cannot use parameter closing: 'late' is none of complete, next."),
        ({"lidar_port": 70000}, "Cannot use parameter lidar_port: 70000 is above 65535."),
        ({"receive_buffer": 5_000_000_000}, "receive_buffer: 5000000000 is above 2147483647."),
        ({"poll_hz": 2e9}, "Cannot use parameter poll_hz: 2000000000.0"),
        ({"poll_hz": 1e-12}, "Cannot use parameter poll_hz: a poll takes more than 1000 s."),
    ],
)
def test_what_cannot_run_is_refused(
    driver_program: str, parameters: dict[str, str], says: str
) -> None:
    status, _, errors = finish(start_driver(free_domain(), 1, driver_program, **parameters))
    assert status == 1
    assert says in errors


def test_a_driver_in_python_hands_nothing_over_by_pointer() -> None:
    status, _, errors = finish(start_driver(free_domain(), 1, intra_process=True))
    assert status == 1
    assert "Cannot use parameter intra_process: rclpy passes every message" in errors


@pytest.mark.parametrize("driver_program", DRIVERS)
def test_it_goes_through_its_transitions_and_serves(driver_program: str) -> None:
    domain = free_domain()
    with emulator("--mode", "512x20") as sensor:
        driver = start_driver(
            domain, sensor.port, driver_program, lidar_mode="512x20", autostart=False
        )
        status, out, errors = finish(start(domain, PACKAGE / "test/programs/lifecycle.py"))
        assert status == 0, errors
        ended, _, left = finish(driver, end=True)
        sensor.process.terminate()
        sent = sensor.sent()
    assert ended == 0, left
    told = json.loads(out)
    assert told["before"] is False
    assert told["transitions"] == [True] * 8
    assert told["metadata"]["prod_line"] == "OS-1-16"
    assert told["metadata"]["lidar_mode"] == "512x20"
    assert told["first"]
    assert told["reset"]
    assert told["again"]
    assert told["inactive"] == 0
    assert told["anew"]
    # Set up twice, and once more by the service.
    assert sent["starts"] == 3


@pytest.mark.parametrize("driver_program", DRIVERS)
def test_a_start_that_failed_is_forgotten_when_a_later_one_succeeds(driver_program: str) -> None:
    domain = free_domain()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    driver = start_driver(domain, port, driver_program, lidar_mode="512x20", autostart=False)
    assert change(domain, "1") == [False]
    with emulator("--tcp-port", str(port)):
        assert change(domain, "1 3") == [True, True]
        time.sleep(1)
        status, _, told = finish(driver, end=True)
    assert status == 0, told
    assert counts(told)["lidar_packets"] > 0


def change(domain: int, transitions: str) -> list[bool]:
    program = PACKAGE / "test/programs/change_states.py"
    status, out, errors = finish(start(domain, program, transitions=f"'{transitions}'"))
    assert status == 0, errors
    return list(json.loads(out))


@WITH_RCLCPP
def test_a_driver_that_waits_for_listeners_ends_at_a_signal() -> None:
    domain = free_domain()
    driver = start_driver(
        domain, 1, "ouster_driver_cpp", autostart=False, listeners=1, discovery_s=0
    )
    asking = start(domain, PACKAGE / "test/programs/change_states.py")
    assert driver.stderr
    while ": UDP ports " not in (line := driver.stderr.readline()):
        assert line
    time.sleep(0.5)
    began = time.monotonic()
    status, _, told = finish(driver, end=True)
    assert time.monotonic() - began < 10
    assert status == 0, told
    assert "Stopped before all 1 subscriptions were there" in told
    finish(asking)


@pytest.mark.parametrize("program", both("composed"))
def test_what_did_not_run_leaves_no_results(tmp_path: Path, program: str) -> None:
    log = tmp_path / "own"
    status, _, errors = finish(start(free_domain(), program, log=log, executor="wrong"))
    assert status == 1, errors
    assert not log.exists() or list(log.iterdir()) == []


@pytest.mark.parametrize("driver_program", DRIVERS)
def test_a_sensor_may_be_given_by_its_name(driver_program: str) -> None:
    # On many machines the name has ::1, too, where the emulator is not.
    with emulator("--mode", "512x20") as sensor:
        driver = start_driver(
            free_domain(),
            sensor.port,
            driver_program,
            lidar_ip="localhost",
            lidar_mode="512x20",
            scans=2,
        )
        status, _, told = finish(driver)
    assert status == 0, told


@pytest.mark.parametrize("driver_program", DRIVERS)
def test_an_answer_without_an_end_is_refused(driver_program: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def flood() -> None:
            stream, _ = server.accept()
            with stream, contextlib.suppress(OSError):
                while True:
                    stream.sendall(bytes(100_000).replace(b"\0", b"x"))

        thread = threading.Thread(target=flood)
        thread.start()
        driver = start_driver(free_domain(), server.getsockname()[1], driver_program)
        status, _, told = finish(driver)
        thread.join(BOUND_S)
    assert status == 1
    assert "without an end of line" in told
