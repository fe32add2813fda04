# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The YAML file that describes a recording session: what is recorded, and into which buffers."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from strata.documents import DocumentError
from strata.errors import SessionError
from strata.record.fields import Fields
from strata.record.places import find_file, shipped_files
from strata.yaml_document import read_yaml

# LTTng-UST 2.13's contexts that need no further argument.
_PLAIN = ["vpid", "vtid", "procname", "pthread_id", "ip", "cpu_id"]
_CREDENTIALS = ["vuid", "veuid", "vsuid", "vgid", "vegid", "vsgid"]
_NAMESPACES = [
    f"{kind}_ns" for kind in ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")
]
_CONTEXTS = frozenset([*_PLAIN, *_CREDENTIALS, *_NAMESPACES])
_PARAMETRIC_CONTEXT = re.compile(r"perf:thread:[\w:-]+|\$app\.[\w.]+:[\w.]+")
# Message matching and Trace Compass's ROS 2 plug-in both key on (vpid, vtid).
_NEEDED_CONTEXTS = ("vpid", "vtid")
# Those of an Ouster sensor: its points, and its IMU.
DRIVER_PORTS = (7502, 7503)
# 2.6 MB for metadata (lttng-tools 2.13 on 2 CPUs), and some pages for each buffer.
_BESIDE_BUFFERS = 3 << 20
_EVENT = re.compile(r"[A-Za-z_*][\w:*.+-]*")


@dataclass(frozen=True)
class Channel:
    """A ring buffer for each CPU and user (or process).

    `subbuf_size` is in bytes, the timers in microseconds; a timer of 0 is off. With the timers'
    defaults, what the consumer has not written is at most 0.6 s old.
    """

    subbuf_size: int = 1 << 20
    num_subbuf: int = 8
    switch_timer: int = 400_000
    read_timer: int = 200_000
    mode: str = "discard"
    output: str = "mmap"

    def bytes_on(self, cpus: int) -> int:
        """Give what the channel's buffers hold on a machine, in bytes a user (or process)."""
        return self.subbuf_size * self.num_subbuf * cpus

    def memory_on(self, cpus: int) -> int:
        """Give the memory in /dev/shm that it takes on a machine, in bytes a user (or process).

        LTTng-UST has a sub-buffer more for each CPU, which a reader swaps in; the metadata's
        channel and what describes the buffers come to it.
        """
        return self.subbuf_size * (self.num_subbuf + 1) * cpus + _BESIDE_BUFFERS


@dataclass(frozen=True)
class SessionConfig:
    """What a session records. `file` is where it was read."""

    file: Path
    ust: tuple[str, ...]
    kernel: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ("vpid", "vtid", "procname")
    channel: Channel = field(default_factory=Channel)
    buffers: str = "per-uid"
    driver_ports: tuple[int, ...] = DRIVER_PORTS
    """UDP ports whose sockets are traced when events of the provider `driver` are listed."""

    @property
    def name(self) -> str:
        """Name the configuration, by its file."""
        return self.file.stem

    def as_json(self) -> dict[str, Any]:
        """Give the whole configuration, defaults filled in, for the manifest."""
        return {
            "events": {
                "ust": list(self.ust),
                "kernel": list(self.kernel),
            },
            "contexts": list(self.contexts),
            "channel": asdict(self.channel),
            "buffers": self.buffers,
            "driver_ports": list(self.driver_ports),
        }


def find_config(name: str) -> Path:
    """Resolve a path, or a bare name among the shipped `trace_configs/*.yaml`.

    Raises SessionError when there is no such file; the text lists the shipped names.
    """
    return find_file(name, "configuration", shipped_files(".", ".yaml"), "Give -c", SessionError)


def load_config(name: str) -> SessionConfig:
    """Read and check a session's configuration.

    Raises SessionError, naming the file and the key, for anything that LTTng would refuse, round
    or misunderstand.
    """
    path = find_config(name)
    try:
        document = read_yaml(path)
    except DocumentError as error:
        raise error.refusal(path, "configuration", SessionError) from error
    return parse_config(document, path)


def parse_config(document: object, path: Path) -> SessionConfig:
    """Check a configuration's document; `path` is what the errors name."""
    top = Fields.of(
        document, path, "", ("events", "contexts", "channel", "buffers", "driver_ports")
    )
    events = top.section("events", ("ust", "kernel"))
    ust = _events(events, "ust")
    if not ust:
        events.refuse("ust", "no event is listed", "List at least one, as in `ust: [ros2:*]`")
    return SessionConfig(
        file=path,
        ust=ust,
        kernel=_events(events, "kernel"),
        contexts=_contexts(top),
        channel=_channel(top),
        buffers=top.choice("buffers", ("per-uid", "per-pid"), "per-uid"),
        driver_ports=top.ports("driver_ports", DRIVER_PORTS),
    )


def _events(section: Fields, key: str) -> tuple[str, ...]:
    names = section.names(key, ())
    for name in names:
        if not _EVENT.fullmatch(name):
            section.refuse(key, f"'{name}' is not an event name", "Write `provider:event` or a `*`")
    return names


def _contexts(top: Fields) -> tuple[str, ...]:
    contexts = top.names("contexts", ("vpid", "vtid", "procname"))
    for context in contexts:
        if context not in _CONTEXTS and not _PARAMETRIC_CONTEXT.fullmatch(context):
            top.refuse(
                "contexts",
                f"'{context}' is not a context of LTTng-UST",
                f"Known: {', '.join(sorted(_CONTEXTS))}, perf:thread:COUNTER",
            )
    missing = [context for context in _NEEDED_CONTEXTS if context not in contexts]
    if missing:
        top.refuse(
            "contexts",
            f"{' and '.join(missing)} not listed, but needed to match messages",
            "List vpid and vtid",
        )
    return contexts


def _channel(top: Fields) -> Channel:
    default = Channel()
    section = top.section(
        "channel",
        ("subbuf_size", "num_subbuf", "switch_timer", "read_timer", "mode", "output"),
        optional=True,
    )
    mode = section.choice("mode", ("discard", "overwrite"), default.mode)
    return Channel(
        subbuf_size=section.size("subbuf_size", default.subbuf_size),
        num_subbuf=section.power_of_two("num_subbuf", default.num_subbuf, 2),
        switch_timer=section.whole("switch_timer", default.switch_timer),
        read_timer=section.whole("read_timer", default.read_timer),
        mode=mode,
        output=section.choice("output", ("mmap",), default.output),
    )
