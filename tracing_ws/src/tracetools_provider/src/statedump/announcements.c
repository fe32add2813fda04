// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "statedump/announcements.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct announcement {
  struct announcement* before;  // in the order of their making
  struct announcement* after;
  struct announcement* next;  // in its bucket
  emit_function emit;
  uint64_t key;
  alignas(max_align_t) unsigned char record[];
};

#define FIRST_BUCKETS 256

// Held while announcements are dumped, too, and then with LTTng-UST's lock around it: who holds it
// waits for nothing else.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct announcement* oldest;
static struct announcement* youngest;
static struct announcement** buckets;
static size_t bucket_count;
static uint32_t count;
static uint64_t forgotten;
static _Atomic bool watching;

// --- the store -----------------------------------------------------------------------------------

static struct announcement** bucket_of(emit_function emit, uint64_t key) {
  uint64_t mixed = (key ^ (uint64_t)(uintptr_t)emit) * UINT64_C(0x9e3779b97f4a7c15);
  return &buckets[(mixed >> 32) & (bucket_count - 1)];
}

static void unlink_from_order(const struct announcement* one) {
  *(one->before != NULL ? &one->before->after : &oldest) = one->after;
  *(one->after != NULL ? &one->after->before : &youngest) = one->before;
}

static void drop(struct announcement** place) {
  struct announcement* one = *place;
  *place = one->next;
  unlink_from_order(one);
  free(one);
  count--;
}

static struct announcement** place_of(emit_function emit, uint64_t key) {
  struct announcement** place = bucket_of(emit, key);
  while (*place != NULL && ((*place)->emit != emit || (*place)->key != key)) {
    place = &(*place)->next;
  }
  return place;
}

// False without memory for more: they stay as they are, if there are any.
static bool grow(void) {
  size_t more = bucket_count == 0 ? FIRST_BUCKETS : 2 * bucket_count;
  struct announcement** made = calloc(more, sizeof(struct announcement*));
  if (made == NULL) {
    return bucket_count != 0;
  }
  free(buckets);
  buckets = made;
  bucket_count = more;
  for (struct announcement* one = oldest; one != NULL; one = one->after) {
    struct announcement** bucket = bucket_of(one->emit, one->key);
    one->next = *bucket;
    *bucket = one;
  }
  return true;
}

static bool keep(emit_function emit, uint64_t key, const void* record, size_t size) {
  if (count >= bucket_count && !grow()) {
    return false;
  }
  struct announcement** place = place_of(emit, key);
  if (*place != NULL) {
    drop(place);
  } else if (count == MOST_ANNOUNCEMENTS) {
    drop(place_of(oldest->emit, oldest->key));
    forgotten++;
  }
  struct announcement* one = malloc(sizeof(*one) + size);
  if (one == NULL) {
    return false;
  }
  struct announcement** bucket = bucket_of(emit, key);
  *one = (struct announcement){youngest, NULL, *bucket, emit, key};
  memcpy(one->record, record, size);
  *(youngest != NULL ? &youngest->after : &oldest) = one;
  *bucket = youngest = one;
  count++;
  return true;
}

static void dump(const struct brackets* brackets) {
  int saved_errno = errno;
  pthread_mutex_lock(&lock);
  if (count > 0 || forgotten > 0) {
    brackets->begin(count, forgotten);
    for (const struct announcement* one = oldest; one != NULL; one = one->after) {
      one->emit(one->record);
    }
    brackets->end();
  }
  pthread_mutex_unlock(&lock);
  errno = saved_errno;
}

// A child has none of its parent's entities. Another thread may have been at work here: what it
// left is not touched.
static void in_child(void) {
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  oldest = youngest = NULL;
  buckets = NULL;
  bucket_count = 0;
  count = 0;
  forgotten = 0;
}

// --- the sessions --------------------------------------------------------------------------------

__attribute__((constructor)) static void heed_forks(void) { pthread_atfork(NULL, NULL, in_child); }

// What has to do with LTTng-UST lies in a library of its own, beside this one: it is loaded once
// LTTng-UST is in the process, which this library is not to bring.
static void watch(void) {
  char path[PATH_MAX];
  Dl_info own;
  void* ust = dlopen("liblttng-ust.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (ust == NULL || dladdr((void*)&watching, &own) == 0 || own.dli_fname == NULL ||
      atomic_exchange(&watching, true)) {
    return;
  }
  const char* slash = strrchr(own.dli_fname, '/');
  int length = slash != NULL ? (int)(slash - own.dli_fname) + 1 : 0;
  int written =
      snprintf(path, sizeof(path), "%.*slibros2_statedump_probes.so", length, own.dli_fname);
  if (written < 0 || (size_t)written >= sizeof(path)) {
    return;
  }
  void* probes = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void (*watch_sessions)(dump_function) = NULL;
  if (probes != NULL) {
    *(void**)&watch_sessions = dlsym(probes, "ros2_statedump_watch");
  }
  if (watch_sessions != NULL) {
    watch_sessions(dump);
  }
}

EXPORT void ros2_statedump_announce(emit_function emit, uint64_t key, const void* record,
                                    size_t size) {
  int saved_errno = errno;
  pthread_mutex_lock(&lock);
  // Before it is emitted: a session that starts in between has it twice, and not never.
  if (!keep(emit, key, record, size)) {
    forgotten++;
  }
  pthread_mutex_unlock(&lock);
  emit(record);
  if (__builtin_expect(!atomic_load_explicit(&watching, memory_order_relaxed), 0)) {
    watch();
  }
  errno = saved_errno;
}
