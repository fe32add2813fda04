# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a session's manifest.json says of the machine and of the recording; strata.record writes it.

A trace without a manifest (of `ros2 trace`, say) is as good. A manifest that cannot be read is no
reason not to analyze: what it would tell is null. That it cannot be read is told
(strata.read.recording).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from strata.documents import DocumentError, read_bytes
from strata.printable import path_text

MANIFEST = "manifest.json"
RESULTS_NAME = "results"
"""The results directory (strata.read.results) of a session."""
MOST_BYTES = 16 << 20
"""Of a manifest: one of a thousand processes has less than 1 MiB."""

_OBJECTS = ("host", "ros", "processes", "config", "command", "scenario", "start", "end", "versions")
"""Keys whose values are objects, where they are there and not null."""


class ManifestError(ValueError):
    """A manifest that cannot be used; the text says why."""


def load_manifest(place: Path) -> dict[str, Any]:
    """Return the manifest in a directory.

    What is of a wrong type among its sections is left out. Raises FileNotFoundError, and
    ManifestError when it cannot be read or is no manifest.
    """
    path = place / MANIFEST
    try:
        text = read_bytes(path, MOST_BYTES)
    except DocumentError as error:
        raise ManifestError(error.fact) from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(path) from error
    except OSError as error:
        raise ManifestError(str(error.strerror)) from error
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ManifestError("it is not a complete JSON document") from error
    if not isinstance(content, dict):
        raise ManifestError("it is not a JSON object")
    return {
        key: value
        for key, value in content.items()
        if key not in _OBJECTS or value is None or isinstance(value, dict)
    }


def read_manifest(path: Path) -> dict[str, Any] | None:
    """Return the manifest of a session, given its directory or one inside it; null without one."""
    for place in (path, path.resolve().parent):
        try:
            return load_manifest(place)
        except (FileNotFoundError, ManifestError):
            continue
    return None


def other_processes(manifest: dict[str, Any] | None) -> list[int]:
    """Return the ids of processes that ran beside the command; empty where that is not known."""
    others = ((manifest or {}).get("processes") or {}).get("others") or ()
    return [pid for pid in others if isinstance(pid, int)] if isinstance(others, list) else []


def session_of(path: Path) -> Path | None:
    """Return the session that `path` is or whose `trace` it is; null when it is no session's."""
    whole = path.resolve()
    if (path / MANIFEST).is_file():
        return path
    if whole.name != "trace" or not (whole.parent / MANIFEST).is_file():
        return None
    return path.parent if path.parent.resolve() == whole.parent else whole.parent


def title_of(trace: Path) -> str:
    """Return the name of the session that `trace` is or lies in, else the directory's own.

    Results in a session (`RESULTS_NAME`) have its name, too.
    """
    inside = trace.resolve().name in ("trace", RESULTS_NAME)
    place = session_of(trace) or (session_of(trace.resolve().parent) if inside else None) or trace
    return path_text(place.resolve().name or str(place))


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
