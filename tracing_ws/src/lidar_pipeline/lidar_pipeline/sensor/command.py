# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of the emulator."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import NoReturn

from lidar_pipeline.sensor.capture import CaptureError
from lidar_pipeline.sensor.configuration import Configuration, ConfigurationError
from lidar_pipeline.sensor.emulator import Bounds, Emulator, EmulatorOptions
from lidar_pipeline.sensor.intrinsics import FIRMWARE
from lidar_pipeline.sensor.packet import MODES, TIMESTAMP_MODES
from lidar_pipeline.sensor.sending import Faults
from lidar_pipeline.signals import when_signalled


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"Cannot read the command line: {message}. See --help.\n")


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return int(text)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, 0 to 65535")
    return int(text)


def _probability(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a probability, 0 to 1")
    return value


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command line."""
    made = _Parser(prog="ouster_emulator", description=__doc__, allow_abbrev=False)
    made.add_argument("--mode", choices=MODES, default="1024x10", help="lidar mode at start")
    made.add_argument("--timestamp-mode", choices=TIMESTAMP_MODES, default=TIMESTAMP_MODES[0])
    made.add_argument(
        "--dest", default="", help="send to this address at once, not only when a client says so"
    )
    made.add_argument("--lidar-port", type=_port, default=7502)
    made.add_argument("--imu-port", type=_port, default=7503)
    made.add_argument("--host", default="", help="address to listen on (all)")
    made.add_argument("--tcp-port", type=_port, default=7501, help="0: any free one")
    made.add_argument("--http-port", type=_port, default=80, help="0: any free one")
    made.add_argument("--firmware", default=FIRMWARE, help="version to report")
    made.add_argument("--scans", type=_whole, default=0, help="end after so many scans (never)")
    made.add_argument("--packets", type=_whole, default=0, help="end after so many packets (never)")
    made.add_argument("--loss", type=_probability, default=0.0, help="part of packets left out")
    made.add_argument(
        "--reorder", type=_probability, default=0.0, help="part sent after the packet behind them"
    )
    made.add_argument("--seed", type=_whole, default=0, help="of loss and reorder")
    made.add_argument("--record", type=Path, help="write what is sent to a new pcap file")
    made.add_argument("--replay", type=Path, help="send the packets of a pcap file")
    return made


def _configuration(given: argparse.Namespace) -> Configuration:
    return Configuration(
        lidar_mode=given.mode,
        timestamp_mode=given.timestamp_mode,
        udp_ip=given.dest,
        udp_port_lidar=given.lidar_port,
        udp_port_imu=given.imu_port,
    )


def _options(given: argparse.Namespace) -> EmulatorOptions:
    return EmulatorOptions(
        host=given.host,
        tcp_port=given.tcp_port,
        http_port=given.http_port,
        firmware=given.firmware,
        faults=Faults(given.loss, given.reorder, given.seed),
        bounds=Bounds(given.scans, given.packets),
        record=given.record,
        replay=given.replay,
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the emulator; print its ports at the start and what it sent at the end, as JSON.

    The signals must be held already (`signals.hold_signals`).
    """
    given = parser().parse_args(arguments)
    if given.replay and not given.replay.is_file():
        return _fail(f"Cannot replay {given.replay}: there is no such file.")
    try:
        emulator = Emulator(_options(given), _configuration(given))
    except ConfigurationError as error:
        return _fail(f"Cannot send to --dest {given.dest}: {error}.")
    except CaptureError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(
            f"Cannot listen on ports {given.tcp_port} (TCP) and {given.http_port} (HTTP): "
            f"{error.strerror}. Choose others with --tcp-port and --http-port; 0 is any free one."
        )
    when_signalled(emulator.stop)
    print(json.dumps(emulator.ports), flush=True)  # noqa: T201 (the command's result)
    try:
        print(json.dumps(emulator.run()), flush=True)  # noqa: T201
    except CaptureError as error:
        return _fail(str(error))
    finally:
        emulator.close()
    return 0


def _fail(text: str) -> int:
    sys.stderr.write(f"{text}\n")
    return 1
