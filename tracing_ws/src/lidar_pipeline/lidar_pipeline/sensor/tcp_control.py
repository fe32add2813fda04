# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The text protocol on TCP port 7501: a command a line, an answer a line."""

from __future__ import annotations

import contextlib
import json
import socketserver
from collections.abc import Callable
from typing import Any

from lidar_pipeline.sensor import intrinsics
from lidar_pipeline.sensor.configuration import ConfigurationError
from lidar_pipeline.sensor.status import Status

_LINE_BYTES = 4096


def answer(status: Status, line: str, peer: str) -> str:
    """Answer one command of a client at the address `peer`."""
    words = line.split()
    if not words:
        return "error: empty command"
    command, *arguments = words
    tell = _QUERIES.get(command)
    if tell is not None:
        return json.dumps(tell(status))
    act = _COMMANDS.get(command)
    if act is None:
        return f"error: unknown command {command}"
    try:
        return act(status, arguments, peer)
    except ConfigurationError as error:
        return f"error: {error}"


_QUERIES: dict[str, Callable[[Status], dict[str, Any]]] = {
    "get_config_txt": lambda status: status.configuration.text(),
    "get_sensor_info": Status.sensor_info,
    "get_time_info": Status.time_info,
    "get_beam_intrinsics": lambda _: intrinsics.beam_intrinsics(),
    "get_imu_intrinsics": lambda _: intrinsics.imu_intrinsics(),
    "get_lidar_intrinsics": lambda _: intrinsics.lidar_intrinsics(),
    "get_lidar_data_format": lambda status: intrinsics.lidar_data_format(status.configuration.mode),
    "get_alerts": Status.alerts,
}


def _get_config_param(status: Status, arguments: list[str], _peer: str) -> str:
    if len(arguments) != 2:
        raise ConfigurationError("get_config_param takes active or staged, and a parameter")
    value = status.configuration.get(arguments[0], arguments[1])
    return value if isinstance(value, str) else json.dumps(value)


def _set_config_param(status: Status, arguments: list[str], _peer: str) -> str:
    if len(arguments) != 2:
        raise ConfigurationError("set_config_param takes a parameter and a value")
    status.configuration.stage(arguments[0], arguments[1])
    return "set_config_param"


def _set_udp_dest_auto(status: Status, _arguments: list[str], peer: str) -> str:
    status.configuration.stage("udp_ip", peer)
    return "set_udp_dest_auto"


def _reinitialize(status: Status, _arguments: list[str], _peer: str) -> str:
    status.configuration.reinitialize()
    return "reinitialize"


def _write_config_txt(_status: Status, _arguments: list[str], _peer: str) -> str:
    # An emulator forgets the parameters when it ends.
    return "write_config_txt"


_COMMANDS: dict[str, Callable[[Status, list[str], str], str]] = {
    "get_config_param": _get_config_param,
    "set_config_param": _set_config_param,
    "set_udp_dest_auto": _set_udp_dest_auto,
    "reinitialize": _reinitialize,
    "write_config_txt": _write_config_txt,
}


class TcpControl(socketserver.ThreadingTCPServer):
    """Serves the protocol; `server_address[1]` is the port, also when 0 was asked for."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, status: Status, host: str, port: int) -> None:
        self.status = status
        super().__init__((host, port), _Session)


class _Session(socketserver.StreamRequestHandler):
    server: TcpControl

    def handle(self) -> None:
        # A client may go away at any time.
        with contextlib.suppress(OSError):
            while line := self.rfile.readline(_LINE_BYTES):
                text = line.decode("utf-8", "replace")
                reply = answer(self.server.status, text, self.client_address[0])
                self.wfile.write(f"{reply}\n".encode())
