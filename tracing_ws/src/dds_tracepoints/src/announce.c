// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "announce.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

typedef void (*emit_function)(const void* record);
typedef void (*announce_function)(emit_function emit, uint64_t key, bool introduces,
                                  const void* record, size_t size);

// The texts lie behind it: the topic's name, and that of its type.
struct record {
  const void* entity;
  uint8_t guid[16];
  size_t type;  // its offset
};

static const char* topic_of(const struct record* record) { return (const char*)(record + 1); }

static const char* type_of(const struct record* record) {
  return (const char*)record + record->type;
}

static void emit_writer(const void* kept) {
  const struct record* record = kept;
  EMIT(create_writer, record->entity, topic_of(record), record->guid, type_of(record));
}

static void emit_reader(const void* kept) {
  const struct record* record = kept;
  EMIT(create_reader, record->entity, topic_of(record), record->guid, type_of(record));
}

static announce_function keeper(void) {
  static _Atomic bool asked;
  static _Atomic(void*) found;
  if (!atomic_load_explicit(&asked, memory_order_acquire)) {
    atomic_store(&found, dlsym(RTLD_DEFAULT, "ros2_statedump_announce"));
    atomic_store_explicit(&asked, true, memory_order_release);
  }
  announce_function function = NULL;
  *(void**)&function = atomic_load(&found);
  return function;
}

bool keeps_announcements(void) { return keeper() != NULL; }

static void announce(emit_function emit, const void* entity, const char* topic, const uint8_t* guid,
                     const char* type) {
  topic = topic != NULL ? topic : "";
  type = type != NULL ? type : "";
  size_t topic_size = strlen(topic) + 1, type_size = strlen(type) + 1;
  _Alignas(struct record) char bytes[sizeof(struct record) + topic_size + type_size];
  struct record* record = (struct record*)bytes;
  record->entity = entity;
  record->type = sizeof(*record) + topic_size;
  memcpy(record->guid, guid, sizeof(record->guid));
  memcpy(bytes + sizeof(*record), topic, topic_size);
  memcpy(bytes + record->type, type, type_size);
  announce_function function = keeper();
  if (function != NULL) {
    // A writer and a reader of Cyclone DDS are numbers, which are no addresses.
    function(emit, (uint64_t)(uintptr_t)entity, false, record, sizeof(bytes));
  } else {
    emit(record);
  }
}

void announce_writer(const void* writer, const char* topic, const uint8_t* guid, const char* type) {
  announce(emit_writer, writer, topic, guid, type);
}

void announce_reader(const void* reader, const char* topic, const uint8_t* guid, const char* type) {
  announce(emit_reader, reader, topic, guid, type);
}
