// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// dlsym(RTLD_NEXT) finds nothing in a Python process: its extensions, and with them ROS 2 and DDS,
// are opened with RTLD_LOCAL. So the loaded objects are asked one by one, by their handles.
#define _GNU_SOURCE
#include "real.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "notice.h"

// Offsets as the headers of these releases give them (test/test_layouts.py).
static const struct layout layouts[] = {
    {.soname = "libfastrtps.so.2.14",
     .change_guid = 12,
     .change_sequence = 48,
     .change_size = 60,
     .change_stamp = 108,
     .info_stamp = 28,
     .info_identity = 88,
     .info_valid = 86,
     .topic_description = 72,
     .topic_name = 8,
     .topic_type = 40},
    {.soname = "libfastdds.so.3.2",
     .change_guid = 12,
     .change_sequence = 48,
     .change_size = 60,
     .change_stamp = 124,
     .info_stamp = 28,
     .info_identity = 88,
     .info_valid = 86,
     .topic_description = 72,
     .topic_name = 8,
     .topic_type = 40},
};

static bool begins_with(const char* text, const char* beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

static const char* file_of(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

// DT_SONAME of a loaded object, else its file's name.
static const char* soname_of(void* handle) {
  struct link_map* map = NULL;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == NULL) {
    return "";
  }
  const char* strings = NULL;
  size_t at = 0;
  for (const ElfW(Dyn)* entry = map->l_ld; entry != NULL && entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_STRTAB) {
      strings = (const char*)entry->d_un.d_ptr;
    } else if (entry->d_tag == DT_SONAME) {
      at = entry->d_un.d_val;
    }
  }
  return strings != NULL && at != 0 ? strings + at : file_of(map->l_name);
}

static const struct layout* layout_of(void* handle) {
  const char* soname = soname_of(handle);
  bool fast = begins_with(soname, "libfastrtps.so") || begins_with(soname, "libfastdds.so");
  const char* asked = getenv("DDS_TRACEPOINTS_LAYOUTS");
  if (asked == NULL || strcmp(asked, "none") != 0) {
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
      // 2.14 is not 2.140: a dot or the end must follow.
      size_t length = strlen(layouts[i].soname);
      if (begins_with(soname, layouts[i].soname) &&
          (soname[length] == '\0' || soname[length] == '.')) {
        return &layouts[i];
      }
    }
  }
  if (fast) {
    notice(
        "%s is no release whose objects are known: samples in histories and takes stay "
        "unnamed; those that are sent and received are named as always",
        soname);
  }
  return NULL;
}

// Paths of the loaded objects, the wanted library's first. Collected before anything is opened:
// dl_iterate_phdr holds a lock of the loader.
#define MOST_OBJECTS 1024
struct objects {
  const char* wanted;
  const char* first[8];
  size_t firsts;
  const char* rest[MOST_OBJECTS];
  size_t rests;
};

static int collect(struct dl_phdr_info* info, size_t size, void* to) {
  (void)size;
  struct objects* objects = to;
  if (info->dlpi_name == NULL || info->dlpi_name[0] == '\0') {
    return 0;
  }
  if (begins_with(file_of(info->dlpi_name), objects->wanted)) {
    if (objects->firsts < sizeof(objects->first) / sizeof(objects->first[0])) {
      objects->first[objects->firsts++] = info->dlpi_name;
    }
  } else if (objects->rests < MOST_OBJECTS) {
    objects->rest[objects->rests++] = info->dlpi_name;
  }
  return 0;
}

// True when the object holds the function itself, not by way of what it depends on.
static bool holds(void* handle, void* function) {
  struct link_map* map = NULL;
  Dl_info info;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && dladdr(function, &info) != 0 &&
         (uintptr_t)info.dli_fbase == map->l_addr;
}

static void* look_into(struct real* real, const char* path) {
  // Never closed: the library stays for as long as hooks may call it.
  void* handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == NULL) {
    return NULL;
  }
  void* function = dlsym(handle, real->symbol);
  Dl_info own, found;
  if (function == NULL || !holds(handle, function) || dladdr((void*)&find_real, &own) == 0 ||
      dladdr(function, &found) == 0 || own.dli_fbase == found.dli_fbase) {
    dlclose(handle);
    return NULL;
  }
  real->handle = handle;
  real->layout = layout_of(handle);
  return function;
}

void* find_real(struct real* real) {
  int saved = errno;
  struct objects* objects = calloc(1, sizeof(*objects));
  void* function = NULL;
  if (objects != NULL) {
    objects->wanted = real->library;
    dl_iterate_phdr(collect, objects);
    for (size_t i = 0; i < objects->firsts && function == NULL; i++) {
      function = look_into(real, objects->first[i]);
    }
    for (size_t i = 0; i < objects->rests && function == NULL; i++) {
      function = look_into(real, objects->rest[i]);
    }
    free(objects);
  }
  if (function == NULL) {
    function = dlsym(RTLD_NEXT, real->symbol);
  }
  if (function == NULL) {
    notice("Cannot go on: no loaded library defines %s", real->symbol);
    abort();
  }
  atomic_store_explicit(&real->function, function, memory_order_release);
  errno = saved;
  return function;
}

void* sibling(const struct real* real, const char* symbol) {
  return real->handle != NULL ? dlsym(real->handle, symbol) : NULL;
}
