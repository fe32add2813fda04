// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "callers.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

static const struct {
  const char* file;
  enum caller caller;
} known[] = {
    {"libfastrtps.so", CALLER_FASTDDS},           {"libfastdds.so", CALLER_FASTDDS},
    {"librmw_fastrtps", CALLER_RMW_FASTRTPS},     {"libddsc", CALLER_CYCLONEDDS},
    {"librmw_cyclonedds", CALLER_RMW_CYCLONEDDS},
};

enum caller caller_at(const void* return_address) {
  struct dl_find_object object;
  // Takes no lock, so it may be called from a signal handler and in a forked child.
  if (_dl_find_object((void*)return_address, &object) != 0 || object.dlfo_link_map == NULL) {
    return CALLER_OTHER;
  }
  const char* path = object.dlfo_link_map->l_name;
  const char* slash = strrchr(path, '/');
  const char* file = slash != NULL ? slash + 1 : path;
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
    if (strncmp(file, known[i].file, strlen(known[i].file)) == 0) {
      return known[i].caller;
    }
  }
  return CALLER_OTHER;
}

enum caller caller_again(const void* return_address) {
  // An address of a program has the highest byte free for the caller: a signal handler finds, and
  // leaves, whole words.
  enum { CALLER_SHIFT = 56 };
  static _Thread_local volatile uint64_t recent[4];
  uint64_t address = (uintptr_t)return_address;
  volatile uint64_t* place = &recent[(address >> 3) % 4];
  uint64_t known = *place;
  if (__builtin_expect(known << 8 != address << 8 || known == 0, 0)) {
    known = address | (uint64_t)caller_at(return_address) << CALLER_SHIFT;
    *place = known;
  }
  return (enum caller)(known >> CALLER_SHIFT);
}
