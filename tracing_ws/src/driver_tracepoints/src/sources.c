// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Sources, and the functions that emit. source_init is emitted when a source is made, and again
// before the first event of a source that a later session, or a forked child, has not heard of.
#define _GNU_SOURCE
#include "sources.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "driver_tracepoints/driver.h"
#include "events.h"
#include "export.h"

#define WANTED(event) lttng_ust_tracepoint_enabled(driver, event)
// Sources beyond are announced once, when they are made.
#define KEPT 1024

struct source {
  char kind[16];
  char name[64];
  char address[128];
  int32_t port;               // claimed; -1: none
  _Atomic uint32_t told;      // the epoch in which it was announced; 0: never
  _Atomic bool filled, sink;  // `sink`: an appsink that is claimed
};

static struct source sources[KEPT];
static _Atomic uint64_t made;
// Goes up whenever what was announced may be unknown to who records now.
static _Atomic uint32_t epoch = 1;
static _Atomic bool told_any;

static void in_child(void) { atomic_fetch_add(&epoch, 1); }

__attribute__((constructor)) static void heed_forks(void) { pthread_atfork(NULL, NULL, in_child); }

EXPORT bool strata_driver_hook_wants_packets(void) { return WANTED(packet_received); }

EXPORT bool strata_driver_hook_wants_buffers(void) { return WANTED(buffer_pulled); }

static void cut(char* to, size_t room, const char* text) {
  size_t length = text != NULL ? strnlen(text, room - 1) : 0;
  if (length > 0) {
    memcpy(to, text, length);
  }
  to[length] = '\0';
}

// The port at the end of "0.0.0.0:7502"; -1 when there is none.
static int32_t port_of(const char* address) {
  const char* colon = strrchr(address, ':');
  char* end = NULL;
  long port = colon != NULL ? strtol(colon + 1, &end, 10) : -1;
  return colon != NULL && end != colon + 1 && *end == '\0' && port > 0 && port < 65536
             ? (int32_t)port
             : -1;
}

static void emit_source(const void* record) {
  const uint64_t* id = record;
  const struct source* source = &sources[*id - 1];
  if (WANTED(source_init)) {
    lttng_ust_do_tracepoint(driver, source_init, *id, source->kind, source->name, source->address);
  }
}

// Emits it now, and where ros2_statedump is preloaded (package ros2_statedump) also when a
// further session starts while this one goes on.
static void emit_and_keep(uint64_t id) {
  void (*keep)(void (*)(const void*), uint64_t, bool, const void*, size_t) = NULL;
  *(void**)&keep = dlsym(RTLD_DEFAULT, "ros2_statedump_announce");
  if (keep != NULL) {
    keep(emit_source, id, false, &id, sizeof(id));
  } else {
    emit_source(&id);
  }
}

// Not inlined, so that the callers stay small where nothing is recorded.
__attribute__((noinline)) static void announce(uint64_t id, uint32_t now) {
  struct source* source = &sources[id - 1];
  if (!atomic_load_explicit(&source->filled, memory_order_acquire)) {
    return;
  }
  uint32_t before = atomic_exchange(&source->told, now);
  if (before == now) {
    return;
  }
  atomic_store(&told_any, true);
  if (before == 0) {
    emit_and_keep(id);
  } else {
    emit_source(&id);
  }
}

static inline void announce_if_new(uint64_t id) {
  if (id - 1 < KEPT && WANTED(source_init)) {
    uint32_t now = atomic_load_explicit(&epoch, memory_order_relaxed);
    if (atomic_load_explicit(&sources[id - 1].told, memory_order_relaxed) != now) {
      announce(id, now);
    }
  }
}

// The session has ended: the next one has to be told again.
static inline void not_recorded(void) {
  if (atomic_load_explicit(&told_any, memory_order_relaxed) && !WANTED(source_init) &&
      atomic_exchange(&told_any, false)) {
    atomic_fetch_add(&epoch, 1);
  }
}

// errno stays the caller's.
#define EMIT(event, id, ...)                               \
  do {                                                     \
    if (WANTED(event)) {                                   \
      int saved_errno = errno;                             \
      announce_if_new(id);                                 \
      lttng_ust_do_tracepoint(driver, event, __VA_ARGS__); \
      errno = saved_errno;                                 \
    } else {                                               \
      not_recorded();                                      \
    }                                                      \
  } while (0)

static uint64_t add(const char* kind, const char* name, const char* address, bool claims) {
  uint64_t id = atomic_fetch_add(&made, 1) + 1;
  int saved_errno = errno;
  if (id <= KEPT) {
    struct source* source = &sources[id - 1];
    cut(source->kind, sizeof(source->kind), kind);
    cut(source->name, sizeof(source->name), name);
    cut(source->address, sizeof(source->address), address);
    source->port = claims && strcmp(source->kind, "udp") == 0 ? port_of(source->address) : -1;
    source->sink = claims && strcmp(source->kind, "appsink") == 0;
    atomic_store_explicit(&source->filled, true, memory_order_release);
    if (claims) {
      announce_if_new(id);
    }
  } else if (WANTED(source_init)) {
    lttng_ust_do_tracepoint(driver, source_init, id, kind != NULL ? kind : "",
                            name != NULL ? name : "", address != NULL ? address : "");
  }
  errno = saved_errno;
  return id;
}

EXPORT uint64_t strata_driver_source_init(const char* kind, const char* name, const char* address) {
  strata_driver_hook_begin();
  return add(kind, name, address, true);
}

EXPORT uint64_t strata_driver_hook_source(const char* kind, const char* address) {
  return add(kind, "", address, false);
}

static uint64_t kept(void) {
  uint64_t count = atomic_load_explicit(&made, memory_order_acquire);
  return count < KEPT ? count : KEPT;
}

EXPORT bool strata_driver_hook_port_claimed(uint16_t port) {
  for (uint64_t i = 0; i < kept(); i++) {
    if (atomic_load_explicit(&sources[i].filled, memory_order_acquire) && sources[i].port == port) {
      return true;
    }
  }
  return false;
}

EXPORT bool strata_driver_hook_sink_claimed(const char* name) {
  for (uint64_t i = 0; i < kept(); i++) {
    if (atomic_load_explicit(&sources[i].filled, memory_order_acquire) && sources[i].sink &&
        strncmp(sources[i].address, name, sizeof(sources[i].address) - 1) == 0) {
      return true;
    }
  }
  return false;
}

EXPORT void strata_driver_packet_received(uint64_t source, uint64_t sequence, uint32_t bytes,
                                          int64_t queue_ns, uint32_t dropped) {
  EMIT(packet_received, source, source, sequence, bytes, queue_ns, dropped);
}

EXPORT void strata_driver_frame_boundary(uint64_t source, uint64_t frame, uint32_t packets,
                                         uint32_t missing, uint64_t first_sequence,
                                         uint64_t last_sequence) {
  EMIT(frame_boundary, source, source, frame, packets, missing, first_sequence, last_sequence);
}

EXPORT void strata_driver_buffer_pulled(uint64_t source, uint64_t frame, uint32_t bytes,
                                        int64_t pts_ns, int64_t queue_ns, uint64_t dropped) {
  EMIT(buffer_pulled, source, source, frame, bytes, pts_ns, queue_ns, dropped);
}

EXPORT void strata_driver_cloud_ready(uint64_t source, uint64_t frame, uint64_t bytes) {
  EMIT(cloud_ready, source, source, frame, bytes);
}

EXPORT void strata_driver_copy_done(uint64_t source, uint64_t frame, uint64_t bytes) {
  EMIT(copy_done, source, source, frame, bytes);
}
