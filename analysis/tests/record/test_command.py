# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How a command's end is judged, and what becomes of one that does not end."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from strata.record import command as command_module
from strata.record.command import Command, EarlyStopError, End, held_signals, refuse_if_interrupted

_DEAF = ["sh", "-c", "trap '' TERM HUP; while true; do sleep 0.05; done"]


@pytest.mark.parametrize(
    ("end", "succeeded"),
    [
        (End(0, None), True),
        (End(1, None), False),
        (End(None, "SIGSEGV"), False),
        (End(0, None, "SIGINT"), True),
        (End(None, "SIGINT", "SIGINT"), True),
        (End(130, None, "SIGINT"), True),
        (End(143, None, "SIGINT"), False),
        (End(130, None), False),
        (End(1, None, "SIGTERM"), False),
        (End(None, "SIGKILL", "SIGINT", killed=True), False),
        (End(0, None, "SIGINT", killed=True), False),
    ],
)
def test_an_end_as_it_was_told_to_is_a_success(end: End, succeeded: bool) -> None:
    assert end.succeeded is succeeded


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGHUP])
def test_a_deaf_command_is_killed_after_the_grace_time(
    monkeypatch: pytest.MonkeyPatch, signum: signal.Signals
) -> None:
    monkeypatch.setattr(command_module, "_GRACE_S", 0.5)
    # Signals go to this thread by name: other tests leave threads that do not hold them.
    with held_signals():
        command = Command("/bin/sh", _DEAF, dict(os.environ))
        # Let the shell set its trap; before, the signal would simply end it.
        time.sleep(0.5)
        began = time.monotonic()
        signal.pthread_kill(threading.get_ident(), signum)
        end = command.wait()
    assert 0.5 <= time.monotonic() - began < 5
    assert end == End(None, "SIGKILL", signum.name, killed=True)


def test_a_signal_before_the_command_stops_the_set_up_and_has_no_later_effect() -> None:
    with held_signals():
        refuse_if_interrupted()
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        with pytest.raises(EarlyStopError, match="SIGINT was received before the recording began"):
            refuse_if_interrupted()
    # Its effect was the refusal; a KeyboardInterrupt must not follow.
    time.sleep(0.05)


def test_the_command_hears_signals_that_we_hold_back() -> None:
    with held_signals():
        command = Command("/bin/sh", ["sh", "-c", "kill -TERM $$; exit 4"], dict(os.environ))
        assert command.wait() == End(None, "SIGTERM")
