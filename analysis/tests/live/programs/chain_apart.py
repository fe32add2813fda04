# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`chain_apart.py SOURCE_PID SINK_PID MESSAGES RATE PAYLOAD LOG`: a source and a sink, each in the
network namespace of a process."""

import os
import subprocess
import sys


def start(pid: str, kind: str, settings: dict[str, object]) -> subprocess.Popen[bytes]:
    words = [word for name, value in settings.items() for word in ("-p", f"{name}:={value}")]
    line = ["nsenter", f"--net=/proc/{pid}/ns/net", "--", "python3", "-m", "relay_chain.single"]
    return subprocess.Popen([*line, kind, "--ros-args", *words])


def main(near: str, far: str, messages: str, rate: str, payload: str, log: str) -> int:
    # They share a host, not a network: without shared memory between them.
    os.environ["FASTDDS_BUILTIN_TRANSPORTS"] = "UDPv4"
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SUBNET"
    common = {"messages": messages, "log": log, "depth": 100}
    source = {"rate": float(rate), "payload": payload, "peers": 1, "output": "/chain_0"}
    sender = start(near, "source", common | source)
    receiver = start(far, "sink", common | {"input": "/chain_0"})
    try:
        return receiver.wait()
    finally:
        sender.terminate()
        sender.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
