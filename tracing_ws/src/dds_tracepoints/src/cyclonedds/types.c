// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Hooks on turning values into bytes and back in Cyclone DDS. A type is an object with a table of
// functions, handed in when it is made. One from outside (rmw_cyclonedds_cpp, the Python package)
// is made with a copy of its table, in which two functions are ours. The library's own types keep
// their tables: the library compares their addresses; but their values go through two exported
// functions.
#include <pthread.h>
#include <string.h>

#include "cyclonedds/cyclonedds.h"
#include "notice.h"

// struct ddsi_serdata_ops of both releases; what follows get_keyhash is there in 11, and in 0.10
// where it was built with shared memory.
enum {
  OPS_GET_SIZE = 1,
  OPS_FROM_SAMPLE = 5,
  OPS_TO_SAMPLE = 9,
  OPS_FEWEST = 15,
  OPS_MOST = 17,
};
enum { KIND_OF_VALUE = 2 };

typedef uint32_t (*get_size_function)(const void*);
typedef void* (*from_sample_function)(const void*, int, const void*);
typedef bool (*to_sample_function)(const void*, void*, void**, void*);

// Copies of tables, one each. Filled in before it is counted, never changed; types may live as long
// as the process.
struct table {
  void* const* original;
  void* copy[OPS_MOST];
};
#define MOST_TABLES 8
static struct table tables[MOST_TABLES];
static size_t table_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t size_of(const struct table* table, const void* value) {
  return ((get_size_function)table->original[OPS_GET_SIZE])(value);
}

static void* from_sample(const struct table* table, const void* type, int kind, const void* data) {
  from_sample_function real = (from_sample_function)table->original[OPS_FROM_SAMPLE];
  if (kind != KIND_OF_VALUE ||
      (!WANTED(written) && !WANTED(serialized) && !WANTED(reader_history_add))) {
    return real(type, kind, data);
  }
  CONVERSION(conversion);
  serialize_begins(&conversion, data);
  void* made = real(type, kind, data);
  uint32_t size = made != NULL ? size_of(table, made) : 0;
  conversion_ends(&conversion, size);
  writing_now.size = size;
  return made;
}

static bool to_sample(const struct table* table, const void* value, void* data, void** buffer,
                      void* limit) {
  to_sample_function real = (to_sample_function)table->original[OPS_TO_SAMPLE];
  if (!WANTED(taken) && !WANTED(deserialized)) {
    return real(value, data, buffer, limit);
  }
  CONVERSION(conversion);
  deserialize_begins(&conversion, data);
  bool done = real(value, data, buffer, limit);
  conversion_ends(&conversion, size_of(table, value));
  return done;
}

// One pair of functions a table: neither is told which table it was called through.
#define EACH_TABLE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define DEFINE_PAIR(n)                                                                 \
  static void* from_sample_##n(const void* type, int kind, const void* data) {         \
    return from_sample(&tables[n], type, kind, data);                                  \
  }                                                                                    \
  static bool to_sample_##n(const void* value, void* data, void** buffer, void* end) { \
    return to_sample(&tables[n], value, data, buffer, end);                            \
  }
EACH_TABLE(DEFINE_PAIR)
#define NAME_PAIR(n) {from_sample_##n, to_sample_##n},
static const struct {
  from_sample_function from_sample;
  to_sample_function to_sample;
} pairs[MOST_TABLES] = {EACH_TABLE(NAME_PAIR)};

static void* const* copy_of(void* const* original, size_t length) {
  pthread_mutex_lock(&lock);
  size_t i = 0;
  while (i < table_count && tables[i].original != original && tables[i].copy != original) {
    i++;
  }
  if (i == table_count && i < MOST_TABLES) {
    struct table* table = &tables[table_count++];
    table->original = original;
    memcpy(table->copy, original, length * sizeof(*original));
    table->copy[OPS_FROM_SAMPLE] = (void*)pairs[i].from_sample;
    table->copy[OPS_TO_SAMPLE] = (void*)pairs[i].to_sample;
  }
  pthread_mutex_unlock(&lock);
  if (i == MOST_TABLES) {
    notice(
        "More than %d kinds of types in Cyclone DDS: the serialization of further ones is not told",
        MOST_TABLES);
  }
  return i < MOST_TABLES ? tables[i].copy : original;
}

