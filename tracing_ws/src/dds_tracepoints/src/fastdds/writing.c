// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Hooks on the way of a value from write() into the writer's history; all on the writing thread.
#include "fastdds.h"

bool is_writing(void) {
  return encloses(operation_of(OPERATION_WRITE), (uintptr_t)__builtin_frame_address(0));
}

static bool is_write_wanted(void) {
  return WANTED(written) || WANTED(write_pre) || WANTED(write) || WANTED(sent);
}

static void write_begins(struct entered* write, const void* writer, const void* data,
                         const void* caller) {
  struct operation* own =
      enter_operation(write, OPERATION_WRITE, (uintptr_t)__builtin_frame_address(0));
  own->entity = writer;
  own->data = message_of(data, caller);
  own->sample = (struct sample){0};
  open_operation(own);
  EMIT(write_pre, writer, own->data);
}

static void write_ends(struct entered* write, ReturnCode result) {
  if (is_open(write->operation)) {
    EMIT(written, write->operation, result);
  }
  leave_operation(write);
}

// What follows the value are addresses, however many there are: an argument that the real function
// does not have is passed on and not read.
static ReturnCode write_value(HOOKED, void* writer, void* data, void* second, void* third) {
  typedef ReturnCode (*function)(void*, void*, void*, void*);
  function write = (function)real_function(real);
  if (!is_write_wanted()) {
    return write(writer, data, second, third);
  }
  ENTERED(own);
  write_begins(&own, writer, data, caller);
  ReturnCode result = write(writer, data, second, third);
  write_ends(&own, result);
  return result;
}

static bool write_value_bool(HOOKED, void* writer, void* data, void* second, void* third) {
  typedef bool (*function)(void*, void*, void*, void*);
  function write = (function)real_function(real);
  if (!is_write_wanted()) {
    return write(writer, data, second, third);
  }
  ENTERED(own);
  write_begins(&own, writer, data, caller);
  bool done = write(writer, data, second, third);
  write_ends(&own, done ? RETCODE_OK : RETCODE_ERROR);
  return done;
}

// Requests and responses of services are written with parameters that tell whose they are; so is
// what ROS tells of its graph, of nobody.
static void tell_related(struct real* real, const void* writer, const void* params) {
  (void)real_function(real);  // finds the library, and with it the layout
  const struct layout* layout = layout_of(real);
  struct related related;
  if (WANTED(write_related) && layout != NULL &&
      related_at(layout, params, layout->params_related, &related)) {
    EMIT(write_related, writer, related.guid, related.sequence);
  }
}

static ReturnCode write_params(HOOKED, void* writer, void* data, void* params, void* third) {
  tell_related(real, writer, params);
  return write_value(real, caller, writer, data, params, third);
}

static bool write_params_bool(HOOKED, void* writer, void* data, void* params, void* third) {
  tell_related(real, writer, params);
  return write_value_bool(real, caller, writer, data, params, third);
}

// 2.14 passes (data, payload), 3.2 (data, payload, representation).
static bool serialize(HOOKED, void* type, const void* data, void* payload, int64_t representation) {
  (void)caller;
  typedef bool (*function)(void*, const void*, void*, int64_t);
  function serialize = (function)real_function(real);
  if (!WANTED(written) && !WANTED(serialized)) {
    return serialize(type, data, payload, representation);
  }
  CONVERSION(conversion);
  serialize_begins(&conversion, message_behind(data));
  bool done = serialize(type, data, payload, representation);
  bool known = done && layout_of(real) != NULL;
  conversion_ends(&conversion, known ? (uint32_t)int_at(payload, PAYLOAD_LENGTH) : 0);
  return done;
}

// The caller holds the history's lock: the change is there until he returns.
static bool writer_history_add(HOOKED, void* history, void* change, void* params) {
  (void)caller;
  typedef bool (*function)(void*, void*, void*);
  bool added = ((function)real_function(real))(history, change, params);
  if (added && (WANTED(written) || WANTED(writer_history_add) || WANTED(write) || WANTED(sent))) {
    struct sample sample = sample_of_change(layout_of(real), change);
    if (!rtps_is_builtin(sample.guid)) {
      last_added = sample;
      emit_writer_history_add(&sample);
      const struct operation* around = is_writing() ? operation_of(OPERATION_WRITE) : NULL;
      EMIT(write, around != NULL ? around->entity : NULL, around != NULL ? around->data : NULL,
           sample.stamp);
    }
  }
  return added;
}

#define WRITE(name, library, symbol, type, body)                                                 \
  STUB(name, library, symbol, type, body, (void* writer, void* data, void* second, void* third), \
       writer, data, second, third)
#define HOOK_write_with_timestamp(name, library, symbol) \
  WRITE(name, library, symbol, ReturnCode, write_value)
#define HOOK_write_instance(name, library, symbol) \
  WRITE(name, library, symbol, ReturnCode, write_value)
// Of these, 2.14 returns bool and 3.2 a return code.
#define HOOK_write_with_params(name, library, symbol) HOOK_##name(name, library, symbol)
#define HOOK_write_with_params_2_14(name, library, symbol) \
  WRITE(name, library, symbol, bool, write_params_bool)
#define HOOK_write_with_params_3_2(name, library, symbol) \
  WRITE(name, library, symbol, ReturnCode, write_params)
#define HOOK_write_value(name, library, symbol) HOOK_##name(name, library, symbol)
#define HOOK_write_value_2_14(name, library, symbol) \
  WRITE(name, library, symbol, bool, write_value_bool)
#define HOOK_write_value_3_2(name, library, symbol) \
  WRITE(name, library, symbol, ReturnCode, write_value)
#define HOOK_serialize(name, library, symbol)                                                      \
  STUB(name, library, symbol, bool, serialize,                                                     \
       (void* type, const void* data, void* payload, int64_t representation), type, data, payload, \
       representation)
#define HOOK_writer_history_add(name, library, symbol)  \
  STUB(name, library, symbol, bool, writer_history_add, \
       (void* history, void* change, void* params), history, change, params)

#define HOOKS_OF_FASTDDS_WRITING
#define HOOK(id, build, library, symbol) HOOK_##id(id##_##build, library, symbol)
#include "hooks.def"
