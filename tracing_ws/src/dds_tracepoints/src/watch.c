// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "watch.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emit.h"
#include "notice.h"

// The stack has the thread-local data of all libraries, too; of it, only what is used takes memory.
enum { PERIOD_NS = 100000000, STACK_BYTES = 1 << 20 };

_Atomic bool is_watched;

static void emit_unfinished(int32_t thread, enum operation_kind kind, bool may_end,
                            const struct operation* operation) {
  EMIT(unfinished, thread, kind, may_end, operation);
}

void emit_left(enum operation_kind kind, const struct operation* operation) {
  emit_unfinished((int32_t)syscall(SYS_gettid), kind, false, operation);
}

// Copies what another thread is doing; false when that ended meanwhile.
static bool copy_operation(const struct operation* from, struct operation* to) {
  int64_t begin_ns = atomic_load_explicit(&from->begin_ns, memory_order_acquire);
  atomic_init(&to->begin_ns, begin_ns);
  for (int i = 0; i < MOST_STEPS; i++) {
    atomic_init(&to->step_ns[i], atomic_load_explicit(&from->step_ns[i], memory_order_acquire));
  }
  to->entity = from->entity;
  to->data = from->data;
  to->size = from->size;
  to->transport = from->transport;
  to->port = from->port;
  to->bytes = from->bytes;
  to->sample = from->sample;
  atomic_thread_fence(memory_order_acquire);
  return begin_ns != 0 && begin_of(from) == begin_ns;
}

// What goes on is emitted once it has gone on for a while, and with each further step.
static void look_at(struct thread_operations* place, int32_t thread, int64_t now_ns) {
  for (enum operation_kind kind = OPERATION_WRITE; kind < OPERATION_KINDS; kind++) {
    struct operation copy;
    int64_t begin_ns = begin_of(&place->of[kind]);
    if (begin_ns == 0 || now_ns - begin_ns < PERIOD_NS ||
        !copy_operation(&place->of[kind], &copy)) {
      continue;
    }
    uint32_t steps = 0;
    for (int i = 0; i < MOST_STEPS; i++) {
      steps |= step_of(&copy, i) != 0 ? 1U << i : 0;
    }
    struct watched* watched = &place->watched[kind];
    if (watched->begin_ns == begin_of(&copy) && watched->steps == steps) {
      continue;
    }
    *watched = (struct watched){begin_of(&copy), steps};
    // Of a write before its sample is in the history, the sample may be half written.
    if (kind == OPERATION_WRITE && step_of(&copy, WRITER_HISTORY_ADD) == 0) {
      copy.sample = (struct sample){0};
    }
    emit_unfinished(thread, kind, true, &copy);
  }
}

static void clear(struct thread_operations* place) {
  memset(place->of, 0, sizeof(place->of));
  memset(place->watched, 0, sizeof(place->watched));
}

// The place of a thread that is no more is free for another.
static bool is_gone(pid_t process, int32_t thread) {
  return syscall(SYS_tgkill, process, thread, 0) != 0 && errno == ESRCH;
}

static void* watch(void* nothing) {
  pid_t process = getpid();
  cpu_set_t cpus;
  (void)nothing;
  // Nor does it stay on that thread's CPU: it has those of the process.
  if (sched_getaffinity(process, sizeof(cpus), &cpus) == 0) {
    sched_setaffinity(0, sizeof(cpus), &cpus);
  }
  for (;;) {
    const struct timespec period = {.tv_nsec = PERIOD_NS};
    nanosleep(&period, NULL);
    bool recorded = WANTED(unfinished);
    int64_t now_ns = clock_ns();
    for (int i = 0; i < MOST_WATCHED_THREADS; i++) {
      struct thread_operations* place = &watched_threads[i];
      int32_t thread = atomic_load_explicit(&place->thread, memory_order_acquire);
      if (thread == 0) {
        continue;
      }
      if (recorded) {
        look_at(place, thread, now_ns);
      }
      if (is_gone(process, thread)) {
        clear(place);
        atomic_store_explicit(&place->thread, 0, memory_order_release);
      }
    }
  }
  return NULL;
}

// Only the thread that forked is there, and no watch.
static void in_child(void) {
  struct thread_operations* own = own_operations;
  for (int i = 0; i < MOST_WATCHED_THREADS; i++) {
    struct thread_operations* place = &watched_threads[i];
    int32_t thread = place == own ? (int32_t)syscall(SYS_gettid) : 0;
    if (thread == 0 && atomic_load(&place->thread) != 0) {
      clear(place);
    }
    atomic_store(&place->thread, thread);
  }
  atomic_store(&is_watched, false);
}

void start_watch(void) {
  static atomic_flag heeded = ATOMIC_FLAG_INIT;
  if (atomic_load(&is_watched) || atomic_exchange(&is_watched, true)) {
    return;
  }
  if (!atomic_flag_test_and_set(&heeded)) {
    pthread_atfork(NULL, NULL, in_child);
  }
  int saved_errno = errno;
  pthread_t thread;
  pthread_attr_t attributes;
  sigset_t all, before;
  // The program's signals are for its own threads.
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (pthread_attr_init(&attributes) == 0) {
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    // Whoever comes first may be a real-time thread; the watch is none.
    const struct sched_param ordinary = {0};
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
    pthread_attr_setschedparam(&attributes, &ordinary);
    if (pthread_create(&thread, &attributes, watch, NULL) == 0) {
      pthread_setname_np(thread, "dds-watch");
    } else {
      notice("No thread could be made: operations that do not end are not recorded");
    }
    pthread_attr_destroy(&attributes);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = saved_errno;
}
