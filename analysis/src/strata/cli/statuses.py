# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Exit statuses of verbs that run a command: its own, and those that say that Strata failed.

125 to 127 are those of env, nohup and timeout, so that a command's own can be told from them.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from strata.cli.ending import explain
from strata.errors import StrataError

if TYPE_CHECKING:
    from strata.record.recording import Recording

_HELD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
INCOMPLETE = 121
CANNOT_RECORD, CANNOT_EXECUTE, NOT_FOUND = 125, 126, 127


@contextmanager
def own_range() -> Iterator[None]:
    """Give errors of Strata's their statuses of 125 and more.

    Signals are held from now on, also while the interpreter ends: until the command runs they end
    the set-up, later they are the command's, and after it they would change its status.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    with own_statuses():
        yield


@contextmanager
def own_statuses() -> Iterator[None]:
    """Give errors of Strata's their statuses of 125 and more."""
    try:
        yield
    except StrataError as error:
        error.exit_code = _status(error)
        raise
    except OSError as error:
        explained = explain(error)
        if explained is None:
            raise
        explained.exit_code = CANNOT_RECORD
        raise explained from error


def _status(error: StrataError) -> int:
    from strata.record.command import CannotExecuteError, NotFoundError

    if isinstance(error, CannotExecuteError):
        return CANNOT_EXECUTE
    return NOT_FOUND if isinstance(error, NotFoundError) else CANNOT_RECORD


class OwnRangeCommand(click.Command):
    """A verb whose wrong usage ends with 125: 2 may be the recorded command's own."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: object,
    ) -> click.Context:
        """Parse the options."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            error.exit_code = CANNOT_RECORD  # type: ignore[misc]
            raise


def exit_with(status: int, recording: Recording) -> None:
    """Exit with the command's status; with that of an incomplete recording, if it succeeded."""
    if status == 0 and not recording.complete:
        status = INCOMPLETE
    sys.exit(status)
