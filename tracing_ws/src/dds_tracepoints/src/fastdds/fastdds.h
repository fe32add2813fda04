// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What the hooks of Fast DDS and of its ROS middleware share. C, not C++: the library must not need
// a libstdc++ of its own. A member function is called as any other, with `this` first; references
// and objects that are not trivial are pointers; an exception passes through (-fexceptions).
//
// A hook has two parts. STUB, once for each row of hooks.def, is the exported function: it calls
// the body, with its `struct real`, its return address and its arguments. The body is an ordinary
// function. It calls the real function exactly once, whatever happens.
#ifndef DDS_TRACEPOINTS_FASTDDS_H
#define DDS_TRACEPOINTS_FASTDDS_H

#include <string.h>

#include "callers.h"
#include "emit.h"

#define STUB(name, library, symbol, type, body, parameters, ...)         \
  static struct real real_##name = REAL(symbol, library);                \
  type hook_##name parameters __asm__(symbol);                           \
  EXPORT type hook_##name parameters {                                   \
    return body(&real_##name, __builtin_return_address(0), __VA_ARGS__); \
  }

// What the parameters of a body begin with.
#define HOOKED struct real *real, const void *caller

typedef int32_t ReturnCode;
enum { RETCODE_OK = 0, RETCODE_ERROR = 1 };

// --- objects (objects.c) -------------------------------------------------------------------------
// Offsets that are the same in every known release; for objects of an unknown one (layout_of is
// null) they are not used either.

// LoanableCollection and LoanableSequence: vtable, maximum, length, elements.
enum { COLLECTION_LENGTH = 12, COLLECTION_ELEMENTS = 16 };
// SerializedPayload_t: encapsulation, length.
enum { PAYLOAD_LENGTH = 4 };
// Locator_t: kind, port.
enum { LOCATOR_KIND = 0, LOCATOR_PORT = 4 };

static inline void* pointer_at(const void* object, size_t offset) {
  void* value;
  memcpy(&value, (const char*)object + offset, sizeof(value));
  return value;
}

static inline int32_t int_at(const void* object, size_t offset) {
  int32_t value;
  memcpy(&value, (const char*)object + offset, sizeof(value));
  return value;
}

// Returns what a CacheChange_t or a SampleInfo tells of its sample; zeros without a layout.
struct sample sample_of_change(const struct layout* layout, const void* change);
struct sample sample_of_info(const struct layout* layout, const void* info);

// Of a request or response of a service: who asked, and the number of the request, or 0.
struct related {
  uint8_t guid[16];
  int64_t sequence;
};

// Reads a SampleIdentity, which is there for services only; false when it is not, or not known.
bool related_at(const struct layout* layout, const void* object, size_t offset,
                struct related* related);

// Returns the ROS message behind a value that rmw_fastrtps hands to Fast DDS: it lies in a
// SerializedData on the stack of the calling thread. A value elsewhere, such as a loaned message,
// is the message itself.
const void* message_behind(const void* data);

// Returns the same for a value of any caller; other programs' values are left alone.
const void* message_of(const void* data, const void* caller);

// --- the write that this thread is in (writing.c) ------------------------------------------------

// True within DataWriter::write.
bool is_writing(void);

#endif
