// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What the hooks of Cyclone DDS share.
#ifndef DDS_TRACEPOINTS_CYCLONEDDS_H
#define DDS_TRACEPOINTS_CYCLONEDDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "emit.h"

// Releases whose objects are known; of an unknown one only what its API tells is told.
enum release { RELEASE_UNKNOWN, RELEASE_0_10, RELEASE_11 };

// One loaded libddsc. A process may hold several, say that of ROS 2 and that of a Python package,
// which must never be given each other's calls.
struct library {
  void* handle;
  uintptr_t base;
  enum release release;
};

// A hooked function, by the library that it belongs to.
#define MOST_LIBRARIES 4
struct function {
  const char* symbol;
  _Atomic(void*) real[MOST_LIBRARIES];
};

// Returns the library that code at a return address is linked to. Ends the process with a message
// when there is none, which then nobody can have called.
const struct library* library_at(const void* return_address);
#define LIBRARY() library_at(__builtin_return_address(0))

// Returns the real function.
void* function_of(struct function* function, const struct library* library);

bool has_function(const struct library* library, const char* symbol);

// True when an object of this address belongs to the library itself.
bool library_holds(const struct library* library, const void* address);

typedef int32_t dds_entity_t;
typedef int32_t dds_return_t;

// Entities are numbers in the API and addresses in the events.
static inline const void* handle_of(dds_entity_t entity) {
  return (const void*)(uintptr_t)(uint32_t)entity;
}

// Cyclone DDS keeps GUIDs as four numbers of the machine; on the wire they are big-endian.
void guid_of_words(uint8_t guid[16], const void* words);

// True for a writer or reader of the application's.
static inline bool is_user_guid(const uint8_t guid[16]) { return (guid[15] & 0xc0) == 0; }

// --- entities (entities.c) -----------------------------------------------------------------------

enum kind { KIND_WRITER, KIND_READER };

// An entity was made: remembers its GUID and emits create_writer or create_reader.
void entity_created(const struct library* library, enum kind kind, dds_entity_t entity);

// An entity is used: does the same if that was not yet done. Returns the entity, or for a read
// condition its reader.
dds_entity_t entity_used(const struct library* library, enum kind kind, dds_entity_t entity);

// Gives an entity's GUID without any lock; zeros and false when it is not known.
bool entity_guid(dds_entity_t entity, uint8_t guid[16]);

// Remembers that a condition is of a reader, if the reader is known.
void entity_watched(dds_entity_t condition, dds_entity_t reader);

// True for a writer or reader of a topic that ROS gives to a service: of requests or responses.
bool entity_serves(dds_entity_t entity);

// --- what hooks tell each other ------------------------------------------------------------------

// The write that this thread is in.
struct writing {
  dds_entity_t writer;
  uint32_t size;  // bytes made of the value
  bool active;
};
extern _Thread_local struct writing writing_now;

// True while this thread is in a take or read.
extern _Thread_local bool taking_now;

// The sample that this thread is putting into a reader's history.
struct storing {
  struct sample sample;
  bool active;
  bool told;               // a value of the application's
  bool pending;            // reader_history_add is still to be emitted
  bool notified;           // reader_notify was emitted
  dds_entity_t condition;  // one that was signalled, of a reader that is not known; 0: none
};
extern _Thread_local struct storing storing_now;

// Remembers the samples of a datagram that this thread has just received (histories.c).
bool cyclone_receive_wanted(void);
void cyclone_received(const struct iovec* parts, size_t count);

// Gives writer and sequence number of a sample that a reader of this process got, by what
// dds_sample_info_t tells of it.
void cyclone_identify(uint64_t publication_handle, struct sample* sample);

#endif
