# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of executions of callbacks, and of their suspensions."""

from __future__ import annotations

INT, SHORT, FLAG = "int64_t", "int32_t", "uint8_t"

EXECUTION_ROWS = (
    (
        "executions",
        (
            ("thread", SHORT, "row of the threads"),
            ("start_ns", INT, "callback_start"),
            ("start_at", INT, "its place in the order of events"),
            ("end_ns", INT, "callback_end; null: it never ended, as far as is known"),
            ("until_ns", INT, "until when it is known to have run"),
            (
                "until_at",
                INT,
                "place of the event that bounds it; null: the first loss of events does",
            ),
            ("address", INT, "address of the callback"),
            ("timer_picked_ns", INT, "when the executor picked the timer that it is of"),
            ("callback", SHORT, "row of the callbacks"),
            ("outer", SHORT, "row of the innermost execution that had begun, and was not over"),
            ("depth", SHORT, "executions that ran on the thread when it began, itself included"),
            ("is_intra_process", FLAG, "1: its message came through a ring buffer; 2: not known"),
            ("is_resumed", FLAG, "it goes on with a suspended execution"),
        ),
        "Executions of callbacks, in the order in which they began.",
        ("address", "outer"),
    ),
    (
        "execution_pieces",
        (
            ("piece", SHORT, "row of the executions"),
            ("first", SHORT, "row of the execution's first piece"),
            ("last", SHORT, "row of its last piece"),
            ("previous", SHORT, "row of the piece before"),
            ("finished_ns", INT, "end of the execution's last piece"),
            ("paused_ns", INT, "how long it was suspended before this piece"),
        ),
        "Pieces of executions that were suspended, by row; every other execution is one piece, "
        "its first and last.",
    ),
    (
        "suspensions",
        (
            ("process", SHORT, "row of the processes"),
            ("number", INT, "number of the execution in its process"),
            ("ns", INT, "callback_suspend or callback_resume"),
            ("at", INT, "its place in the order of events"),
            ("execution", SHORT, "the piece that ends, or that begins"),
            ("is_resume", FLAG, "it begins"),
        ),
        "Where executions of coroutines were suspended and resumed.",
    ),
    (
        "hanging_executions",
        (
            ("execution", SHORT, "row of the executions"),
            ("seen_ns", INT, "the last event of its host"),
            ("lost_ns", INT, "the first loss of events after it began; else the far future"),
        ),
        "Executions without an end that are the last that their thread did: these may have gone on "
        "after `until_ns`, up to the earlier of the two.",
    ),
    (
        "open_waits",
        (
            ("thread", SHORT, "row of the threads"),
            ("start_ns", INT, "it began"),
            ("end_ns", INT, "the last event of its host, or the first loss of events"),
        ),
        "Waits for work that were the last that their threads did.",
    ),
    (
        "executor_threads",
        (
            ("thread", SHORT, "row of the threads"),
            ("first_ns", INT, "the first event of an executor, a wait or a callback"),
            ("last_ns", INT, "the last one"),
            ("spin_ns", INT, "when it first waited or looked for work; null for never"),
            ("has_executor", FLAG, "it emitted events of an executor"),
        ),
        "Threads that ran callbacks or waited for work.",
    ),
)
