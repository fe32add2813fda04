# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where a running recording is followed: ring buffers of this machine, or a relay daemon.

    guard/                           what `strata guard` or `strata live` records into ring buffers
    SESSION/                         what `strata record` records in chunks (--rotate)
    net://HOST[:PORT][/SESSION]      a session that lttng-relayd receives on HOST

The latter may also be as babeltrace2 has it: net://HOST[:PORT]/host/TRACED_HOST/SESSION.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from strata.errors import LiveError, SessionError
from strata.live.chunk_windows import ChunkWindows
from strata.live.followed import FollowedSession
from strata.live.init_session import init_directory, is_running, known_to, traced_since
from strata.live.known_names import KnownNames
from strata.live.relayed import RelayedWindows
from strata.live.ring_windows import RingWindows
from strata.live.viewer import PORT, LiveSession, Seek, Viewer
from strata.live.windows import EVERY_NS, LEAST_BACK_NS, Windows
from strata.read.manifest import read_manifest
from strata.record.directory import MANIFEST, TRACE, read_state
from strata.record.lttng import Lttng
from strata.record.ring import RING

SCHEME = "net"
_NEXT = (
    "Give the directory of a running `strata guard`, or net://HOST[:PORT]/SESSION of a session "
    "that lttng-relayd receives"
)


@contextlib.contextmanager
def follow_relayed(url: str, *, from_now: bool = False) -> Iterator[Windows]:
    """Follow a session of a relay daemon: from its begin, or from now on.

    From now on names are there only of what is announced from now on: processes of this machine are
    asked to announce again. Raises LiveError.
    """
    host, port, traced_host, name = _parts(url)
    with Viewer.connect(host, port) as viewer, tempfile.TemporaryDirectory("-strata") as place:
        session = _chosen(viewer.sessions(), traced_host, name, f"{host}:{port}")
        followed = FollowedSession(viewer, session.id, Seek.NOW if from_now else Seek.BEGINNING)
        if from_now:
            with contextlib.suppress(SessionError):
                Lttng(dict(os.environ) | {"LC_ALL": "C"}).regenerate_statedump(session.name)
        yield RelayedWindows(followed, Path(place) / "window")


@contextlib.contextmanager
def follow_directory(directory: Path) -> Iterator[Windows]:
    """Follow what is recorded into a directory of this machine: ring buffers, or chunks.

    Raises LiveError.
    """
    state = read_state(directory)
    if state is None or state.ring or not state.recorder_alive:
        windows = follow_ring(directory)
        try:
            yield windows
        finally:
            windows.close()
        return
    if not _is_rotated(directory):
        raise LiveError(
            f"Cannot follow {directory}: it is not recorded in chunks. Record with --rotate, or "
            "use `strata live` without SOURCE beside it."
        )
    with tempfile.TemporaryDirectory("-strata", dir=directory, prefix=".live-") as place:
        yield ChunkWindows(directory, Path(place) / "window")


def _is_rotated(directory: Path) -> bool:
    """Return whether a recording that is being made begins new chunks now and then."""
    return bool((read_manifest(directory) or {}).get("rotation"))


def names_for(windows: Windows) -> KnownNames:
    """Return the names that are known before the first window."""
    return windows.names() if isinstance(windows, ChunkWindows) else names_of_init_session()


def follow_ring(
    directory: Path, every_ns: int = EVERY_NS, least_back_ns: int = LEAST_BACK_NS
) -> RingWindows:
    """Follow ring buffers that a recorder of this machine keeps. Raises LiveError.

    `directory` is the recorder's own, or that of a guard.
    """
    directory = directory / RING if (directory / RING).is_dir() else directory
    state = read_state(directory)
    if state is None or not state.ring or not state.recorder_alive:
        raise LiveError(f"Cannot follow {directory}: nothing is recorded there now. {_NEXT}.")
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        subbuf_size = int(manifest["config"]["channel"]["subbuf_size"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LiveError(
            f"Cannot follow {directory}: its {MANIFEST} does not tell its buffers ({error!r})."
        ) from error
    lttng = Lttng(dict(os.environ) | {"LC_ALL": "C"})
    _remove_former(directory / TRACE)
    # Another one may look at the same ring buffers.
    output = directory / TRACE / f"by-{os.getpid()}"
    # What was announced before may have been overwritten.
    with contextlib.suppress(SessionError):
        lttng.regenerate_statedump(state.session)

    def is_recorded() -> bool:
        now = read_state(directory)
        return now is not None and now.session == state.session and now.recorder_alive

    return RingWindows(
        lttng, state.session, output, subbuf_size, every_ns, least_back_ns, is_recorded
    )


def _remove_former(trace: Path) -> None:
    """Remove what those left that looked at ring buffers and were killed."""
    for place in trace.glob("by-*"):
        pid = place.name.removeprefix("by-").removesuffix("-kept")
        if pid.isascii() and pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(place, ignore_errors=True)


def names_of_init_session() -> KnownNames:
    """Return the names that the init session of `strata daemon` knows, if it runs."""
    names = KnownNames()
    directory = init_directory(os.environ)
    if is_running(directory):
        names.add(known_to(directory, traced_since()))
    return names


def _parts(url: str) -> tuple[str, int, str | None, str | None]:
    """Return host and port of the relay daemon, and the session's host and name, if stated."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise LiveError(f"Cannot follow {url}: {error}. {_NEXT}.") from error
    words = [unquote(word) for word in parts.path.split("/") if word]
    if parts.scheme != SCHEME or not parts.hostname or len(words) not in (0, 1, 3):
        raise LiveError(f"Cannot follow {url}: it is no address of a session. {_NEXT}.")
    if len(words) == 3:
        if words[0] != "host":
            raise LiveError(f"Cannot follow {url}: it is no address of a session. {_NEXT}.")
        return parts.hostname, port or PORT, words[1], words[2]
    return parts.hostname, port or PORT, None, words[0] if words else None


def _chosen(
    sessions: list[LiveSession], host: str | None, name: str | None, place: str
) -> LiveSession:
    """Return the session that is meant: one that is not named is the only one that is live."""
    wanted = [
        one
        for one in sessions
        if name in (None, one.name) and host in (None, one.host) and one.live_timer_us
    ]
    if len(wanted) == 1:
        return wanted[0]
    listed = ", ".join(f"{one.name} (of {one.host})" for one in sessions if one.live_timer_us)
    which = "no live session" if name is None else f"no live session {name}"
    fact = f"{which} is there" if not wanted else "it receives several live sessions"
    raise LiveError(
        f"Cannot follow lttng-relayd at {place}: {fact}. It has: {listed or 'none'}. Create one "
        "with `lttng create --live --set-url=net://HOST`, and name it in the address."
    )
