// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The writers and readers of Cyclone DDS that hooks have seen, with their GUIDs. Reading takes no
// lock; an entity is never forgotten: numbers are random, one is hardly ever given twice.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "announce.h"
#include "cyclonedds/cyclonedds.h"
#include "notice.h"

// More than these are not remembered: they are told when made, and never otherwise.
#define MOST_ENTITIES 8192
#define NAME_LENGTH 256

struct entity {
  _Atomic dds_entity_t number;  // 0: free; written last
  dds_entity_t owner;           // itself; of a read condition its reader
  _Atomic bool told;
  bool serves;  // its topic is a service's
  uint8_t guid[16];
};

static struct entity entities[MOST_ENTITIES];
static size_t entity_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Returns the entity's place, or the free one where it belongs; null when all are taken.
static struct entity* place_of(dds_entity_t number) {
  uint32_t at = (uint32_t)number * UINT32_C(2654435761) >> 19;
  for (size_t i = 0; i < MOST_ENTITIES; i++, at = (at + 1) % MOST_ENTITIES) {
    dds_entity_t there = atomic_load_explicit(&entities[at].number, memory_order_acquire);
    if (there == number || there == 0) {
      return &entities[at];
    }
  }
  return NULL;
}

static struct entity* known(dds_entity_t number) {
  struct entity* place = place_of(number);
  return place != NULL && atomic_load_explicit(&place->number, memory_order_acquire) == number
             ? place
             : NULL;
}

static struct entity* remember(dds_entity_t number, dds_entity_t owner, const uint8_t guid[16],
                               bool serves) {
  pthread_mutex_lock(&lock);
  struct entity* place = place_of(number);
  // A quarter stays free, so that looking up stays short.
  if (place != NULL && atomic_load(&place->number) == 0) {
    if (entity_count < MOST_ENTITIES / 4 * 3) {
      entity_count++;
      place->owner = owner;
      place->serves = serves;
      memcpy(place->guid, guid, sizeof(place->guid));
      atomic_store_explicit(&place->number, number, memory_order_release);
    } else {
      notice("More than %d writers and readers of Cyclone DDS: further ones have no GUID in events",
             MOST_ENTITIES / 4 * 3);
      place = NULL;
    }
  }
  pthread_mutex_unlock(&lock);
  return place;
}

// --- what the API tells --------------------------------------------------------------------------

static bool ask_guid(const struct library* library, dds_entity_t entity, uint8_t guid[16]) {
  dds_return_t (*get)(dds_entity_t, void*) = NULL;
  *(void**)&get = dlsym(library->handle, "dds_get_guid");
  return get != NULL && get(entity, guid) == 0;
}

static void ask_name(const struct library* library, const char* symbol, dds_entity_t topic,
                     char name[NAME_LENGTH]) {
  dds_return_t (*get)(dds_entity_t, char*, size_t) = NULL;
  *(void**)&get = dlsym(library->handle, symbol);
  name[0] = '\0';
  if (get != NULL && get(topic, name, NAME_LENGTH) < 0) {
    name[0] = '\0';
  }
}

static dds_entity_t ask_entity(const struct library* library, const char* symbol,
                               dds_entity_t entity) {
  dds_entity_t (*get)(dds_entity_t) = NULL;
  *(void**)&get = dlsym(library->handle, symbol);
  return get != NULL ? get(entity) : -1;
}

// ROS names the topics of a service rq/...Request and rr/...Reply.
static bool ask_serves(const struct library* library, dds_entity_t entity) {
  char name[NAME_LENGTH];
  ask_name(library, "dds_get_name", ask_entity(library, "dds_get_topic", entity), name);
  return name[0] == 'r' && (name[1] == 'q' || name[1] == 'r') && name[2] == '/';
}

static bool told_wanted(enum kind kind) {
  return kind == KIND_WRITER ? ANNOUNCED(create_writer) : ANNOUNCED(create_reader);
}

static void tell(const struct library* library, enum kind kind, dds_entity_t entity,
                 const uint8_t guid[16]) {
  char topic_name[NAME_LENGTH], type_name[NAME_LENGTH];
  dds_entity_t topic = ask_entity(library, "dds_get_topic", entity);
  ask_name(library, "dds_get_name", topic, topic_name);
  ask_name(library, "dds_get_type_name", topic, type_name);
  if (kind == KIND_WRITER) {
    announce_writer(handle_of(entity), topic_name, guid, type_name);
  } else {
    announce_reader(handle_of(entity), topic_name, guid, type_name);
  }
}

// -------------------------------------------------------------------------------------------------

void entity_created(const struct library* library, enum kind kind, dds_entity_t entity) {
  int saved_errno = errno;
  uint8_t guid[16] = {0};
  if (entity > 0 && ask_guid(library, entity, guid)) {
    struct entity* place = remember(entity, entity, guid, ask_serves(library, entity));
    // A listener may have used it before its creation returned.
    if (told_wanted(kind) && (place == NULL || !atomic_exchange(&place->told, true))) {
      tell(library, kind, entity, guid);
    }
  }
  errno = saved_errno;
}

static struct entity* meet(const struct library* library, enum kind kind, dds_entity_t entity) {
  dds_entity_t owner =
      kind == KIND_READER ? ask_entity(library, "dds_get_datareader", entity) : entity;
  owner = owner > 0 ? owner : entity;
  uint8_t guid[16] = {0};
  return ask_guid(library, owner, guid) ? remember(entity, owner, guid, ask_serves(library, owner))
                                        : NULL;
}

dds_entity_t entity_used(const struct library* library, enum kind kind, dds_entity_t entity) {
  struct entity* place = entity > 0 ? known(entity) : NULL;
  if (place != NULL && (atomic_load_explicit(&place->told, memory_order_relaxed) ||
                        (place->owner == entity && !told_wanted(kind)))) {
    return place->owner;
  }
  int saved_errno = errno;
  if (place == NULL && entity > 0) {
    place = meet(library, kind, entity);
  }
  if (place != NULL && place->owner != entity) {
    entity = entity_used(library, kind, place->owner);
  } else if (place != NULL && told_wanted(kind) && !atomic_exchange(&place->told, true)) {
    tell(library, kind, entity, place->guid);
  }
  errno = saved_errno;
  return entity;
}

bool entity_guid(dds_entity_t entity, uint8_t guid[16]) {
  const struct entity* place = entity > 0 ? known(entity) : NULL;
  if (place == NULL) {
    memset(guid, 0, 16);
    return false;
  }
  memcpy(guid, place->guid, sizeof(place->guid));
  return true;
}

void entity_watched(dds_entity_t condition, dds_entity_t reader) {
  const struct entity* place = known(reader);
  if (place != NULL && known(condition) == NULL) {
    remember(condition, reader, place->guid, place->serves);
  }
}

bool entity_serves(dds_entity_t entity) {
  const struct entity* place = entity > 0 ? known(entity) : NULL;
  return place != NULL && place->serves;
}
