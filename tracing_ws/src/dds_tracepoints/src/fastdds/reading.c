// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Hooks on the way of a sample from a reader's history to who takes it.
#include "fastdds.h"

// --- on the receiving thread ---------------------------------------------------------------------

// The receipt of a sample that this thread is in; null for none.
static struct operation* receipt_of(const struct sample* sample) {
  struct operation* receipt = WANTED(received) ? operation_of(OPERATION_RECEIVE) : NULL;
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  return receipt != NULL && is_open(receipt) && encloses(receipt, frame) &&
                 receipt->sample.sequence == sample->sequence &&
                 memcmp(receipt->sample.guid, sample->guid, sizeof(sample->guid)) == 0
             ? receipt
             : NULL;
}

// The change is read before it is given away: afterwards a reader may have taken it.
static bool reader_history_add(HOOKED, void* history, void* change) {
  (void)caller;
  typedef bool (*function)(void*, void*);
  function add = (function)real_function(real);
  if (!WANTED(reader_history_add) && !WANTED(received)) {
    return add(history, change);
  }
  // Of an unknown release the sample is the one that was just received.
  const struct layout* layout = layout_of(real);
  struct sample sample = layout != NULL ? sample_of_change(layout, change) : last_received;
  bool added = add(history, change);
  if (added && sample.sequence != 0 && !rtps_is_builtin(sample.guid)) {
    struct operation* receipt = receipt_of(&sample);
    if (receipt != NULL && step_of(receipt, READER_HISTORY_ADD) == 0 &&
        receipt->sample.stamp == sample.stamp && receipt->sample.size == sample.size) {
      note_step(receipt, READER_HISTORY_ADD);
    } else {
      EMIT(reader_history_add, &sample);
    }
  }
  return added;
}

static const uint8_t* guid_of_reader(const struct real* real, const void* reader) {
  static const uint8_t unknown[16];
  static struct sibling sibling = {"_ZNK8eprosima7fastdds3dds14DataReaderImpl4guidEv", NULL};
  typedef const uint8_t* (*function)(const void*);
  function guid = (function)sibling_function(&sibling, real);
  return guid != NULL ? guid(reader) : unknown;
}

static bool reader_notify(HOOKED, void* reader, const void* change) {
  (void)caller;
  typedef bool (*function)(void*, const void*);
  function notify = (function)real_function(real);
  if (WANTED(reader_notify) || WANTED(received)) {
    const struct layout* layout = layout_of(real);
    struct sample sample = layout != NULL ? sample_of_change(layout, change) : last_received;
    struct operation* receipt = receipt_of(&sample);
    // Before the reader is told: who takes the sample comes later than all that is said of it.
    if (receipt != NULL) {
      EMIT(received, receipt, guid_of_reader(real, reader), 1);
      close_operation(receipt);
    } else {
      EMIT(reader_notify, guid_of_reader(real, reader), &sample);
    }
  }
  return notify(reader, change);
}

// --- on the taking thread ------------------------------------------------------------------------

static bool is_take_wanted(void) { return WANTED(taken) || WANTED(read) || WANTED(take_related); }

static void tell_related(const struct layout* layout, const void* reader, const void* info) {
  struct related related;
  if (WANTED(take_related) && layout != NULL &&
      related_at(layout, info, layout->info_related, &related)) {
    EMIT(take_related, reader, related.guid, related.sequence);
  }
}

static void take_begins(struct entered* take, const void* reader) {
  struct operation* own =
      enter_operation(take, OPERATION_TAKE, (uintptr_t)__builtin_frame_address(0));
  own->entity = reader;
  own->data = NULL;
  open_operation(own);
}

static void take_ends(struct entered* take, const void* buffer, const struct sample* sample,
                      int32_t taken, ReturnCode result) {
  const void* reader = take->operation->entity;
  emit_taken(take->operation, buffer, sample, taken, result);
  leave_operation(take);
  if (taken > 0) {
    EMIT(read, reader, buffer);
  }
}

