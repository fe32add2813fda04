// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Hooks that see DataWriters and DataReaders being made.
#include "announce.h"
#include "fastdds.h"

typedef void* (*create_function)(void*, void*, const void*, void*, const void*, void*);

struct names {
  const char* topic;
  const char* type;
};

// libstdc++'s std::string begins with the address of its characters.
static struct names names_of(const struct layout* layout, const void* description) {
  struct names names = {"", ""};
  if (layout != NULL) {
    names.topic = pointer_at(description, layout->topic_name);
    names.type = pointer_at(description, layout->topic_type);
  }
  return names;
}

static const uint8_t* guid_of(struct sibling* sibling, const struct real* real,
                              const void* entity) {
  static const uint8_t unknown[16];
  typedef const uint8_t* (*function)(const void*);
  function guid = (function)sibling_function(sibling, real);
  return guid != NULL ? guid(entity) : unknown;
}

static void* create_writer(HOOKED, void* publisher, void* topic, const void* qos, void* listener,
                           const void* mask, void* pool) {
  (void)caller;
  static struct sibling guid = {"_ZNK8eprosima7fastdds3dds10DataWriter4guidEv", NULL};
  create_function create = (create_function)real_function(real);
  void* writer = create(publisher, topic, qos, listener, mask, pool);
  if (writer != NULL && ANNOUNCED(create_writer)) {
    const struct layout* layout = layout_of(real);
    struct names names =
        names_of(layout, (const char*)topic + (layout != NULL ? layout->topic_description : 0));
    announce_writer(writer, names.topic, guid_of(&guid, real, writer), names.type);
  }
  return writer;
}

static void* create_reader(HOOKED, void* subscriber, void* description, const void* qos,
                           void* listener, const void* mask, void* pool) {
  (void)caller;
  static struct sibling guid = {"_ZNK8eprosima7fastdds3dds10DataReader4guidEv", NULL};
  create_function create = (create_function)real_function(real);
  void* reader = create(subscriber, description, qos, listener, mask, pool);
  if (reader != NULL && ANNOUNCED(create_reader)) {
    struct names names = names_of(layout_of(real), description);
    announce_reader(reader, names.topic, guid_of(&guid, real, reader), names.type);
  }
  return reader;
}

#define CREATE(name, library, symbol, body)                                                        \
  STUB(name, library, symbol, void*, body,                                                         \
       (void* parent, void* topic, const void* qos, void* listener, const void* mask, void* pool), \
       parent, topic, qos, listener, mask, pool)
#define HOOK_create_writer(name, library, symbol) CREATE(name, library, symbol, create_writer)
#define HOOK_create_reader(name, library, symbol) CREATE(name, library, symbol, create_reader)

#define HOOKS_OF_FASTDDS_ENTITIES
#define HOOK(id, build, library, symbol) HOOK_##id(id##_##build, library, symbol)
#include "hooks.def"
