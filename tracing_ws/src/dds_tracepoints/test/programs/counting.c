// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Preloaded before the hooks: counts the calls that look into the loaded objects.
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_long calls;

#define NEXT(name) ((__typeof__(name)*)dlsym(RTLD_NEXT, #name))

int dl_iterate_phdr(int (*callback)(struct dl_phdr_info*, size_t, void*), void* data) {
  calls++;
  return NEXT(dl_iterate_phdr)(callback, data);
}

int dladdr(const void* address, Dl_info* info) {
  calls++;
  return NEXT(dladdr)(address, info);
}

int _dl_find_object(void* address, struct dl_find_object* result) {
  calls++;
  return NEXT(_dl_find_object)(address, result);
}

long counted(void) { return calls; }
