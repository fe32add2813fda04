// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What every hook uses to emit, and what hooks of one thread tell each other.
#ifndef DDS_TRACEPOINTS_EMIT_H
#define DDS_TRACEPOINTS_EMIT_H

#include <errno.h>

#include "events.h"
#include "real.h"
#include "rtps.h"

// A hook's function replaces one of another library: it must be visible, everything else is not.
#define EXPORT __attribute__((visibility("default")))

// True while a session records the event. One load and one branch.
#define WANTED(event) lttng_ust_tracepoint_enabled(dds, event)

// Emits when wanted; the arguments are not evaluated otherwise. The caller's errno stays.
#define EMIT(event, ...)                                \
  do {                                                  \
    if (WANTED(event)) {                                \
      int saved_errno = errno;                          \
      lttng_ust_do_tracepoint(dds, event, __VA_ARGS__); \
      errno = saved_errno;                              \
    }                                                   \
  } while (0)

// The sample that this thread put into a writer's history last.
extern _Thread_local struct sample last_added;

// The sample in the buffer that this thread received last; zeros when there were several.
extern _Thread_local struct sample last_received;

// Emits send_begin (and send_sample) for a buffer; false when it holds no sample of the
// application, and nothing was emitted.
bool emit_send_begin(int32_t transport, const struct iovec* parts, size_t count);

// Emits receive (and receive_sample) for a buffer that holds samples of the application.
// `port`: where it was received; 0: not known.
void emit_receive(int32_t transport, uint32_t port, const struct iovec* parts, size_t count);

#endif
