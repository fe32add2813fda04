// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Hooks on the way of a sample into a reader of Cyclone DDS. In 0.10 a reader's history is an
// object with a table of functions, made by an exported function: it gets a copy of that table, in
// which `store` is ours. 11 keeps all that to itself; what a reader is told of is then taken to be
// what its thread has just received.
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "cyclonedds/cyclonedds.h"
#include "cyclonedds/recall.h"

// By writer, and by the writer's instance handle in this process.
static struct recall received, stored;

static bool identity_wanted(void) {
  return WANTED(reader_history_add) || WANTED(reader_notify) || WANTED(taken);
}

bool cyclone_receive_wanted(void) {
  return WANTED(receive) || WANTED(receive_sample) || identity_wanted();
}

void cyclone_received(const struct iovec* parts, size_t count) {
  struct rtps_reader reader;
  struct sample sample;
  size_t found = 0;
  if (!identity_wanted()) {
    return;
  }
  if (rtps_open(&reader, parts, count)) {
    for (; rtps_next(&reader, &sample); found++) {
      uint64_t key[2];
      memcpy(key, sample.guid, sizeof(key));
      // Of fragments, only those at the front come with a timestamp.
      if (sample.stamp != 0) {
        recall_put(&received, key, &sample);
      }
    }
  }
  // Of several nobody can tell which one a reader of 11 is notified of.
  if (found != 1) {
    last_received = (struct sample){0};
  }
}

void cyclone_identify(uint64_t publication_handle, struct sample* sample) {
  recall_get(&stored, (const uint64_t[2]){publication_handle, 0}, sample->stamp, sample);
}

// --- 0.10: ddsi_rhc.h, dds_rhc.h, ddsi_serdata.h of the release ----------------------------------

struct writer_info {
  uint32_t guid[4];
  bool auto_dispose;
  int32_t ownership_strength;
  uint64_t iid;
};

struct serdata {
  const void* ops;
  uint32_t hash;
  uint32_t references;
  int32_t kind;  // 2: a value, not only a key
  const void* type;
  int64_t timestamp;
};
enum { KIND_OF_VALUE = 2 };

typedef bool (*store_function)(void*, const struct writer_info*, struct serdata*, void*);

enum { RHC_STORE = 0, RHC_FUNCTIONS = 13 };

// Copies of tables, one each; a library has one. Filled in before it is counted, never changed.
static struct {
  void* const* original;
  void* copy[RHC_FUNCTIONS];
} tables[MOST_LIBRARIES];
static atomic_size_t table_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static store_function store_of(void* const* table) {
  size_t count = atomic_load_explicit(&table_count, memory_order_acquire);
  for (size_t i = 0; i < count; i++) {
    if (tables[i].copy == table) {
      return (store_function)tables[i].original[RHC_STORE];
    }
  }
  return (store_function)table[RHC_STORE];
}

static void tell_stored(void) {
  if (storing_now.pending) {
    storing_now.pending = false;
    EMIT(reader_history_add, &storing_now.sample);
  }
}

static struct storing storing_of(const struct writer_info* writer, const struct serdata* value) {
  struct storing storing = {.active = true};
  guid_of_words(storing.sample.guid, writer->guid);
  storing.told = is_user_guid(storing.sample.guid) && value->kind == KIND_OF_VALUE;
  if (!storing.told) {
    return storing;
  }
  struct sample* sample = &storing.sample;
  uint64_t key[2];
  memcpy(key, sample->guid, sizeof(key));
  sample->stamp = value->timestamp;
  if (!recall_get(&received, key, sample->stamp, sample)) {
    // A writer of this process: the sample went through no socket.
    sample->size = writing_now.active ? writing_now.size : 0;
  }
  recall_put(&stored, (const uint64_t[2]){writer->iid, 0}, sample);
  storing.pending = true;
  return storing;
}

static bool store(void* history, const struct writer_info* writer, struct serdata* value,
                  void* instance) {
  store_function real = store_of(*(void* const**)history);
  if (!identity_wanted()) {
    return real(history, writer, value, instance);
  }
  // Listeners may write from within, and so store again.
  struct storing outer = storing_now;
  storing_now = storing_of(writer, value);
  bool kept = real(history, writer, value, instance);
  if (kept) {
    tell_stored();
  }
  storing_now = outer;
  return kept;
}

