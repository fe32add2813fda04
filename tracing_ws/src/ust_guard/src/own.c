// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "own.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#define BITS (sizeof(unsigned long) * CHAR_BIT)

static _Atomic unsigned long owned[MOST_DESCRIPTORS / BITS];

bool is_ust(const void* return_address) {
  struct dl_find_object object;
  return _dl_find_object((void*)return_address, &object) == 0 && object.dlfo_link_map != NULL &&
         strstr(object.dlfo_link_map->l_name, "/liblttng-ust") != NULL;
}

void own(int fd) {
  if (fd >= 0 && fd < MOST_DESCRIPTORS) {
    atomic_fetch_or(&owned[(unsigned)fd / BITS], 1UL << ((unsigned)fd % BITS));
  }
}

void disown(int fd) {
  if (fd >= 0 && fd < MOST_DESCRIPTORS) {
    atomic_fetch_and(&owned[(unsigned)fd / BITS], ~(1UL << ((unsigned)fd % BITS)));
  }
}

bool is_owned(int fd) {
  return fd >= 0 && fd < MOST_DESCRIPTORS &&
         (atomic_load_explicit(&owned[(unsigned)fd / BITS], memory_order_relaxed) >>
              ((unsigned)fd % BITS) &
          1) != 0;
}

unsigned next_owned(unsigned fd) {
  while (fd < MOST_DESCRIPTORS) {
    unsigned long left = atomic_load(&owned[fd / BITS]) >> (fd % BITS);
    if (left != 0) {
      return fd + (unsigned)__builtin_ctzl(left);
    }
    fd += BITS - fd % BITS;
  }
  return MOST_DESCRIPTORS;
}
