// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Preloaded before the hooks: counts a thread's calls that look into the loaded objects.
#include <dlfcn.h>
#include <link.h>

// Of each thread: those of LTTng make calls of their own, at any time.
static __thread long calls __attribute__((tls_model("initial-exec")));

// Looked up at the start: LTTng's threads call these, too, while the loader's lock is held for
// them.
#define NEXT(name) static __typeof__(name)* next_##name
NEXT(dl_iterate_phdr);
NEXT(dladdr);
NEXT(_dl_find_object);

__attribute__((constructor)) static void look_up(void) {
  next_dl_iterate_phdr = dlsym(RTLD_NEXT, "dl_iterate_phdr");
  next_dladdr = dlsym(RTLD_NEXT, "dladdr");
  next__dl_find_object = dlsym(RTLD_NEXT, "_dl_find_object");
}

int dl_iterate_phdr(int (*callback)(struct dl_phdr_info*, size_t, void*), void* data) {
  calls++;
  return next_dl_iterate_phdr(callback, data);
}

int dladdr(const void* address, Dl_info* info) {
  calls++;
  return next_dladdr(address, info);
}

int _dl_find_object(void* address, struct dl_find_object* result) {
  calls++;
  return next__dl_find_object(address, result);
}

long counted(void) { return calls; }
