# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which words of LTTng's daemons mean that events are missing."""

from __future__ import annotations

import os

from strata.record.daemon_log import DaemonLog

# As lttng-tools 2.13 says it.
_START = """\
Error: Failed to load kmod library resources
Warning: No kernel tracer available
PERROR - 06:23:08.049822976 [Main]: failed to set open files limit: Operation not permitted (in set_ulimit() at main.c:1277)
"""  # noqa: E501
_FULL = """\
PERROR - 06:23:08.629762773 [22800/22808]: Error in write mmap (ret 245760 != write_len 262144): No space left on device (in lttng_consumer_on_read_subbuffer_mmap() at consumer.c:1747)
PERROR - 06:23:08.629932185 [22800/22808]: Error in write mmap (ret -28 != write_len 4096): No space left on device (in lttng_consumer_on_read_subbuffer_mmap() at consumer.c:1747)
Error: Error reading mmap subbuffer: -28
"""  # noqa: E501


def test_words_that_lose_events_are_told_once() -> None:
    log = DaemonLog()
    os.write(log.descriptor, _START.encode())
    assert log.look() == []
    os.write(log.descriptor, _FULL.encode())
    assert log.look() == [
        "Error in write mmap (ret 245760 != write_len 262144): No space left on device",
        "Error reading mmap subbuffer: -28",
    ]
    os.write(log.descriptor, _FULL.encode())
    assert log.look() == []
    log.close()


def test_the_log_stays_small() -> None:
    log = DaemonLog()
    for _ in range(300):
        os.write(log.descriptor, b"x" * 9_999 + b"\n")
        assert log.take() == ["x" * 9_999]
    assert os.fstat(log.descriptor).st_size < 2 << 20
    log.close()


def test_a_daemon_that_says_everything_is_cut_short() -> None:
    log = DaemonLog()
    lines = [f"Error: consumer command failed for {'abcdefghij'[i]}" for i in range(10)]
    os.write(log.descriptor, ("\n".join(lines) + "\n").encode())
    assert len(log.look()) == 8
    log.close()
