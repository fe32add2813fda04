// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Hooks of Fast DDS and of its ROS middleware. C, not C++: the library must not need a libstdc++ of
// its own. A member function is called as any other, with `this` first; references and objects that
// are not trivial are pointers; an exception passes through (-fexceptions).
#include <stdlib.h>
#include <string.h>

#include "callers.h"
#include "emit.h"

typedef int32_t ReturnCode;  // 0: done
enum { RETCODE_OK = 0 };

// LoanableCollection and LoanableSequence: vtable, maximum, length, elements.
enum { COLLECTION_LENGTH = 12, COLLECTION_ELEMENTS = 16 };
// rmw_fastrtps_shared_cpp::SerializedData: type, ROS message.
enum { SERIALIZED_DATA_MESSAGE = 8 };
// SerializedPayload_t: encapsulation, length.
enum { PAYLOAD_LENGTH = 4 };
// Locator_t: kind, port.
enum { LOCATOR_KIND = 0, LOCATOR_PORT = 4 };

#define CALLER() caller_at(__builtin_return_address(0))

static void* pointer_at(const void* object, size_t offset) {
  void* value;
  memcpy(&value, (const char*)object + offset, sizeof(value));
  return value;
}

static int32_t int_at(const void* object, size_t offset) {
  int32_t value;
  memcpy(&value, (const char*)object + offset, sizeof(value));
  return value;
}

// SequenceNumber_t: high, low.
static int64_t sequence_at(const void* object, size_t offset) {
  return (int64_t)((uint64_t)(uint32_t)int_at(object, offset) << 32 |
                   (uint32_t)int_at(object, offset + 4));
}

// rtps::Time_t: seconds, fraction, nanoseconds.
static int64_t stamp_at(const void* object, size_t offset) {
  return (int64_t)int_at(object, offset) * 1000000000 + (uint32_t)int_at(object, offset + 8);
}

// The ROS message behind what rmw_fastrtps hands to Fast DDS; other programs' values are left
// alone.
static const void* message_of(const void* data, enum caller caller) {
  return caller == CALLER_RMW_FASTRTPS && data != NULL ? pointer_at(data, SERIALIZED_DATA_MESSAGE)
                                                       : data;
}

static struct sample sample_of_change(const struct layout* layout, const void* change) {
  struct sample sample = {0};
  if (layout != NULL && change != NULL) {
    memcpy(sample.guid, (const char*)change + layout->change_guid, sizeof(sample.guid));
    sample.sequence = sequence_at(change, layout->change_sequence);
    sample.stamp = stamp_at(change, layout->change_stamp);
    sample.size = (uint32_t)int_at(change, layout->change_size);
  }
  return sample;
}

// --- creation ------------------------------------------------------------------------------------

// libstdc++'s std::string begins with the address of its characters.
static const char* string_at(const void* object, size_t offset) {
  return pointer_at(object, offset);
}

#define GUID_OF_WRITER "_ZNK8eprosima7fastdds3dds10DataWriter4guidEv"
#define GUID_OF_READER "_ZNK8eprosima7fastdds3dds10DataReader4guidEv"
#define GUID_OF_READER_IMPL "_ZNK8eprosima7fastdds3dds14DataReaderImpl4guidEv"

typedef const uint8_t* (*guid_function)(const void*);
typedef void* (*create_function)(void*, void*, const void*, void*, const void*, void*);

static const uint8_t no_guid[16];

static const uint8_t* guid_of(const struct real* real, const char* symbol, const void* entity) {
  guid_function guid = (guid_function)sibling(real, symbol);
  const uint8_t* found = guid != NULL ? guid(entity) : NULL;
  return found != NULL ? found : no_guid;
}

static void tell_writer(const struct real* real, const void* writer, const void* topic) {
  const struct layout* layout = real->layout;
  const char* description = (const char*)topic + (layout ? layout->topic_description : 0);
  const char* name = layout ? string_at(description, layout->topic_name) : "";
  const char* type = layout ? string_at(description, layout->topic_type) : "";
  EMIT(create_writer, writer, name, guid_of(real, GUID_OF_WRITER, writer), type);
}

