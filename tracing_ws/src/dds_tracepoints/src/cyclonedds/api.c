// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Hooks of the API of Cyclone DDS: creation, write, take, wait.
#include <stddef.h>
#include <string.h>

#include "callers.h"
#include "cyclonedds/cyclonedds.h"

typedef int64_t dds_time_t;
typedef uint64_t dds_instance_handle_t;
struct ddsi_serdata;
struct ddsi_sertype;

// dds_sample_info_t; the same in every release.
typedef struct {
  uint32_t sample_state, view_state, instance_state;
  bool valid_data;
  dds_time_t source_timestamp;
  dds_instance_handle_t instance_handle;
  dds_instance_handle_t publication_handle;
} dds_sample_info_t;

// Names of a hook's parts. `parameters` and the arguments behind it are those of the function.
#define REAL_FUNCTION(name, type, parameters) \
  const struct library* library = LIBRARY();  \
  type(*real) parameters = function_of(&name##_function, library)
#define DECLARE(name, type, parameters)                       \
  static struct function name##_function = {.symbol = #name}; \
  type name parameters;                                       \
  EXPORT type name parameters

// --- creation ------------------------------------------------------------------------------------

#define DEFINE_CREATE(name, kind, parameters, ...) \
  DECLARE(name, dds_entity_t, parameters) {        \
    REAL_FUNCTION(name, dds_entity_t, parameters); \
    dds_entity_t made = real(__VA_ARGS__);         \
    entity_created(library, kind, made);           \
    return made;                                   \
  }

DEFINE_CREATE(dds_create_writer, KIND_WRITER,
              (dds_entity_t parent, dds_entity_t topic, const void* qos, const void* listener),
              parent, topic, qos, listener)
DEFINE_CREATE(dds_create_reader, KIND_READER,
              (dds_entity_t parent, dds_entity_t topic, const void* qos, const void* listener),
              parent, topic, qos, listener)
DEFINE_CREATE(dds_create_reader_rhc, KIND_READER,
              (dds_entity_t parent, dds_entity_t topic, const void* qos, const void* listener,
               void* history),
              parent, topic, qos, listener, history)
DEFINE_CREATE(dds_create_writer_guid, KIND_WRITER,
              (dds_entity_t parent, dds_entity_t topic, const void* qos, const void* listener,
               void* guid),
              parent, topic, qos, listener, guid)
DEFINE_CREATE(dds_create_reader_guid, KIND_READER,
              (dds_entity_t parent, dds_entity_t topic, const void* qos, const void* listener,
               void* guid),
              parent, topic, qos, listener, guid)

// --- services ------------------------------------------------------------------------------------

// rmw_cyclonedds hands over requests and responses with a header before them: whose the request is
// (8 bytes), and its number, counted by its client. Of other programs a topic may have such a name.
struct request_header {
  uint8_t client[8];
  int64_t sequence;
};

static const struct request_header* header_of(dds_entity_t entity, const void* data,
                                              const void* caller) {
  bool known = data != NULL && entity_serves(entity) && caller_at(caller) == CALLER_RMW_CYCLONEDDS;
  return known ? data : NULL;
}

static void tell_write(dds_entity_t writer, const void* data, const void* caller) {
  const struct request_header* header =
      WANTED(write_related) ? header_of(writer, data, caller) : NULL;
  if (header != NULL) {
    uint8_t guid[16] = {0};
    memcpy(guid, header->client, sizeof(header->client));
    EMIT(write_related, handle_of(writer), guid, header->sequence);
  }
}

static void tell_take(dds_entity_t reader, const void* data, const void* caller) {
  const struct request_header* header =
      WANTED(take_related) ? header_of(reader, data, caller) : NULL;
  if (header != NULL) {
    uint8_t guid[16] = {0};
    memcpy(guid, header->client, sizeof(header->client));
    EMIT(take_related, handle_of(reader), guid, header->sequence);
  }
}

// --- write ---------------------------------------------------------------------------------------

static bool write_wanted(void) {
  return WANTED(written) || WANTED(write_pre) || WANTED(write) || WANTED(serialized) ||
         WANTED(reader_history_add) || WANTED(reader_notify) || WANTED(create_writer) ||
         WANTED(write_related);
}

// Returns the write around this one.
static struct writing write_begins(struct entered* write, const struct library* library,
                                   dds_entity_t writer, const void* data, const void* caller) {
  struct writing outer = writing_now;
  entity_used(library, KIND_WRITER, writer);
  tell_write(writer, data, caller);
  writing_now = (struct writing){.writer = writer, .active = true};
  struct operation* own =
      enter_operation(write, OPERATION_WRITE, (uintptr_t)__builtin_frame_address(0));
  own->entity = handle_of(writer);
  own->data = data;
  own->sample = (struct sample){0};
  open_operation(own);
  EMIT(write_pre, own->entity, data);
  return outer;
}

static void write_ends(struct entered* write, struct writing outer, dds_return_t result) {
  if (is_open(write->operation)) {
    EMIT(written, write->operation, result);
  }
  leave_operation(write);
  writing_now = outer;
}

// Some of these functions call another: one write is told once.
#define DEFINE_WRITE(name, parameters, told, ...)                                  \
  DECLARE(name, dds_return_t, parameters) {                                        \
    REAL_FUNCTION(name, dds_return_t, parameters);                                 \
    if (!write_wanted() || (writing_now.active && writing_now.writer == writer)) { \
      return real(__VA_ARGS__);                                                    \
    }                                                                              \
    ENTERED(write);                                                                \
    struct writing outer =                                                         \
        write_begins(&write, library, writer, data, __builtin_return_address(0));  \
    told;                                                                          \
    dds_return_t result = real(__VA_ARGS__);                                       \
    write_ends(&write, outer, result);                                             \
    return result;                                                                 \
  }
#define NO_TIME (void)0
#define TIME EMIT(write, handle_of(writer), data, time)

DEFINE_WRITE(dds_write, (dds_entity_t writer, const void* data), NO_TIME, writer, data)
DEFINE_WRITE(dds_write_ts, (dds_entity_t writer, const void* data, dds_time_t time), TIME, writer,
             data, time)
DEFINE_WRITE(dds_writedispose, (dds_entity_t writer, const void* data), NO_TIME, writer, data)
DEFINE_WRITE(dds_writedispose_ts, (dds_entity_t writer, const void* data, dds_time_t time), TIME,
             writer, data, time)
DEFINE_WRITE(dds_writecdr, (dds_entity_t writer, struct ddsi_serdata* data), NO_TIME, writer, data)
DEFINE_WRITE(dds_forwardcdr, (dds_entity_t writer, struct ddsi_serdata* data), NO_TIME, writer,
             data)

// --- take, read ----------------------------------------------------------------------------------

static bool take_wanted(void) {
  return WANTED(taken) || WANTED(read) || WANTED(deserialized) || WANTED(create_reader) ||
         WANTED(take_related);
}

// Returns the reader: of a read condition it is that of its reader.
static dds_entity_t take_begins(struct entered* take, const struct library* library,
                                dds_entity_t entity) {
  dds_entity_t reader = entity_used(library, KIND_READER, entity);
  taking_now = true;
  struct operation* own =
      enter_operation(take, OPERATION_TAKE, (uintptr_t)__builtin_frame_address(0));
  own->entity = handle_of(reader);
  own->data = NULL;
  open_operation(own);
  return reader;
}

static void take_ends(struct entered* take, dds_entity_t reader, const void* buffer,
                      const dds_sample_info_t* info, dds_return_t result) {
  struct sample sample = {0};
  taking_now = false;
  if (result <= 0) {
    buffer = NULL;
  } else if (info != NULL) {
    sample.stamp = info->source_timestamp;
    cyclone_identify(info->publication_handle, &sample);
  }
  emit_taken(take->operation, buffer, &sample, result > 0 ? result : 0, result);
  leave_operation(take);
  if (result > 0) {
    EMIT(read, handle_of(reader), buffer);
  }
}

// The first value is where values[0] says, which the library itself fills in for a loan.
#define DEFINE_TAKE(name, parameters, ...)                                            \
  DECLARE(name, dds_return_t, parameters) {                                           \
    REAL_FUNCTION(name, dds_return_t, parameters);                                    \
    if (!take_wanted() || taking_now) {                                               \
      return real(__VA_ARGS__);                                                       \
    }                                                                                 \
    ENTERED(take);                                                                    \
    dds_entity_t reader = take_begins(&take, library, entity);                        \
    dds_return_t result = real(__VA_ARGS__);                                          \
    take_ends(&take, reader, result > 0 ? ((void**)values)[0] : NULL, infos, result); \
    if (result > 0 && infos != NULL && infos->valid_data) {                           \
      tell_take(reader, ((void**)values)[0], __builtin_return_address(0));            \
    }                                                                                 \
    return result;                                                                    \
  }

#define DEFINE_TAKES(verb)                                                                        \
  DEFINE_TAKE(                                                                                    \
      dds_##verb,                                                                                 \
      (dds_entity_t entity, void** values, dds_sample_info_t* infos, size_t size, uint32_t most), \
      entity, values, infos, size, most)                                                          \
  DEFINE_TAKE(dds_##verb##_wl,                                                                    \
              (dds_entity_t entity, void** values, dds_sample_info_t* infos, uint32_t most),      \
              entity, values, infos, most)                                                        \
  DEFINE_TAKE(dds_##verb##_mask,                                                                  \
              (dds_entity_t entity, void** values, dds_sample_info_t* infos, size_t size,         \
               uint32_t most, uint32_t mask),                                                     \
              entity, values, infos, size, most, mask)                                            \
  DEFINE_TAKE(dds_##verb##_mask_wl,                                                               \
              (dds_entity_t entity, void** values, dds_sample_info_t* infos, uint32_t most,       \
               uint32_t mask),                                                                    \
              entity, values, infos, most, mask)                                                  \
  DEFINE_TAKE(dds_##verb##_instance,                                                              \
              (dds_entity_t entity, void** values, dds_sample_info_t* infos, size_t size,         \
               uint32_t most, dds_instance_handle_t instance),                                    \
              entity, values, infos, size, most, instance)                                        \
  DEFINE_TAKE(dds_##verb##_instance_wl,                                                           \
              (dds_entity_t entity, void** values, dds_sample_info_t* infos, uint32_t most,       \
               dds_instance_handle_t instance),                                                   \
              entity, values, infos, most, instance)                                              \
  DEFINE_TAKE(dds_##verb##_instance_mask,                                                         \
              (dds_entity_t entity, void** values, dds_sample_info_t* infos, size_t size,         \
               uint32_t most, dds_instance_handle_t instance, uint32_t mask),                     \
              entity, values, infos, size, most, instance, mask)                                  \
  DEFINE_TAKE(dds_##verb##_instance_mask_wl,                                                      \
              (dds_entity_t entity, void** values, dds_sample_info_t* infos, uint32_t most,       \
               dds_instance_handle_t instance, uint32_t mask),                                    \
              entity, values, infos, most, instance, mask)                                        \
  DEFINE_TAKE(dds_##verb##_next, (dds_entity_t entity, void** values, dds_sample_info_t* infos),  \
              entity, values, infos)                                                              \
  DEFINE_TAKE(dds_##verb##_next_wl,                                                               \
              (dds_entity_t entity, void** values, dds_sample_info_t* infos), entity, values,     \
              infos)                                                                              \
  DEFINE_TAKE(dds_##verb##cdr,                                                                    \
              (dds_entity_t entity, struct ddsi_serdata * *values, uint32_t most,                 \
               dds_sample_info_t* infos, uint32_t mask),                                          \
              entity, values, most, infos, mask)                                                  \
  DEFINE_TAKE(dds_##verb##cdr_instance,                                                           \
              (dds_entity_t entity, struct ddsi_serdata * *values, uint32_t most,                 \
               dds_sample_info_t* infos, dds_instance_handle_t instance, uint32_t mask),          \
              entity, values, most, infos, instance, mask)
DEFINE_TAKES(take)
DEFINE_TAKES(read)

// 11 can hand out samples one by one. The first is remembered on their way to the application's
// function, which puts them where nobody else knows.
typedef dds_return_t (*collect_function)(void*, const dds_sample_info_t*,
                                         const struct ddsi_sertype*, struct ddsi_serdata*);
struct collector {
  collect_function function;
  void* argument;
  dds_sample_info_t first;
  int32_t count;
};

static dds_return_t collect(void* given, const dds_sample_info_t* info,
                            const struct ddsi_sertype* type, struct ddsi_serdata* value) {
  struct collector* collector = given;
  if (collector->count++ == 0) {
    collector->first = *info;
  }
  return collector->function(collector->argument, info, type, value);
}

#define DEFINE_COLLECT(name)                                                                  \
  DECLARE(name, dds_return_t,                                                                 \
          (dds_entity_t entity, uint32_t most, dds_instance_handle_t instance, uint32_t mask, \
           collect_function function, void* argument)) {                                      \
    REAL_FUNCTION(                                                                            \
        name, dds_return_t,                                                                   \
        (dds_entity_t, uint32_t, dds_instance_handle_t, uint32_t, collect_function, void*));  \
    if (!take_wanted() || taking_now || function == NULL) {                                   \
      return real(entity, most, instance, mask, function, argument);                          \
    }                                                                                         \
    struct collector collector = {.function = function, .argument = argument};                \
    ENTERED(take);                                                                            \
    dds_entity_t reader = take_begins(&take, library, entity);                                \
    dds_return_t result = real(entity, most, instance, mask, collect, &collector);            \
    take_ends(&take, reader, NULL, collector.count > 0 ? &collector.first : NULL, result);    \
    return result;                                                                            \
  }
DEFINE_COLLECT(dds_take_with_collector)
DEFINE_COLLECT(dds_read_with_collector)

// --- wait ----------------------------------------------------------------------------------------

#define DEFINE_WAIT(name)                                                                       \
  DECLARE(name, dds_return_t, (dds_entity_t set, intptr_t* found, size_t most, int64_t time)) { \
    REAL_FUNCTION(name, dds_return_t, (dds_entity_t, intptr_t*, size_t, int64_t));              \
    EMIT(wait_begin, handle_of(set));                                                           \
    dds_return_t result = real(set, found, most, time);                                         \
    EMIT(wait_end, handle_of(set), result);                                                     \
    return result;                                                                              \
  }
DEFINE_WAIT(dds_waitset_wait)
DEFINE_WAIT(dds_waitset_wait_until)
