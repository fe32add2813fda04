# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One LTTng session: created, set up, started, stopped and destroyed, whatever happens between."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from strata.errors import SessionError
from strata.record.command import refuse_if_interrupted
from strata.record.config import SessionConfig
from strata.record.lttng import KERNEL, UST, Lttng
from strata.record.preload import asks_for
from strata.schema.events import DDS_PROVIDER, DRIVER_PROVIDER, PROVIDER

# Generous: the consumer may have gigabytes of full buffers to write.
_STOP_TIMEOUT_S = 120.0
# One that cannot write them may never answer.
_TROUBLED_STOP_TIMEOUT_S = 15.0
_ANNOUNCING = (PROVIDER, DDS_PROVIDER, DRIVER_PROVIDER)
_STATEDUMP = "ros2_statedump"
_DUMPS = f"{_STATEDUMP}:*"
_NOT_COUNTED = "LTTng did not report how many events were lost to full buffers"


class Session:
    """A session, which exists from the entry of this context manager to its exit.

    `discarded` counts the events lost to full buffers, once it was stopped; null when LTTng did
    not say. `problems` say why the trace may lack something, each said at once.
    `ended` tells that there is none: it was destroyed, or not asked for yet. A `ring` writes
    nothing but snapshots, and loses nothing to full buffers. With `named_only` it records only the
    processes that `lttng track` names.
    """

    def __init__(
        self,
        lttng: Lttng,
        name: str,
        trace: Path,
        say: Callable[[str], None],
        *,
        ring: bool = False,
        named_only: bool = False,
    ) -> None:
        self.lttng, self.name, self._trace, self._say = lttng, name, trace, say
        self._ring, self._named_only = ring, named_only
        self._started = self._stopped = self._stuck = self._lost = False
        self.ended = True
        self.discarded: int | None = None
        self.problems: list[str] = []

    def __enter__(self) -> Session:
        refuse_if_interrupted()
        self.ended = False
        with _current_session_kept(self.lttng):
            self.lttng.create(self.name, self._trace, snapshot=self._ring)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._started:
            self.stop()
        # Waiting again for a consumer that did not finish in time, or died, would not help.
        wait = kind is None and not self._stuck and not self.problems
        with _current_session_kept(self.lttng):
            try:
                self.lttng.destroy(self.name, wait=wait)
                self.ended = True
            except SessionError as error:
                # The trace of a session that was stopped is whole.
                if not self._lost:
                    self._say(str(error))

    def start(self, config: SessionConfig, *, kernel: bool) -> None:
        """Set the session up and start it; `kernel` where lttng-modules record its events.

        Raises SessionError.
        """
        refuse_if_interrupted()
        per_pid = config.buffers == "per-pid"
        if not self._ring:
            self.lttng.flush_metadata(self.name, UST, per_pid=per_pid)
        self.lttng.enable_channel(self.name, UST, config.channel, per_pid=per_pid)
        for event in with_statedumps(config.ust):
            self.lttng.enable_event(self.name, UST, event)
        unknown = self.lttng.unknown_contexts(config.contexts)
        for context in unknown:
            self._say(
                f"lttng-tools has no context {context}: containers may be mixed up (see strata "
                "doctor)"
            )
        contexts = [context for context in config.contexts if context not in unknown]
        self.lttng.add_contexts(self.name, UST, contexts)
        if kernel:
            self.lttng.enable_channel(self.name, KERNEL, config.channel)
            for event in config.kernel:
                self.lttng.enable_event(self.name, KERNEL, event)
            self.lttng.add_contexts(self.name, KERNEL, contexts)
        if self._named_only:
            self.lttng.track_nobody(self.name)
        refuse_if_interrupted()
        self.lttng.start(self.name)
        self._started = True
        refuse_if_interrupted()

    def stop(self) -> None:
        """Stop recording and count what was lost; a failure is a problem, not an error."""
        if self._stopped:
            return
        self._stopped = True
        patience_s = _TROUBLED_STOP_TIMEOUT_S if self.problems else _STOP_TIMEOUT_S
        self._stuck = not self._try(lambda: self.lttng.stop(self.name, patience_s))
        if self._ring:
            self.discarded = 0
            return
        counted = self._try(self._count)
        if counted and self.discarded is None and not (self._stuck or self._lost):
            self.problem(_NOT_COUNTED)

    def lose(self, why: str) -> None:
        """Note that its daemon is gone: what fails from now on says nothing new."""
        self.problem(why)
        self._lost = True

    def problem(self, text: str) -> None:
        """Note what went wrong, and say it."""
        if text not in self.problems:
            self.problems.append(text)
            self._say(text)

    def _count(self) -> None:
        self.discarded = self.lttng.discarded(self.name)

    def _try(self, step: Callable[[], None]) -> bool:
        try:
            step()
        except SessionError as error:
            if not self._lost:
                self.problem(str(error))
            return False
        return True


def with_statedumps(events: Sequence[str]) -> list[str]:
    """Add the events around announcements of what was there before, where these are recorded.

    Without them what a process says again would be taken for news.
    """
    announcing = any(asks_for(events, provider) for provider in _ANNOUNCING)
    return [*events, *([] if asks_for(events, _STATEDUMP) or not announcing else [_DUMPS])]


@contextlib.contextmanager
def _current_session_kept(lttng: Lttng) -> Iterator[None]:
    """Keep the user's current session: `lttng create` makes the new one current in ~/.lttngrc.

    Nothing that goes wrong with that file is an error: the session matters more.
    """
    settings = _UserSettings.of(lttng)
    try:
        yield
    finally:
        if settings is not None:
            with contextlib.suppress(OSError):
                settings.restore()


@dataclass(frozen=True)
class _UserSettings:
    """The user's ~/.lttngrc as it was; `content` and `status` are null when there was none."""

    path: Path
    content: bytes | None
    status: os.stat_result | None

    @classmethod
    def of(cls, lttng: Lttng) -> _UserSettings | None:
        """Read it; null when that cannot be done, and it must not be touched."""
        home = lttng.environment.get("LTTNG_HOME") or lttng.environment.get("HOME")
        try:
            # A link stays one: what it leads to is restored.
            path = Path(os.path.realpath(Path(home or Path.home()) / ".lttngrc"))
            if not os.path.lexists(path):
                return cls(path, None, None)
            return cls(path, path.read_bytes(), path.stat()) if path.is_file() else None
        except (OSError, RuntimeError):
            return None

    def restore(self) -> None:
        """Put back what was there, in one step, if it changed. Raises OSError."""
        if self.content is None or self.status is None:
            self.path.unlink(missing_ok=True)
            return
        if self.path.is_file() and self.path.read_bytes() == self.content:
            return
        partial = self.path.with_name(f"{self.path.name}.strata-{os.getpid()}")
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with os.fdopen(os.open(partial, flags, 0o600), "wb") as file:
                with contextlib.suppress(OSError):
                    os.fchown(file.fileno(), self.status.st_uid, self.status.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(self.status.st_mode))
                file.write(self.content)
            partial.replace(self.path)
        except OSError:
            partial.unlink(missing_ok=True)
            raise