static void tell_reader(const struct real* real, const void* reader, const void* description) {
  const struct layout* layout = real->layout;
  const char* name = layout ? string_at(description, layout->topic_name) : "";
  const char* type = layout ? string_at(description, layout->topic_type) : "";
  EMIT(create_reader, reader, name, guid_of(real, GUID_OF_READER, reader), type);
}

#define DEFINE_CREATE(id, symbol, library, tell)                                                \
  static struct real real_##id = REAL(symbol, library);                                         \
  void* hook_##id(void*, void*, const void*, void*, const void*, void*) __asm__(symbol);        \
  EXPORT void* hook_##id(void* parent, void* topic, const void* qos, void* listener,            \
                         const void* mask, void* pool) {                                        \
    void* made =                                                                                \
        ((create_function)real_function(&real_##id))(parent, topic, qos, listener, mask, pool); \
    if (made != NULL) {                                                                         \
      tell(&real_##id, made, topic);                                                            \
    }                                                                                           \
    return made;                                                                                \
  }
#define DEFINE_create_writer(id, symbol, library) DEFINE_CREATE(id, symbol, library, tell_writer)
#define DEFINE_create_reader(id, symbol, library) DEFINE_CREATE(id, symbol, library, tell_reader)

// --- write ---------------------------------------------------------------------------------------

// The write that this thread is in.
static _Thread_local struct {
  const void* writer;
  const void* data;
} writing;

static bool write_wanted(void) {
  return WANTED(write_begin) || WANTED(write_end) || WANTED(write_pre) || WANTED(write);
}

static void write_begins(const void* writer, const void* data, enum caller caller) {
  const void* message = message_of(data, caller);
  writing.writer = writer;
  writing.data = message;
  EMIT(write_begin, writer, message);
  EMIT(write_pre, writer, message);
}

static void write_ends(const void* writer, ReturnCode result) {
  EMIT(write_end, writer, result);
  writing.writer = NULL;
}

// `type` is bool or ReturnCode, `code` turns it into a return code. Whatever the second and third
// argument are, they are pointers, and an argument that the function does not have is not read.
#define DEFINE_WRITE(id, symbol, library, type, code)                                      \
  static struct real real_##id = REAL(symbol, library);                                    \
  type hook_##id(void*, void*, const void*, const void*) __asm__(symbol);                  \
  EXPORT type hook_##id(void* writer, void* data, const void* second, const void* third) { \
    typedef type (*function)(void*, void*, const void*, const void*);                      \
    function real = (function)real_function(&real_##id);                                   \
    if (!write_wanted()) {                                                                 \
      return real(writer, data, second, third);                                            \
    }                                                                                      \
    write_begins(writer, data, CALLER());                                                  \
    type result = real(writer, data, second, third);                                       \
    write_ends(writer, code(result));                                                      \
    return result;                                                                         \
  }
#define CODE_OF_BOOL(done) ((done) ? RETCODE_OK : 1)
#define CODE(result) (result)
#define DEFINE_write_with_timestamp(id, symbol, library) \
  DEFINE_WRITE(id, symbol, library, ReturnCode, CODE)
#define DEFINE_write_instance(id, symbol, library) \
  DEFINE_WRITE(id, symbol, library, ReturnCode, CODE)
// Of these, 2.14 returns bool and 3.2 a return code.
#define DEFINE_write_with_params(id, symbol, library) DEFINE_##id(id, symbol, library)
#define DEFINE_write_value(id, symbol, library) DEFINE_##id(id, symbol, library)
#define DEFINE_write_with_params_2_14(id, symbol, library) \
  DEFINE_WRITE(id, symbol, library, bool, CODE_OF_BOOL)
#define DEFINE_write_with_params_3_2(id, symbol, library) \
  DEFINE_WRITE(id, symbol, library, ReturnCode, CODE)
#define DEFINE_write_value_2_14(id, symbol, library) \
  DEFINE_WRITE(id, symbol, library, bool, CODE_OF_BOOL)
#define DEFINE_write_value_3_2(id, symbol, library) \
  DEFINE_WRITE(id, symbol, library, ReturnCode, CODE)

// --- serialize, deserialize ----------------------------------------------------------------------

// 2.14 passes (data, payload), 3.2 (data, payload, representation); the third is passed on as it
// is.
#define DEFINE_serialize(id, symbol, library)                                                  \
  static struct real real_##id = REAL(symbol, library);                                        \
  bool hook_##id(void*, const void*, void*, int64_t) __asm__(symbol);                          \
  EXPORT bool hook_##id(void* type, const void* data, void* payload, int64_t representation) { \
    typedef bool (*function)(void*, const void*, void*, int64_t);                              \
    function real = (function)real_function(&real_##id);                                       \
    if (!WANTED(serialize_begin) && !WANTED(serialize_end)) {                                  \
      return real(type, data, payload, representation);                                        \
    }                                                                                          \
    const void* message = message_of(data, CALLER_RMW_FASTRTPS);                               \
    EMIT(serialize_begin, message);                                                            \
    bool done = real(type, data, payload, representation);                                     \
    EMIT(serialize_end, message, done ? (uint32_t)int_at(payload, PAYLOAD_LENGTH) : 0);        \
    return done;                                                                               \
  }

#define DEFINE_deserialize(id, symbol, library)                                \
  static struct real real_##id = REAL(symbol, library);                        \
  bool hook_##id(void*, void*, void*) __asm__(symbol);                         \
  EXPORT bool hook_##id(void* type, void* payload, void* data) {               \
    typedef bool (*function)(void*, void*, void*);                             \
    function real = (function)real_function(&real_##id);                       \
    if (!WANTED(deserialize_begin) && !WANTED(deserialize_end)) {              \
      return real(type, payload, data);                                        \
    }                                                                          \
    const void* message = message_of(data, CALLER_RMW_FASTRTPS);               \
    EMIT(deserialize_begin, message);                                          \
    bool done = real(type, payload, data);                                     \
    EMIT(deserialize_end, message, (uint32_t)int_at(payload, PAYLOAD_LENGTH)); \
    return done;                                                               \
  }

// --- histories, notification ---------------------------------------------------------------------

static void tell_added(const struct real* real, const void* change) {
  struct sample sample = sample_of_change(real->layout, change);
  if (rtps_is_builtin(sample.guid)) {
    return;
  }
  last_added = sample;
  EMIT(writer_history_add, &sample);
  EMIT(write, writing.writer, writing.data, sample.stamp);
}

#define DEFINE_writer_history_add(id, symbol, library)                                  \
  static struct real real_##id = REAL(symbol, library);                                 \
  bool hook_##id(void*, void*, void*) __asm__(symbol);                                  \
  EXPORT bool hook_##id(void* history, void* change, void* params) {                    \
    typedef bool (*function)(void*, void*, void*);                                      \
    bool added = ((function)real_function(&real_##id))(history, change, params);        \
    if (added && (WANTED(writer_history_add) || WANTED(write) || WANTED(send_begin))) { \
      tell_added(&real_##id, change);                                                   \
    }                                                                                   \
    return added;                                                                       \
  }

static void tell_reader_added(const struct real* real, const struct sample* sample) {
  // Without the layout the sample is the one that this thread received last.
  const struct sample* told = real->layout != NULL ? sample : &last_received;
  if (!rtps_is_builtin(told->guid)) {
    EMIT(reader_history_add, told);
  }
}

// The change is read before it is given away: afterwards a reader may have taken it.
#define DEFINE_reader_history_add(id, symbol, library)                 \
  static struct real real_##id = REAL(symbol, library);                \
  bool hook_##id(void*, void*) __asm__(symbol);                        \
  EXPORT bool hook_##id(void* history, void* change) {                 \
    typedef bool (*function)(void*, void*);                            \
    function real = (function)real_function(&real_##id);               \
    if (!WANTED(reader_history_add)) {                                 \
      return real(history, change);                                    \
    }                                                                  \
    struct sample sample = sample_of_change(real_##id.layout, change); \
    bool added = real(history, change);                                \
    if (added) {                                                       \
      tell_reader_added(&real_##id, &sample);                          \
    }                                                                  \
    return added;                                                      \
  }

#define DEFINE_reader_notify(id, symbol, library)                           \
  static struct real real_##id = REAL(symbol, library);                     \
  bool hook_##id(void*, const void*) __asm__(symbol);                       \
  EXPORT bool hook_##id(void* reader, const void* change) {                 \
    typedef bool (*function)(void*, const void*);                           \
    function real = (function)real_function(&real_##id);                    \
    if (WANTED(reader_notify)) {                                            \
      struct sample sample = sample_of_change(real_##id.layout, change);    \
      EMIT(reader_notify, guid_of(&real_##id, GUID_OF_READER_IMPL, reader), \
           real_##id.layout != NULL ? &sample : &last_received);            \
    }                                                                       \
    return real(reader, change);                                            \
  }

// --- transports ----------------------------------------------------------------------------------

// Ports that the SHM send of this thread has reached.
static _Thread_local struct destination shm_destination;

static bool send_wanted(void) {
  return WANTED(send_begin) || WANTED(send_end) || WANTED(send_sample);
}

static void shm_send_ends(bool told, bool done) {
  if (told) {
    EMIT(send_end, TRANSPORT_SHM, &shm_destination, done);
  }
}

#define DEFINE_shm_send(id, symbol, library) DEFINE_##id(id, symbol, library)

#define DEFINE_shm_send_2_14(id, symbol, library)                                             \
  static struct real real_##id = REAL(symbol, library);                                       \
  bool hook_##id(void*, const uint8_t*, uint32_t, void*, void*, const void*) __asm__(symbol); \
  EXPORT bool hook_##id(void* transport, const uint8_t* data, uint32_t length, void* begin,   \
                        void* end, const void* until) {                                       \
    typedef bool (*function)(void*, const uint8_t*, uint32_t, void*, void*, const void*);     \
    function real = (function)real_function(&real_##id);                                      \
    if (!send_wanted()) {                                                                     \
      return real(transport, data, length, begin, end, until);                                \
    }                                                                                         \
    struct iovec part = {(void*)data, length};                                                \
    shm_destination = (struct destination){0};                                                \
    bool told = emit_send_begin(TRANSPORT_SHM, &part, 1);                                     \
    bool done = real(transport, data, length, begin, end, until);                             \
    shm_send_ends(told, done);                                                                \
    return done;                                                                              \
  }

// NetworkBuffer: address and 32-bit size, in a std::vector: begin, end.
struct network_buffer {
  void* data;
  uint32_t size;
};
struct network_buffers {
  const struct network_buffer* begin;
  const struct network_buffer* end;
};
#define MOST_BUFFERS 64

static bool send_buffers_begins(const struct network_buffers* buffers) {
  struct iovec parts[MOST_BUFFERS];
  size_t count = (size_t)(buffers->end - buffers->begin);
  // Samples beyond the last part that fits stay untold.
  count = count < MOST_BUFFERS ? count : MOST_BUFFERS;
  for (size_t i = 0; i < count; i++) {
    parts[i] = (struct iovec){buffers->begin[i].data, buffers->begin[i].size};
  }
  return emit_send_begin(TRANSPORT_SHM, parts, count);
}

#define DEFINE_shm_send_3_2(id, symbol, library)                                                \
  static struct real real_##id = REAL(symbol, library);                                         \
  bool hook_##id(void*, const struct network_buffers*, uint32_t, void*, void*,                  \
                 const void*) __asm__(symbol);                                                  \
  EXPORT bool hook_##id(void* transport, const struct network_buffers* buffers, uint32_t total, \
                        void* begin, void* end, const void* until) {                            \
    typedef bool (*function)(void*, const struct network_buffers*, uint32_t, void*, void*,      \
                             const void*);                                                      \
    function real = (function)real_function(&real_##id);                                        \
    if (!send_wanted()) {                                                                       \
      return real(transport, buffers, total, begin, end, until);                                \
    }                                                                                           \
    shm_destination = (struct destination){0};                                                  \
    bool told = send_buffers_begins(buffers);                                                   \
    bool done = real(transport, buffers, total, begin, end, until);                             \
    shm_send_ends(told, done);                                                                  \
    return done;                                                                                \
  }

#define DEFINE_shm_push(id, symbol, library)                                   \
  static struct real real_##id = REAL(symbol, library);                        \
  bool hook_##id(void*, const void*, const void*) __asm__(symbol);             \
  EXPORT bool hook_##id(void* transport, const void* buffer, const void* to) { \
    typedef bool (*function)(void*, const void*, const void*);                 \
    shm_destination.port = (uint32_t)int_at(to, LOCATOR_PORT);                 \
    shm_destination.count++;                                                   \
    return ((function)real_function(&real_##id))(transport, buffer, to);       \
  }

// What is shared is already in the segment: the reader only learns that it is there. The notifier
// does not know the sample; it is the one that this thread has just added.
#define DEFINE_data_sharing_notify(id, symbol, library)                       \
  static struct real real_##id = REAL(symbol, library);                       \
  void hook_##id(void*) __asm__(symbol);                                      \
  EXPORT void hook_##id(void* notifier) {                                     \
    typedef void (*function)(void*);                                          \
    function real = (function)real_function(&real_##id);                      \
    struct destination to = {.count = 1};                                     \
    bool told = last_added.sequence != 0 && writing.writer != NULL;           \
    if (told) {                                                               \
      EMIT(send_begin, TRANSPORT_DATA_SHARING, last_added.size, &last_added); \
    }                                                                         \
    real(notifier);                                                           \
    if (told) {                                                               \
      EMIT(send_end, TRANSPORT_DATA_SHARING, &to, 1);                         \
    }                                                                         \
  }

#define DEFINE_receive(id, symbol, library)                                                      \
  static struct real real_##id = REAL(symbol, library);                                          \
  void hook_##id(void*, const uint8_t*, uint32_t, const void*, const void*) __asm__(symbol);     \
  EXPORT void hook_##id(void* resource, const uint8_t* data, uint32_t length, const void* local, \
                        const void* remote) {                                                    \
    typedef void (*function)(void*, const uint8_t*, uint32_t, const void*, const void*);         \
    if (WANTED(receive) || WANTED(receive_sample) || WANTED(reader_notify)) {                    \
      struct iovec part = {(void*)data, length};                                                 \
      emit_receive(int_at(local, LOCATOR_KIND), &part, 1);                                       \
    }                                                                                            \
    ((function)real_function(&real_##id))(resource, data, length, local, remote);                \
  }

// --- wait ----------------------------------------------------------------------------------------

#define DEFINE_wake_up(id, symbol, library)                \
  static struct real real_##id = REAL(symbol, library);    \
  void hook_##id(void*) __asm__(symbol);                   \
  EXPORT void hook_##id(void* waitset) {                   \
    EMIT(wake_up, waitset);                                \
    ((void (*)(void*))real_function(&real_##id))(waitset); \
  }

// The time-out is two 32-bit numbers in one register.
#define DEFINE_wait(id, symbol, library)                                             \
  static struct real real_##id = REAL(symbol, library);                              \
  ReturnCode hook_##id(const void*, void*, uint64_t) __asm__(symbol);                \
  EXPORT ReturnCode hook_##id(const void* waitset, void* active, uint64_t timeout) { \
    typedef ReturnCode (*function)(const void*, void*, uint64_t);                    \
    function real = (function)real_function(&real_##id);                             \
    if (!WANTED(wait_begin) && !WANTED(wait_end)) {                                  \
      return real(waitset, active, timeout);                                         \
    }                                                                                \
    EMIT(wait_begin, waitset);                                                       \
    ReturnCode result = real(waitset, active, timeout);                              \
    EMIT(wait_end, waitset, result);                                                 \
    return result;                                                                   \
  }

// --- take ----------------------------------------------------------------------------------------

static bool take_wanted(void) { return WANTED(take_begin) || WANTED(take_end) || WANTED(read); }

static struct sample sample_of_info(const struct layout* layout, const void* info) {
  struct sample sample = {0};
  if (layout != NULL && info != NULL) {
    memcpy(sample.guid, (const char*)info + layout->info_identity, sizeof(sample.guid));
    sample.sequence = sequence_at(info, layout->info_identity + sizeof(sample.guid));
    sample.stamp = stamp_at(info, layout->info_stamp);
  }
  return sample;
}

static void take_ends(const struct real* real, const void* reader, const void* values,
                      const void* infos, ReturnCode result, enum caller caller) {
  struct sample sample = {0};
  const void* buffer = NULL;
  int32_t taken = 0;
  if (result == RETCODE_OK && real->layout != NULL) {
    taken = int_at(infos, COLLECTION_LENGTH);
  }
  if (taken > 0) {
    void* const* info = pointer_at(infos, COLLECTION_ELEMENTS);
    void* const* value = pointer_at(values, COLLECTION_ELEMENTS);
    sample = sample_of_info(real->layout, info != NULL ? info[0] : NULL);
    buffer = message_of(value != NULL ? value[0] : NULL, caller);
  }
  EMIT(take_end, reader, buffer, &sample, taken, result);
  if (taken > 0) {
    EMIT(read, reader, buffer);
  }
}

#define DEFINE_take(id, symbol, library)                                                        \
  static struct real real_##id = REAL(symbol, library);                                         \
  ReturnCode hook_##id(void*, void*, void*, int32_t, uint16_t, uint16_t,                        \
                       uint16_t) __asm__(symbol);                                               \
  EXPORT ReturnCode hook_##id(void* reader, void* values, void* infos, int32_t most,            \
                              uint16_t samples, uint16_t views, uint16_t instances) {           \
    typedef ReturnCode (*function)(void*, void*, void*, int32_t, uint16_t, uint16_t, uint16_t); \
    function real = (function)real_function(&real_##id);                                        \
    if (!take_wanted()) {                                                                       \
      return real(reader, values, infos, most, samples, views, instances);                      \
    }                                                                                           \
    enum caller caller = CALLER();                                                              \
    EMIT(take_begin, reader);                                                                   \
    ReturnCode result = real(reader, values, infos, most, samples, views, instances);           \
    take_ends(&real_##id, reader, values, infos, result, caller);                               \
    return result;                                                                              \
  }

#define DEFINE_NEXT_SAMPLE(id, symbol, library)                                   \
  static struct real real_##id = REAL(symbol, library);                           \
  ReturnCode hook_##id(void*, void*, void*) __asm__(symbol);                      \
  EXPORT ReturnCode hook_##id(void* reader, void* data, void* info) {             \
    typedef ReturnCode (*function)(void*, void*, void*);                          \
    function real = (function)real_function(&real_##id);                          \
    if (!take_wanted()) {                                                         \
      return real(reader, data, info);                                            \
    }                                                                             \
    EMIT(take_begin, reader);                                                     \
    ReturnCode result = real(reader, data, info);                                 \
    bool taken = result == RETCODE_OK;                                            \
    struct sample sample = sample_of_info(taken ? real_##id.layout : NULL, info); \
    EMIT(take_end, reader, taken ? data : NULL, &sample, taken, result);          \
    if (taken) {                                                                  \
      EMIT(read, reader, data);                                                   \
    }                                                                             \
    return result;                                                                \
  }
#define DEFINE_take_next_sample(id, symbol, library) DEFINE_NEXT_SAMPLE(id, symbol, library)
#define DEFINE_read_next_sample(id, symbol, library) DEFINE_NEXT_SAMPLE(id, symbol, library)

#define HOOKS_OF_FASTDDS
#define HOOK(id, build, library, symbol) DEFINE_##id(id##_##build, symbol, library)
#include "hooks.def"
