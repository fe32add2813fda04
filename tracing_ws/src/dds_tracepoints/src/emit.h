// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What every hook uses to emit, and what hooks of one thread tell each other.
#ifndef DDS_TRACEPOINTS_EMIT_H
#define DDS_TRACEPOINTS_EMIT_H

#include <errno.h>

#include "events.h"
#include "operation.h"
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

static inline bool is_send_wanted(void) { return WANTED(sent) || WANTED(send_sample); }

// The thread enters a send, if the buffer holds samples of the application. Emits send_sample for
// those after the first.
void send_begins(struct entered* send, int32_t transport, const struct iovec* parts, size_t count);

// The same of a sample that goes without a buffer.
void send_of_sample_begins(struct entered* send, int32_t transport, const struct sample* sample);

// Right after the send: errno is still that of the call. Emits sent.
void send_ends(struct entered* send, const struct destination* to, int32_t result);

// Emits receive (and receive_sample) for a buffer that holds samples of the application. `port`:
// where it was received; 0: not known. With `receipt`, a buffer with one whole sample becomes that
// operation of the thread, and nothing is emitted yet: true then.
bool emit_receive(int32_t transport, uint32_t port, const struct iovec* parts, size_t count,
                  struct operation* receipt);

// A conversion of a value into bytes, or of bytes into a value, for as long as its hook is. Its
// steps are those of the write or take that is open, if that has had none and is of the same value:
// else it has an event of its own.
struct conversion {
  struct operation* operation;  // null: it has its own event
  const void* data;
  int64_t begin_ns;  // 0: nothing is wanted, or it has ended
  bool serializes;
};

// Of the end of a hook: an exception goes past a conversion that has its own event.
void end_by_exception(struct conversion* conversion);

#define CONVERSION(name) \
  struct conversion name __attribute__((cleanup(end_by_exception))) = {.operation = NULL}

void serialize_begins(struct conversion* conversion, const void* data);
void deserialize_begins(struct conversion* conversion, const void* data);
// `size`: bytes; 0: it failed.
void conversion_ends(struct conversion* conversion, uint32_t size);

// The thread put a sample into a writer's history.
void emit_writer_history_add(const struct sample* sample);

// A take ended that put the first value somewhere.
void emit_taken(const struct operation* take, const void* buffer, const struct sample* sample,
                int32_t taken, int32_t result);

#endif
