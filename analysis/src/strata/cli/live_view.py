# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What `strata live` does with windows: a screen that follows them, one document, metrics."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from strata.cli.console import make_console
from strata.cli.record import say
from strata.errors import LiveError, SessionError

if TYPE_CHECKING:
    from strata.live.following import Follower
    from strata.live.tally import Tally
    from strata.live.windows import Windows

_LOOPBACK = "127.0.0.1"
_MOST_FAILED = 5
"""So many windows in a row may fail."""
_PLAIN_EVERY_S = 10.0
"""How often a screen is printed where there is no terminal."""


class _StoppedError(Exception):
    """A signal asked for the end."""


@dataclass(frozen=True)
class View:
    """How windows are shown, for `seconds` (null: until a signal, or the recording's end)."""

    once: bool
    seconds: float | None
    as_json: bool
    prometheus: str | None
    otlp: str | None
    companion: bool

    def run(self, windows: Windows) -> int:
        """Show windows until the end; return the exit status."""
        from strata.live.following import Follower
        from strata.live.sources import names_for

        follower = Follower(windows, names_for(windows))
        tally = follower.tally
        lost: LiveError | None = None
        with (
            self._metrics() as publish,
            self._screen(tally) as show,
            _ended_by_signals(),
            contextlib.suppress(_StoppedError),
        ):
            try:
                self._follow(follower, publish, show)
            except LiveError as error:
                lost = error
        self._print_last(tally)
        if lost is not None:
            raise lost
        return 1 if self.once and not tally.windows else 0

    def _follow(
        self, follower: Follower, publish: Callable[[Tally], None], show: Callable[[], None]
    ) -> None:
        windows, tally = follower.windows, follower.tally
        deadline = None if self.seconds is None else time.monotonic() + self.seconds
        failed = 0
        while not windows.ended and (deadline is None or time.monotonic() < deadline):
            try:
                stepped = follower.step() is not None
                failed = 0
            except (SessionError, OSError) as error:
                # LTTng may be busy for once.
                failed += 1
                if failed > _MOST_FAILED:
                    raise LiveError(str(error)) from error
                stepped = False
            if stepped:
                publish(tally)
                show()
            left = windows.wait_s
            if deadline is not None:
                left = min(left, max(0.0, deadline - time.monotonic()))
            if self._wait(left):
                return
        follower.step()

    def _wait(self, seconds: float) -> bool:
        """Wait; true when the recording beside which this runs has ended."""
        if self.companion:
            from strata.record.companion import wait_for_end

            return wait_for_end(seconds)
        time.sleep(seconds)
        return False

    @contextlib.contextmanager
    def _screen(self, tally: Tally) -> Iterator[Callable[[], None]]:
        from strata.show.terminal.live import live_screen

        console = make_console()
        if self.once:
            yield lambda: None
        elif console.is_terminal:
            from rich.live import Live

            with Live(console=console, screen=True, auto_refresh=False) as live:
                live.update(live_screen(tally, console.height), refresh=True)
                yield lambda: live.update(live_screen(tally, console.height), refresh=True)
        else:
            printed = [time.monotonic()]

            def show() -> None:
                if time.monotonic() - printed[0] >= _PLAIN_EVERY_S:
                    printed[0] = time.monotonic()
                    console.print(live_screen(tally, None))

            yield show

    @contextlib.contextmanager
    def _metrics(self) -> Iterator[Callable[[Tally], None]]:
        """Start what metrics are published by; Prometheus is served on loopback by default."""
        with contextlib.ExitStack() as stack:
            publishers: list[Callable[[Tally], None]] = []
            if self.prometheus:
                from strata.live.prometheus import serve

                address, port = _place(self.prometheus)
                server = serve(port, address)
                stack.callback(server.close)
                publishers.append(server.publish)
            if self.otlp:
                from strata.live.otlp import send

                sender = send(self.otlp, say)
                stack.callback(sender.close)
                publishers.append(sender.publish)

            def publish(tally: Tally) -> None:
                for one in publishers:
                    one(tally)

            yield publish

    def _print_last(self, tally: Tally) -> None:
        if self.as_json:
            from strata.show.document.live import live_document

            click.echo(json.dumps(live_document(tally), indent=1))
            return
        from strata.show.terminal.live import live_screen

        make_console().print(live_screen(tally, None))


def _place(text: str) -> tuple[str, int]:
    """Return address and port of `[ADDRESS:]PORT`."""
    address, _, port = text.rpartition(":")
    return address.strip("[]") or _LOOPBACK, int(port)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Have SIGINT and SIGTERM end the view in good order."""

    def stop(number: int, _: object) -> None:
        del number
        raise _StoppedError

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    former = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
        sys.stdout.flush()