static void* const* copy_of(void* const* original) {
  pthread_mutex_lock(&lock);
  size_t count = atomic_load(&table_count), i = 0;
  while (i < count && tables[i].original != original && tables[i].copy != original) {
    i++;
  }
  if (i == count && count < MOST_LIBRARIES) {
    tables[i].original = original;
    memcpy(tables[i].copy, original, sizeof(tables[i].copy));
    tables[i].copy[RHC_STORE] = (void*)&store;
    atomic_store_explicit(&table_count, count + 1, memory_order_release);
  }
  pthread_mutex_unlock(&lock);
  return i < MOST_LIBRARIES ? tables[i].copy : original;
}

static void* with_store(const struct library* library, void* history) {
  if (history != NULL && library->release == RELEASE_0_10) {
    *(void* const**)history = copy_of(*(void* const**)history);
  }
  return history;
}

static struct function rhc_new = {.symbol = "dds_rhc_default_new"};
void* dds_rhc_default_new(void*, const void*);
EXPORT void* dds_rhc_default_new(void* reader, const void* type) {
  const struct library* library = LIBRARY();
  void* (*real)(void*, const void*) = function_of(&rhc_new, library);
  return with_store(library, real(reader, type));
}

// --- notification --------------------------------------------------------------------------------

// What a reader is told of: what is being stored; in 11 what this thread is writing (its number is
// not known) or has just received. False when it is no sample of the application, but say a writer
// that went.
static bool notified(const struct library* library, struct sample* sample) {
  *sample = (struct sample){0};
  if (storing_now.active) {
    *sample = storing_now.sample;
    return storing_now.told;
  }
  if (writing_now.active) {
    entity_guid(writing_now.writer, sample->guid);
  } else {
    *sample = last_received;
  }
  return library->release != RELEASE_0_10;
}

// Since 0.7 an entity begins with its number.
static dds_entity_t number_of(const void* entity) {
  dds_entity_t number;
  memcpy(&number, entity, sizeof(number));
  return number;
}

static void tell_notify(const struct library* library, const void* reader) {
  struct sample sample;
  uint8_t guid[16];
  // The number must be one that was seen: else the GUID stays unknown.
  dds_entity_t number = number_of(reader);
  if (storing_now.condition != 0) {
    entity_watched(storing_now.condition, number);
  }
  if (storing_now.notified) {
    return;
  }
  bool user = !entity_guid(number, guid) || is_user_guid(guid);
  if (user && notified(library, &sample)) {
    tell_stored();
    EMIT(reader_notify, guid, &sample);
  }
}

// 0.10 signals the conditions of a reader (rmw_cyclonedds waits for those) while it stores the
// sample, before it calls dds_reader_data_available_cb: who waited may run before that. Whose a
// condition is, is learned from the call that follows its first signal.
enum { DATA_AVAILABLE = 1 << 8 };
static struct function status_signal = {.symbol = "dds_entity_status_signal"};
void dds_entity_status_signal(void*, uint32_t);
EXPORT void dds_entity_status_signal(void* entity, uint32_t status) {
  const struct library* library = LIBRARY();
  uint8_t guid[16];
  if (status == DATA_AVAILABLE && storing_now.told && !storing_now.notified) {
    if (entity_guid(number_of(entity), guid)) {
      tell_stored();
      storing_now.notified = true;
      EMIT(reader_notify, guid, &storing_now.sample);
    } else {
      storing_now.condition = number_of(entity);
    }
  }
  ((void (*)(void*, uint32_t))function_of(&status_signal, library))(entity, status);
}

static struct function data_available = {.symbol = "dds_reader_data_available_cb"};
void dds_reader_data_available_cb(void*);
EXPORT void dds_reader_data_available_cb(void* reader) {
  const struct library* library = LIBRARY();
  if (WANTED(reader_notify) || storing_now.pending) {
    tell_notify(library, reader);
  }
  ((void (*)(void*))function_of(&data_available, library))(reader);
}
