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

// A send of a buffer, from before it to after it.
struct sending {
  struct operation* operation;  // null: the buffer holds no sample of the application
  struct operation outer;
};

static inline bool is_send_wanted(void) { return WANTED(sent) || WANTED(send_sample); }

// Emits send_sample for samples of the buffer after the first.
void send_begins(struct sending* sending, int32_t transport, const struct iovec* parts,
                 size_t count);

// The same of a sample that goes without a buffer.
void send_of_sample_begins(struct sending* sending, int32_t transport, const struct sample* sample);

// Right after the send: errno is still that of the call. Emits sent.
void send_ends(struct sending* sending, const struct destination* to, int32_t result);

// Emits receive (and receive_sample) for a buffer that holds samples of the application. `port`:
// where it was received; 0: not known. With `receipt`, a buffer with one whole sample becomes that
// operation of the thread, and nothing is emitted yet: true then.
bool emit_receive(int32_t transport, uint32_t port, const struct iovec* parts, size_t count,
                  struct operation* receipt);

// A conversion begins on this thread; ends. Its steps are those of an operation of a kind, if one
// is open that has not had any: else it has an event of its own. The data that it begins with is
// that of the operation.
struct conversion {
  struct operation* operation;  // null: it has its own event
  const void* data;
  int64_t begin_ns;  // 0: nothing is wanted
};
struct conversion serialize_begins(const void* data);
void serialize_ends(const struct conversion* conversion, uint32_t size);
struct conversion deserialize_begins(const void* data);
void deserialize_ends(const struct conversion* conversion, uint32_t size);

// The thread put a sample into a writer's history.
void emit_writer_history_add(const struct sample* sample);

// A take ended that put the first value somewhere.
void emit_taken(const struct operation* take, const void* buffer, const struct sample* sample,
                int32_t taken, int32_t result);

#endif
