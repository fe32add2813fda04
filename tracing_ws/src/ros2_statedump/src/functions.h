// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What the generated functions that announce entities have in common.
#ifndef ROS2_STATEDUMP_FUNCTIONS_H
#define ROS2_STATEDUMP_FUNCTIONS_H

#include <dlfcn.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "announcements.h"

// Finds the function of the libtracetools that is in the process, if there is one. It may be known
// to the libraries of a Python extension only, and not to programs: it is asked for by its name
// then. Not while announcements are dumped, under LTTng-UST's lock, which the dynamic loader waits
// for with its own lock.
static inline void find_real(_Atomic(void*)* found, const char* symbol) {
  if (__builtin_expect(atomic_load_explicit(found, memory_order_relaxed) != NULL, 1)) {
    return;
  }
  void* function = dlsym(RTLD_NEXT, symbol);
  void* library = function == NULL ? dlopen("libtracetools.so", RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (library != NULL) {
    function = dlsym(library, symbol);
  }
  atomic_store_explicit(found, function, memory_order_relaxed);
}

// Bytes that a text takes in a record.
static inline size_t length(const char* text) { return text != NULL ? strlen(text) + 1 : 0; }

// Puts a text at the end of a record; returns its offset, 0 of none.
static inline size_t put(char* record, size_t* end, const char* text) {
  if (text == NULL) {
    return 0;
  }
  size_t at = *end;
  memcpy(record + at, text, length(text));
  *end += length(text);
  return at;
}

static inline const char* text(const void* record, size_t at) {
  return at != 0 ? (const char*)record + at : NULL;
}

#endif
