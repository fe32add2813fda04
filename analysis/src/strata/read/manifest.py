# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a session's manifest.json says of the machine; strata.record writes it.

A trace without a manifest (of `ros2 trace`, say) is as good, and a manifest that cannot be read is
no reason not to analyze: both give null.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"


def read_manifest(path: Path) -> dict[str, Any] | None:
    """Return the manifest of a session, given its directory or one inside it; null without one."""
    for place in (path, path.resolve().parent):
        try:
            content = json.loads((place / MANIFEST).read_text())
        except (OSError, ValueError):
            continue
        return content if isinstance(content, dict) else None
    return None


def other_processes(manifest: dict[str, Any] | None) -> list[int]:
    """Return the ids of processes that ran beside the command; empty where that is not told."""
    others = ((manifest or {}).get("processes") or {}).get("others") or ()
    return [pid for pid in others if isinstance(pid, int)]


def session_of(path: Path) -> Path | None:
    """Return the session that `path` is or whose `trace` it is; null when it is no session's."""
    whole = path.resolve()
    if (path / MANIFEST).is_file():
        return path
    if whole.name != "trace" or not (whole.parent / MANIFEST).is_file():
        return None
    return path.parent if path.parent.resolve() == whole.parent else whole.parent


def describe_machine(manifest: dict[str, Any]) -> str:
    """Return ROS 2, rmw, machine and system in one line; what is unknown is left out."""
    host, ros = manifest.get("host") or {}, manifest.get("ros") or {}
    cpu = host.get("cpu_model")
    parts = [
        f"ROS 2 {str(ros['distro']).capitalize()}" if ros.get("distro") else None,
        ros.get("rmw"),
        f"{host.get('cpu_count', '?')} x {cpu}" if cpu else None,
        host.get("distribution"),
        f"Linux {host['kernel']}" if host.get("kernel") else None,
    ]
    return ", ".join(str(part) for part in parts if part)