static ReturnCode take(HOOKED, void* reader, void* values, void* infos, int32_t most,
                       uint16_t samples, uint16_t views, uint16_t instances) {
  typedef ReturnCode (*function)(void*, void*, void*, int32_t, uint16_t, uint16_t, uint16_t);
  function take = (function)shared_function(real, caller);
  if (!is_take_wanted()) {
    return take(reader, values, infos, most, samples, views, instances);
  }
  ENTERED(own);
  take_begins(&own, reader);
  ReturnCode result = take(reader, values, infos, most, samples, views, instances);
  const struct layout* layout = layout_of(real);
  struct sample sample = {0};
  const void* buffer = NULL;
  const void* first = NULL;
  int32_t taken = 0;
  if (result == RETCODE_OK && layout != NULL) {
    taken = int_at(infos, COLLECTION_LENGTH);
  }
  if (taken > 0) {
    void* const* info = pointer_at(infos, COLLECTION_ELEMENTS);
    void* const* value = pointer_at(values, COLLECTION_ELEMENTS);
    first = info != NULL ? info[0] : NULL;
    sample = sample_of_info(layout, first);
    buffer = message_of(value != NULL ? value[0] : NULL, caller);
  }
  take_ends(&own, buffer, &sample, taken, result);
  tell_related(layout, reader, first);
  return result;
}

static ReturnCode next_sample(HOOKED, void* reader, void* data, void* info) {
  typedef ReturnCode (*function)(void*, void*, void*);
  function next = (function)shared_function(real, caller);
  if (!is_take_wanted()) {
    return next(reader, data, info);
  }
  ENTERED(own);
  take_begins(&own, reader);
  ReturnCode result = next(reader, data, info);
  bool taken = result == RETCODE_OK;
  const struct layout* layout = taken ? layout_of(real) : NULL;
  struct sample sample = sample_of_info(layout, info);
  take_ends(&own, taken ? message_of(data, caller) : NULL, &sample, taken, result);
  tell_related(layout, reader, info);
  return result;
}

static bool deserialize(HOOKED, void* type, void* payload, void* data) {
  (void)caller;
  typedef bool (*function)(void*, void*, void*);
  function deserialize = (function)real_function(real);
  if (!WANTED(taken) && !WANTED(deserialized)) {
    return deserialize(type, payload, data);
  }
  CONVERSION(conversion);
  deserialize_begins(&conversion, message_behind(data));
  bool done = deserialize(type, payload, data);
  bool known = layout_of(real) != NULL;
  conversion_ends(&conversion, known ? (uint32_t)int_at(payload, PAYLOAD_LENGTH) : 0);
  return done;
}

#define HOOK_reader_history_add(name, library, symbol)                                          \
  STUB(name, library, symbol, bool, reader_history_add, (void* history, void* change), history, \
       change)
#define HOOK_reader_notify(name, library, symbol)                                              \
  STUB(name, library, symbol, bool, reader_notify, (void* reader, const void* change), reader, \
       change)
#define HOOK_take(name, library, symbol)                                                         \
  STUB(name, library, symbol, ReturnCode, take,                                                  \
       (void* reader, void* values, void* infos, int32_t most, uint16_t samples, uint16_t views, \
        uint16_t instances),                                                                     \
       reader, values, infos, most, samples, views, instances)
#define NEXT_SAMPLE(name, library, symbol)                                                     \
  STUB(name, library, symbol, ReturnCode, next_sample, (void* reader, void* data, void* info), \
       reader, data, info)
#define HOOK_take_next_sample(name, library, symbol) NEXT_SAMPLE(name, library, symbol)
#define HOOK_read_next_sample(name, library, symbol) NEXT_SAMPLE(name, library, symbol)
#define HOOK_deserialize(name, library, symbol)                                                 \
  STUB(name, library, symbol, bool, deserialize, (void* type, void* payload, void* data), type, \
       payload, data)

#define HOOKS_OF_FASTDDS_READING
#define HOOK(id, build, library, symbol) HOOK_##id(id##_##build, library, symbol)
#include "hooks.def"
