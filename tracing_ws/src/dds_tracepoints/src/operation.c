// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "operation.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "watch.h"

_Thread_local struct thread_operations* own_operations;

struct thread_operations watched_threads[MOST_WATCHED_THREADS];

// Of a thread for which there is no place: nobody watches it.
static _Thread_local struct thread_operations unwatched;

// Nothing is allocated: a hook may run in a signal handler.
struct thread_operations* make_own_operations(bool may_start_watch) {
  if (may_start_watch) {
    start_watch();
  }
  if (own_operations != NULL) {
    return own_operations;
  }
  int32_t thread = (int32_t)syscall(SYS_gettid);
  own_operations = &unwatched;
  for (int i = 0; i < MOST_WATCHED_THREADS; i++) {
    int32_t nobody = 0;
    struct thread_operations* place = &watched_threads[i];
    if (atomic_load_explicit(&place->thread, memory_order_relaxed) == 0 &&
        atomic_compare_exchange_strong(&place->thread, &nobody, thread)) {
      own_operations = place;
      break;
    }
  }
  return own_operations;
}

static void copy(const struct operation* from, struct operation* to) {
  for (int i = 0; i < MOST_STEPS; i++) {
    note_step_at(to, i, step_of(from, i));
  }
  to->entity = from->entity;
  to->data = from->data;
  to->frame = from->frame;
  to->size = from->size;
  to->transport = from->transport;
  to->port = from->port;
  to->bytes = from->bytes;
  to->sample = from->sample;
  atomic_store_explicit(&to->begin_ns, begin_of(from), memory_order_release);
}

void set_aside(struct entered* entered, uintptr_t frame) {
  if (encloses(entered->operation, frame)) {
    copy(entered->operation, &entered->outer);
  } else if (is_open(entered->operation)) {
    emit_left(entered->kind, entered->operation);
  }
  close_operation(entered->operation);
}

void put_back(struct operation* operation, const struct operation* outer) {
  copy(outer, operation);
}

void leave_by_exception(struct entered* entered) {
  if (is_open(entered->operation)) {
    emit_left(entered->kind, entered->operation);
  }
  leave_operation(entered);
}
