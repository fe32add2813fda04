// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "announcements.h"

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
// Events that introduce entities, of all providers.
#define MOST_KINDS 64

// Held while announcements are dumped, too, and then with LTTng-UST's lock around it: who holds it
// waits for nothing else.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct announcement* oldest;
static struct announcement* youngest;
static struct announcement** buckets;
static size_t bucket_count;
static uint32_t count;
static uint64_t forgotten;
static struct {
  emit_function emit;
  uint32_t count;
} kinds[MOST_KINDS];
static uint32_t unknown_kinds;
static _Atomic bool watching;

// --- the store -----------------------------------------------------------------------------------

static struct announcement** bucket_of(uint64_t key) {
  uint64_t mixed = key * UINT64_C(0x9e3779b97f4a7c15);
  return &buckets[(mixed >> 32) & (bucket_count - 1)];
}

// How many there are of an event; of one kind too many there is none.
static uint32_t* count_of(emit_function emit) {
  for (size_t i = 0; i < MOST_KINDS; i++) {
    if (kinds[i].emit == NULL) {
      kinds[i].emit = emit;
    }
    if (kinds[i].emit == emit) {
      return &kinds[i].count;
    }
  }
  return &unknown_kinds;
}

static void drop(struct announcement** place) {
  struct announcement* one = *place;
  *place = one->next;
  *(one->before != NULL ? &one->before->after : &oldest) = one->after;
  *(one->after != NULL ? &one->after->before : &youngest) = one->before;
  (*count_of(one->emit))--;
  count--;
  free(one);
}

// Drops what an announcement takes the place of.
static void drop_former(emit_function emit, uint64_t key, bool introduces) {
  struct announcement** place = bucket_of(key);
  while (*place != NULL) {
    if ((*place)->key == key && (introduces || (*place)->emit == emit)) {
      drop(place);
    } else {
      place = &(*place)->next;
    }
  }
}

// Goals and timers come and go by thousands: nodes stay.
static void forget_one(void) {
  emit_function most = oldest->emit;
  for (size_t i = 0; i < MOST_KINDS && kinds[i].emit != NULL; i++) {
    if (kinds[i].count > *count_of(most)) {
      most = kinds[i].emit;
    }
  }
  struct announcement* one = oldest;
  while (one->after != NULL && one->emit != most) {
    one = one->after;
  }
  struct announcement** place = bucket_of(one->key);
  while (*place != one) {
    place = &(*place)->next;
  }
  drop(place);
  forgotten++;
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
    struct announcement** bucket = bucket_of(one->key);
    one->next = *bucket;
    *bucket = one;
  }
  return true;
}

static bool keep(emit_function emit, uint64_t key, bool introduces, const void* record,
                 size_t size) {
  if (count >= bucket_count && !grow()) {
    return false;
  }
  drop_former(emit, key, introduces);
  if (count == MOST_ANNOUNCEMENTS) {
    forget_one();
  }
  struct announcement* one = malloc(sizeof(*one) + size);
  if (one == NULL) {
    return false;
  }
  struct announcement** bucket = bucket_of(key);
  *one = (struct announcement){youngest, NULL, *bucket, emit, key};
  memcpy(one->record, record, size);
  *(youngest != NULL ? &youngest->after : &oldest) = one;
  *bucket = youngest = one;
  (*count_of(emit))++;
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
  memset(kinds, 0, sizeof(kinds));
  unknown_kinds = 0;
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

EXPORT void ros2_statedump_announce(emit_function emit, uint64_t key, bool introduces,
                                    const void* record, size_t size) {
  int saved_errno = errno;
  pthread_mutex_lock(&lock);
  // Before it is emitted: a session that starts in between has it twice, and not never.
  if (!keep(emit, key, introduces, record, size)) {
    forgotten++;
  }
  pthread_mutex_unlock(&lock);
  emit(record);
  if (__builtin_expect(!atomic_load_explicit(&watching, memory_order_relaxed), 0)) {
    watch();
  }
  errno = saved_errno;
}
