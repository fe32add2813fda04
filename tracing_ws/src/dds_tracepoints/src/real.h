// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Finds the function that a hook stands in for, and what is known of the library that holds it.
#ifndef DDS_TRACEPOINTS_REAL_H
#define DDS_TRACEPOINTS_REAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where fields lie in the objects of one release of a library; bytes from an object's begin.
// Known from the headers of that release: a test holds this table against them.
struct layout {
  const char* soname;  // beginning of DT_SONAME
  // CacheChange_t
  size_t change_guid;
  size_t change_sequence;
  size_t change_size;
  size_t change_stamp;
  // SampleInfo
  size_t info_stamp;
  size_t info_identity;
  size_t info_related;
  // WriteParams
  size_t params_related;
  // Topic -> TopicDescription -> names
  size_t topic_description;
  size_t topic_name;
  size_t topic_type;
};

// The real function behind one hooked symbol; static storage, filled in at the first call.
// Threads that come first at once all find the same and store the same. `function` is stored last:
// who sees it sees the others.
struct real {
  const char* symbol;
  const char* library;  // beginning of the SONAME of the library that has it
  _Atomic(void*) function;
  _Atomic(void*) handle;                 // of that library; null: found without one
  _Atomic(const struct layout*) layout;  // null: unknown release, its objects are not looked into
};

#define REAL(symbol, library) {symbol, library, NULL, NULL, NULL}

// Looks the function up; ends the process with a message when nothing in it defines the symbol,
// which then nobody can have been linked to.
void* find_real(struct real* real);

// Returns the real function.
static inline void* real_function(struct real* real) {
  void* function = atomic_load_explicit(&real->function, memory_order_acquire);
  return function != NULL ? function : find_real(real);
}

// True once functions of two Fast DDS libraries were found in this process.
extern _Atomic bool several_fastdds;

// Finds the function again, in the library that the caller is linked to.
void* find_real_of_caller(struct real* real, const void* return_address);

// Returns the real function of a symbol that libraries of several releases have.
static inline void* shared_function(struct real* real, const void* return_address) {
  void* function = real_function(real);
  return atomic_load_explicit(&several_fastdds, memory_order_relaxed)
             ? find_real_of_caller(real, return_address)
             : function;
}

// Returns the layout that belongs to it, once it was found.
static inline const struct layout* layout_of(const struct real* real) {
  return atomic_load_explicit(&real->layout, memory_order_relaxed);
}

// Another function of the library that holds a real one. Static storage; looked up once.
struct sibling {
  const char* symbol;
  _Atomic(void*) function;
};

// Returns that function; null when the library has none.
void* sibling_function(struct sibling* sibling, const struct real* real);

#endif
