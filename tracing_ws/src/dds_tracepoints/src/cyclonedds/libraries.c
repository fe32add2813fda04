// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Which libddsc a call belongs to. Python opens its extensions, and with them DDS, with
// RTLD_LOCAL: dlsym(RTLD_NEXT) finds nothing there. The caller's own object knows.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "begin.h"
#include "cyclonedds/cyclonedds.h"
#include "notice.h"

_Thread_local struct writing writing_now;
_Thread_local struct storing storing_now;
_Thread_local bool taking_now;

// A function of every release that is not hooked, to find the library by.
#define MARK "dds_create_participant"
#define PREFIX "libddsc"

static struct library libraries[MOST_LIBRARIES];
static size_t library_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Objects that called hooks, and their libraries. Written under the lock, read without.
#define MOST_CALLERS 32
static struct {
  const struct link_map* map;
  size_t library;
} callers[MOST_CALLERS];
static atomic_size_t caller_count;

static struct link_map* object_at(const void* address) {
  struct dl_find_object object;
  return _dl_find_object((void*)address, &object) == 0 ? object.dlfo_link_map : NULL;
}

// The SONAME tells too little: libddsc.so.0 is the name of 0.7 and of 0.10. The file behind the
// links is named libddsc.so.0.10.5, the one in a wheel libddsc-<hash>.so.11.0.1.
static enum release release_of(const struct link_map* map) {
  const char* asked = getenv("DDS_TRACEPOINTS_LAYOUTS");
  char* path = realpath(map->l_name, NULL);
  const char* slash = path != NULL ? strrchr(path, '/') : NULL;
  const char* version = slash != NULL ? strstr(slash, ".so.") : NULL;
  enum release release = RELEASE_UNKNOWN;
  if (version != NULL && (asked == NULL || strcmp(asked, "none") != 0)) {
    release = strncmp(version, ".so.0.10.", 9) == 0 ? RELEASE_0_10
              : strncmp(version, ".so.11.", 7) == 0 ? RELEASE_11
                                                    : RELEASE_UNKNOWN;
  }
  if (release == RELEASE_UNKNOWN) {
    notice(
        "%s is no release of Cyclone DDS whose objects are known: serialization and readers' "
        "histories stay untold; what is sent and received is told as always",
        slash != NULL ? slash + 1 : map->l_name);
  }
  free(path);
  return release;
}

// Registers the library that holds an address; the lock is held.
static size_t register_library(const void* address) {
  struct link_map* map = object_at(address);
  for (size_t i = 0; map != NULL && i < library_count; i++) {
    if (libraries[i].base == map->l_addr) {
      return i;
    }
  }
  if (map == NULL || library_count == MOST_LIBRARIES) {
    notice("Cannot go on: more than %d Cyclone DDS in one process", MOST_LIBRARIES);
    abort();
  }
  libraries[library_count] = (struct library){
      .handle = dlopen(map->l_name[0] != '\0' ? map->l_name : NULL, RTLD_LAZY | RTLD_NOLOAD),
      .base = map->l_addr,
      .release = release_of(map)};
  return library_count++;
}

static int find_any(struct dl_phdr_info* info, size_t size, void* path) {
  (void)size;
  const char* slash = info->dlpi_name != NULL ? strrchr(info->dlpi_name, '/') : NULL;
  if (slash == NULL || strncmp(slash + 1, PREFIX, strlen(PREFIX)) != 0) {
    return 0;
  }
  *(const char**)path = info->dlpi_name;
  return 1;
}

// The address of MARK as an object sees it, else that of any loaded libddsc.
static void* mark_for(const struct link_map* caller) {
  void* mark = NULL;
  if (caller != NULL) {
    // Never closed: hooks may be called from there at any time.
    const char* path = caller->l_name[0] != '\0' ? caller->l_name : NULL;
    void* handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    mark = handle != NULL ? dlsym(handle, MARK) : NULL;
  }
  const char* any = NULL;
  if (mark == NULL && dl_iterate_phdr(find_any, &any) != 0) {
    void* handle = dlopen(any, RTLD_LAZY | RTLD_NOLOAD);
    mark = handle != NULL ? dlsym(handle, MARK) : NULL;
  }
  return mark;
}

static size_t find_library(const struct link_map* caller) {
  int saved_errno = errno;
  begin();
  const void* mark = mark_for(caller);
  if (mark == NULL) {
    notice("Cannot go on: Cyclone DDS is called, and no loaded library is it");
    abort();
  }
  pthread_mutex_lock(&lock);
  size_t index = register_library(mark);
  size_t count = atomic_load(&caller_count);
  size_t known = 0;
  while (known < count && callers[known].map != caller) {
    known++;
  }
  // Further callers are looked up at every call; so is code without an object.
  if (caller != NULL && known == count && count < MOST_CALLERS) {
    callers[count].map = caller;
    callers[count].library = index;
    atomic_store_explicit(&caller_count, count + 1, memory_order_release);
  }
  pthread_mutex_unlock(&lock);
  errno = saved_errno;
  return index;
}

const struct library* library_at(const void* return_address) {
  const struct link_map* caller = object_at(return_address);
  size_t count = atomic_load_explicit(&caller_count, memory_order_acquire);
  for (size_t i = 0; i < count; i++) {
    if (callers[i].map == caller) {
      return &libraries[callers[i].library];
    }
  }
  return &libraries[find_library(caller)];
}

void* function_of(struct function* function, const struct library* library) {
  _Atomic(void*)* slot = &function->real[library - libraries];
  void* real = atomic_load_explicit(slot, memory_order_acquire);
  if (real != NULL) {
    return real;
  }
  int saved_errno = errno;
  real = library->handle != NULL ? dlsym(library->handle, function->symbol) : NULL;
  if (real == NULL) {
    notice("Cannot go on: this Cyclone DDS has no %s", function->symbol);
    abort();
  }
  atomic_store_explicit(slot, real, memory_order_release);
  errno = saved_errno;
  return real;
}

bool has_function(const struct library* library, const char* symbol) {
  return library->handle != NULL && dlsym(library->handle, symbol) != NULL;
}

bool library_holds(const struct library* library, const void* address) {
  struct link_map* map = object_at(address);
  return map != NULL && map->l_addr == library->base;
}

void guid_of_words(uint8_t guid[16], const void* words) {
  for (size_t i = 0; i < 16; i += 4) {
    uint32_t word;
    memcpy(&word, (const char*)words + i, sizeof(word));
    guid[i] = (uint8_t)(word >> 24);
    guid[i + 1] = (uint8_t)(word >> 16);
    guid[i + 2] = (uint8_t)(word >> 8);
    guid[i + 3] = (uint8_t)word;
  }
}
