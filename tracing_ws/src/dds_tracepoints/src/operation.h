// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What a thread is doing: a write, a take, a send, or the receipt of a sample. Its hooks note
// readings of the clock here; one event at its end has all of them, which costs a fraction of an
// event for each step. What does not end is emitted by the watch (watch.c).
#ifndef DDS_TRACEPOINTS_OPERATION_H
#define DDS_TRACEPOINTS_OPERATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "rtps.h"

enum operation_kind {
  OPERATION_NONE = 0,
  OPERATION_WRITE = 1,
  OPERATION_TAKE = 2,
  OPERATION_SEND = 3,
  OPERATION_RECEIVE = 4,
  OPERATION_KINDS,
};

// Steps of a write; those of a take; that of a receipt.
enum { SERIALIZE_BEGIN, SERIALIZE_END, WRITER_HISTORY_ADD, MOST_STEPS };
enum { DESERIALIZE_BEGIN, DESERIALIZE_END };
enum { READER_HISTORY_ADD };

struct operation {
  // CLOCK_MONOTONIC, ns, as LTTng's; 0: there is no operation. Written last when one begins, and
  // first when it ends: the watch reads it from another thread.
  _Atomic int64_t begin_ns;
  _Atomic int64_t step_ns[MOST_STEPS];  // 0: not done
  const void* entity;                   // its writer or reader
  const void* data;                     // its value
  // Address of the stack where its hook is; 0: no hook is there. A hook may be interrupted by a
  // signal whose handler calls hooks: from here on they keep what they find.
  uintptr_t frame;
  uint32_t size;  // bytes serialized or deserialized
  int32_t transport;
  uint32_t port;
  uint32_t bytes;  // of the buffer
  // Of a write: from WRITER_HISTORY_ADD on.
  struct sample sample;
};

// What the watch emitted last: an operation, with some steps (bits).
struct watched {
  int64_t begin_ns;
  uint32_t steps;
};

struct thread_operations {
  _Atomic int32_t thread;  // its id; 0: the place is free
  struct operation of[OPERATION_KINDS];
  struct watched watched[OPERATION_KINDS];  // the watch's own
};

// Whether this process has a watch (watch.c).
extern _Atomic bool is_watched __attribute__((visibility("hidden")));

// Those of this thread; null before its first.
extern _Thread_local struct thread_operations* own_operations __attribute__((visibility("hidden")));

// The first operation of this thread, or of the process. A send may be a signal handler's: it
// starts no watch.
struct thread_operations* make_own_operations(bool may_start_watch);

static inline struct operation* operation_of(enum operation_kind kind) {
  struct thread_operations* own = own_operations;
  bool watched = atomic_load_explicit(&is_watched, memory_order_relaxed);
  if (__builtin_expect(own == NULL || !watched, 0)) {
    own = make_own_operations(kind != OPERATION_SEND);
  }
  return &own->of[kind];
}

static inline int64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t begin_of(const struct operation* operation) {
  return atomic_load_explicit(&operation->begin_ns, memory_order_relaxed);
}

static inline bool is_open(const struct operation* operation) { return begin_of(operation) != 0; }

static inline int64_t step_of(const struct operation* operation, int step) {
  return atomic_load_explicit(&operation->step_ns[step], memory_order_relaxed);
}

static inline void note_step_at(struct operation* operation, int step, int64_t ns) {
  atomic_store_explicit(&operation->step_ns[step], ns, memory_order_release);
}

static inline void note_step(struct operation* operation, int step) {
  note_step_at(operation, step, clock_ns());
}

// Whether an operation encloses who calls: one that longjmp ended lay deeper in the stack than who
// comes later. A program that changes stacks (coroutines) within an operation may be taken for one.
static inline bool encloses(const struct operation* operation, uintptr_t frame) {
  return frame < operation->frame;
}

// An operation that the thread is in, for as long as its hook is.
struct entered {
  struct operation* operation;  // null: none yet, or it was left
  enum operation_kind kind;
  struct operation outer;  // the one of its kind around it: a listener may write within a write
};

// Takes the operation of this thread that is open away: the one around the new one becomes `outer`,
// what was left without an end (longjmp) is emitted.
void set_aside(struct entered* entered, uintptr_t frame);

// Of the end of a hook: an operation that was not left is one that an exception goes past. Emits
// it as `unfinished`.
void leave_by_exception(struct entered* entered);

#define ENTERED(name)                                             \
  struct entered name __attribute__((cleanup(leave_if_entered))); \
  name.operation = NULL

static inline void leave_if_entered(struct entered* entered) {
  if (__builtin_expect(entered->operation != NULL, 0)) {
    leave_by_exception(entered);
  }
}

// The thread enters an operation of a kind; what it is is to be set before it is opened.
static inline struct operation* enter_operation(struct entered* entered, enum operation_kind kind,
                                                uintptr_t frame) {
  struct operation* operation = operation_of(kind);
  entered->operation = operation;
  entered->kind = kind;
  entered->outer.frame = 0;
  if (__builtin_expect(operation->frame != 0, 0)) {
    set_aside(entered, frame);
  }
  operation->frame = frame;
  atomic_signal_fence(memory_order_seq_cst);
  return operation;
}

// From here on the operation is open; fields that tell what it is were set before.
static inline void open_operation(struct operation* operation) {
  for (int i = 0; i < MOST_STEPS; i++) {
    atomic_store_explicit(&operation->step_ns[i], 0, memory_order_relaxed);
  }
  operation->size = 0;
  atomic_store_explicit(&operation->begin_ns, clock_ns(), memory_order_release);
}

static inline void close_operation(struct operation* operation) {
  atomic_store_explicit(&operation->begin_ns, 0, memory_order_release);
  // What the next one is comes after it: the watch looks whether this one is still there.
  atomic_thread_fence(memory_order_release);
}

void put_back(struct operation* operation, const struct operation* outer);

// The operation is over, and the one around it goes on.
static inline void leave_operation(struct entered* entered) {
  close_operation(entered->operation);
  if (__builtin_expect(entered->outer.frame != 0, 0)) {
    put_back(entered->operation, &entered->outer);
  } else {
    atomic_signal_fence(memory_order_seq_cst);
    entered->operation->frame = 0;
  }
  entered->operation = NULL;
}

// A span as the events have it: ns in 31 bits (2.1 s); beyond, 2^31 + microseconds. 0: the step was
// not done; what was done takes a nanosecond at least.
static inline uint32_t span_of(int64_t begin_ns, int64_t end_ns) {
  if (end_ns == 0) {
    return 0;
  }
  int64_t ns = end_ns > begin_ns ? end_ns - begin_ns : 1;
  if (ns < INT64_C(1) << 31) {
    return (uint32_t)ns;
  }
  int64_t us = ns / 1000;
  return us < INT64_C(1) << 31 ? (UINT32_C(1) << 31) | (uint32_t)us : UINT32_MAX;
}

static inline uint32_t span_to(const struct operation* operation, int step) {
  return span_of(begin_of(operation), step_of(operation, step));
}

// Of an operation that has no event of its own yet: its size, and what else is known of it.
static inline uint32_t size_in(uint8_t kind, const struct operation* o) {
  return kind == OPERATION_SEND || kind == OPERATION_RECEIVE ? o->sample.size : o->size;
}

static inline uint32_t detail_of(uint8_t kind, const struct operation* o, int step) {
  const uint32_t fragments[] = {o->sample.fragment, o->sample.fragment_count,
                                o->sample.fragment_size};
  return kind == OPERATION_SEND ? fragments[step] : span_to(o, step);
}

#endif