static const void* with_hooks(const struct library* library, const void* ops) {
  if (ops == NULL || library->release == RELEASE_UNKNOWN || library_holds(library, ops)) {
    return ops;
  }
  bool longer = library->release == RELEASE_11 || has_function(library, "shm_create_chunk");
  return copy_of(ops, longer ? OPS_MOST : OPS_FEWEST);
}

static struct function type_init = {.symbol = "ddsi_sertype_init"};
void ddsi_sertype_init(void*, const char*, const void*, const void*, bool);
EXPORT void ddsi_sertype_init(void* type, const char* name, const void* type_ops, const void* ops,
                              bool keyless) {
  const struct library* library = LIBRARY();
  void (*real)(void*, const char*, const void*, const void*, bool) =
      function_of(&type_init, library);
  real(type, name, type_ops, with_hooks(library, ops), keyless);
}

static struct function type_init_flags = {.symbol = "ddsi_sertype_init_flags"};
void ddsi_sertype_init_flags(void*, const char*, const void*, const void*, uint32_t);
EXPORT void ddsi_sertype_init_flags(void* type, const char* name, const void* type_ops,
                                    const void* ops, uint32_t flags) {
  const struct library* library = LIBRARY();
  void (*real)(void*, const char*, const void*, const void*, uint32_t) =
      function_of(&type_init_flags, library);
  real(type, name, type_ops, with_hooks(library, ops), flags);
}

static struct function type_init_props = {.symbol = "ddsi_sertype_init_props"};
void ddsi_sertype_init_props(void*, const char*, const void*, const void*, size_t, uint64_t,
                             uint32_t, uint32_t);
EXPORT void ddsi_sertype_init_props(void* type, const char* name, const void* type_ops,
                                    const void* ops, size_t size, uint64_t properties,
                                    uint32_t representations, uint32_t flags) {
  const struct library* library = LIBRARY();
  void (*real)(void*, const char*, const void*, const void*, size_t, uint64_t, uint32_t, uint32_t) =
      function_of(&type_init_props, library);
  real(type, name, type_ops, with_hooks(library, ops), size, properties, representations, flags);
}

// --- the library's own types ---------------------------------------------------------------------

// dds_ostream_t and dds_istream_t of both releases.
struct stream {
  void* buffer;
  uint32_t size;
  uint32_t index;
};

// As on the wire: with the header of 4 bytes, padded to a multiple of 4.
static uint32_t size_between(uint32_t begin, uint32_t end) { return 4 + ((end - begin + 3) & ~3U); }

// 0.10 has (stream, value, type), 11 (stream, allocator, value, type). What is no write of the
// application's, say the description of a type, is left alone.
static struct function stream_write = {.symbol = "dds_stream_write_sample"};
bool dds_stream_write_sample(struct stream*, const void*, const void*, const void*);
EXPORT bool dds_stream_write_sample(struct stream* stream, const void* second, const void* third,
                                    const void* fourth) {
  const struct library* library = LIBRARY();
  bool (*real)(struct stream*, const void*, const void*, const void*) =
      function_of(&stream_write, library);
  if (!writing_now.active || library->release == RELEASE_UNKNOWN) {
    return real(stream, second, third, fourth);
  }
  const void* data = library->release == RELEASE_11 ? third : second;
  uint32_t begin = stream->index;
  CONVERSION(conversion);
  serialize_begins(&conversion, data);
  bool done = real(stream, second, third, fourth);
  writing_now.size = done ? size_between(begin, stream->index) : 0;
  conversion_ends(&conversion, writing_now.size);
  return done;
}

static struct function stream_read = {.symbol = "dds_stream_read_sample"};
void dds_stream_read_sample(struct stream*, void*, const void*, const void*);
EXPORT void dds_stream_read_sample(struct stream* stream, void* data, const void* third,
                                   const void* fourth) {
  const struct library* library = LIBRARY();
  void (*real)(struct stream*, void*, const void*, const void*) =
      function_of(&stream_read, library);
  if (!taking_now || library->release == RELEASE_UNKNOWN) {
    real(stream, data, third, fourth);
    return;
  }
  uint32_t begin = stream->index;
  CONVERSION(conversion);
  deserialize_begins(&conversion, data);
  real(stream, data, third, fourth);
  conversion_ends(&conversion, size_between(begin, stream->index));
}
