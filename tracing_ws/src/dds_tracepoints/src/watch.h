// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Emits `unfinished` for operations that do not end. A thread of its own looks at those of all
// others while their events are recorded, ten times a second: what they do costs nothing more.
#ifndef DDS_TRACEPOINTS_WATCH_H
#define DDS_TRACEPOINTS_WATCH_H

#include "operation.h"

// Threads that may be watched at once; further ones are not.
enum { MOST_WATCHED_THREADS = 256 };
extern struct thread_operations watched_threads[MOST_WATCHED_THREADS]
    __attribute__((visibility("hidden")));

// Starts the watch, if there is none in this process. Not from a signal handler.
void start_watch(void);

// An operation was left without an end: an exception or a longjmp went past its hook.
void emit_left(enum operation_kind kind, const struct operation* operation);

#endif
