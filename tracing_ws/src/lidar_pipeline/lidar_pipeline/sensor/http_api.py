# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The HTTP interface: that of firmware 1.13, and what clients of firmware 2 and later use."""

from __future__ import annotations

import contextlib
import json
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lidar_pipeline.sensor import intrinsics
from lidar_pipeline.sensor.configuration import ConfigurationError
from lidar_pipeline.sensor.status import Status

_PREFIX = "/api/v1/"


class _RequestError(Exception):
    """A request that is answered with an error's status."""

    def __init__(self, status: HTTPStatus, text: str) -> None:
        super().__init__(text)
        self.status = status


class HttpApi(ThreadingHTTPServer):
    """Serves the interface; `server_address[1]` is the port, also when 0 was asked for."""

    daemon_threads = True

    def __init__(self, status: Status, host: str, port: int) -> None:
        self.status = status
        self.user_data = ""
        super().__init__((host, port), _Request)


class _Request(BaseHTTPRequestHandler):
    server: HttpApi
    protocol_version = "HTTP/1.1"

    def handle(self) -> None:
        """Answer requests until the client goes away, which it may do at any time."""
        with contextlib.suppress(OSError):
            super().handle()

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 (its base's name)
        """Say nothing: requests are no news."""

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_PUT(self) -> None:
        self._answer("PUT")

    def do_DELETE(self) -> None:
        self._answer("DELETE")

    def _answer(self, method: str) -> None:
        try:
            status, reply = HTTPStatus.OK, self._reply(method, self._body())
        except _RequestError as error:
            status, reply = error.status, {"error": {"title": str(error)}}
        except ConfigurationError as error:
            status, reply = HTTPStatus.BAD_REQUEST, {"error": {"title": str(error)}}
        data = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length") or "0"
        if not length.isdecimal():
            self.close_connection = True
            raise _RequestError(HTTPStatus.BAD_REQUEST, f"Content-Length {length} is no number")
        return self.rfile.read(int(length))

    def _reply(self, method: str, body: bytes) -> Any:
        # Clients behind a proxy send the whole address as path.
        address = urlsplit(self.path)
        path = address.path.rstrip("/")
        if not path.startswith(_PREFIX):
            raise _RequestError(HTTPStatus.NOT_FOUND, f"no {path}")
        name = path.removeprefix(_PREFIX)
        if name == "sensor/config" and method == "POST":
            self._configure(_json(body))
            return {}
        if name == "user/data":
            return self._user_data(method, body)
        if method != "GET" and name != "sensor/cmd/set_config_param":
            raise _RequestError(HTTPStatus.METHOD_NOT_ALLOWED, f"{method} is not allowed here")
        if name.startswith("sensor/cmd/"):
            arguments = parse_qs(address.query).get("args", [""])[0]
            return self._command(name.removeprefix("sensor/cmd/"), arguments)
        if name.startswith("sensor/"):
            return self._sensor(name.removeprefix("sensor/"))
        return self._system(name)

    def _sensor(self, name: str) -> Any:
        status = self.server.status
        if name == "config":
            return status.configuration.later("active")
        if name == "telemetry":
            return {
                "phase_lock_status": "DISABLED",
                "input_voltage_mv": 23879,
                "input_current_ma": 693,
                "timestamp_ns": status.clock.since_on_ns(),
                "internal_temperature_deg_c": 40.0,
            }
        if name == "alerts":
            return status.alerts()
        metadata = status.metadata()
        if name == "metadata":
            return metadata
        part = metadata.get(name.removeprefix("metadata/"))
        if not name.startswith("metadata/") or part is None:
            raise _RequestError(HTTPStatus.NOT_FOUND, f"no {name}")
        return part

    def _command(self, name: str, arguments: str) -> Any:
        status = self.server.status
        if name == "get_config_param":
            which, _, parameter = arguments.partition(" ")
            if which not in ("active", "staged"):
                raise _RequestError(HTTPStatus.NOT_FOUND, "args is neither active nor staged")
            if parameter:
                return status.configuration.get(which, parameter)
            return status.configuration.later(which)
        if name == "set_config_param":
            brace = arguments.find("{")
            if brace >= 0:
                self._configure(_json(arguments[brace:].encode()), at_once=False)
            else:
                parameter, _, value = arguments.partition(" ")
                status.configuration.stage(parameter, value)
            return "set_config_param"
        if name == "set_udp_dest_auto":
            status.configuration.stage("udp_ip", self.client_address[0])
        elif name == "reinitialize":
            status.configuration.reinitialize()
        # An emulator forgets the parameters when it ends: there is nothing to save.
        elif name != "save_config_params":
            raise _RequestError(HTTPStatus.NOT_FOUND, f"no command {name}")
        return {}

    def _configure(self, given: Any, *, at_once: bool = True) -> None:
        if not isinstance(given, dict):
            raise _RequestError(HTTPStatus.BAD_REQUEST, "the configuration is no JSON object")
        if given.get("udp_dest") == "@auto":
            given = given | {"udp_dest": self.client_address[0]}
        for name, value in given.items():
            self.server.status.configuration.stage(name, value)
        if at_once:
            self.server.status.configuration.reinitialize()

    def _user_data(self, method: str, body: bytes) -> Any:
        before = self.server.user_data
        if method == "PUT":
            self.server.user_data = _json(body)
            return self.server.user_data
        if method == "DELETE":
            self.server.user_data = ""
        return before

    def _system(self, name: str) -> Any:
        status = self.server.status
        clocks = {
            "monotonic": time.monotonic(),
            "realtime": time.time(),
            "tracking": {"reference_id": "7F7F0101", "leap_status": "not synchronised"},
        }
        ptp = {
            "parent_data_set": {"grandmaster_identity": "000000.fffe.000000"},
            "port_data_set": {"port_state": "LISTENING"},
            "time_status_np": {"gm_present": False, "master_offset": 0},
        }
        own = status.time_info()
        answers: dict[str, Any] = {
            "system/firmware": {"fw": status.sensor_info()["image_rev"]},
            "system/network": {
                "carrier": True,
                "duplex": "full",
                "ethaddr": "bc:0f:a7:00:00:16",
                "hostname": f"os1-{intrinsics.SERIAL}",
                "ipv4": {"addr": f"{self.server.server_address[0]}/8", "override": None},
                "ipv6": {"link_local": "fe80::be0f:a7ff:fe00:16/64"},
                "speed": 1000,
            },
            # Firmware 1.13 has them below system, later ones do not.
            "system/time": {"sensor": own, "system": clocks, "ptp": ptp},
            "system/time/sensor": own,
            "system/time/system": clocks,
            "system/time/ptp": ptp,
        }
        found = answers.get(name) or answers.get(f"system/{name}")
        if found is None:
            raise _RequestError(HTTPStatus.NOT_FOUND, f"no {name}")
        return found


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise _RequestError(HTTPStatus.BAD_REQUEST, f"the body is no JSON: {error}") from error
