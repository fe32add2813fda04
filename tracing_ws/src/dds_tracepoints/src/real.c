// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// dlsym(RTLD_NEXT) finds nothing in a Python process: its extensions, and with them ROS 2 and DDS,
// are opened with RTLD_LOCAL. So the loaded objects are asked one by one, by their handles.
#define _GNU_SOURCE
#include "real.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "begin.h"
#include "notice.h"

// Offsets as the headers of these releases give them (test/test_dds_layouts.py).
static const struct layout layouts[] = {
    {.soname = "libfastrtps.so.2.14",
     .change_guid = 12,
     .change_sequence = 48,
     .change_size = 60,
     .change_stamp = 108,
     .info_stamp = 28,
     .info_identity = 88,
     .info_related = 112,
     .params_related = 24,
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
     .info_related = 112,
     .params_related = 24,
     .topic_description = 72,
     .topic_name = 8,
     .topic_type = 40},
};

static bool layouts_unwanted;

// Not at the first call: a program may be changing its environment then.
__attribute__((constructor)) static void read_environment(void) {
  const char* asked = getenv("DDS_TRACEPOINTS_LAYOUTS");
  layouts_unwanted = asked != NULL && strcmp(asked, "none") == 0;
}

static bool begins_with(const char* text, const char* beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool is_fastdds(const char* soname) {
  return begins_with(soname, "libfastrtps.so") || begins_with(soname, "libfastdds.so");
}

static const char* file_of(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

// --- the loaded objects --------------------------------------------------------------------------

// Copies of the paths of all loaded objects, each ended by a zero; the loader may free its own.
struct paths {
  size_t used;
  size_t room;
  char* text;  // null: only count
};

static int collect(struct dl_phdr_info* info, size_t size, void* to) {
  (void)size;
  struct paths* paths = to;
  size_t length = info->dlpi_name != NULL ? strlen(info->dlpi_name) : 0;
  if (length == 0) {
    return 0;
  }
  if (paths->text != NULL && length + 1 <= paths->room - paths->used) {
    memcpy(paths->text + paths->used, info->dlpi_name, length + 1);
    paths->used += length + 1;
  } else if (paths->text == NULL) {
    paths->room += length + 1;
  }
  return 0;
}

// Nothing is opened while they are collected: the loader holds a lock.
static struct paths loaded_objects(void) {
  struct paths paths = {0};
  dl_iterate_phdr(collect, &paths);
  paths.text = malloc(paths.room + 1);
  if (paths.text != NULL) {
    dl_iterate_phdr(collect, &paths);
  }
  return paths;
}

static const char* next_path(const struct paths* paths, const char* path) {
  if (paths->text == NULL) {
    return NULL;
  }
  const char* next = path == NULL ? paths->text : path + strlen(path) + 1;
  return next < paths->text + paths->used ? next : NULL;
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

// --- layouts -------------------------------------------------------------------------------------

static const struct layout* known_layout(const char* soname) {
  for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]) && !layouts_unwanted; i++) {
    // 2.14 is not 2.140: a dot or the end must follow.
    size_t length = strlen(layouts[i].soname);
    if (begins_with(soname, layouts[i].soname) &&
        (soname[length] == '\0' || soname[length] == '.')) {
      return &layouts[i];
    }
  }
  static atomic_flag told = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&told)) {
    notice(
        "The layout of objects of %s is not known. Samples in histories and takes stay unnamed; "
        "what is sent and received is named as always",
        soname);
  }
  return NULL;
}

// The middleware of ROS hands out objects of the Fast DDS that it is linked to.
static const struct layout* layout_beside(const struct paths* paths) {
  const struct layout* layout = NULL;
  for (const char* path = next_path(paths, NULL); path != NULL && layout == NULL;
       path = next_path(paths, path)) {
    void* handle = is_fastdds(file_of(path)) ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (handle != NULL) {
      layout = known_layout(soname_of(handle));
      dlclose(handle);
    }
  }
  return layout;
}

// --- functions -----------------------------------------------------------------------------------

static bool is_own(const void* function) {
  Dl_info own, found;
  return dladdr((void*)&find_real, &own) != 0 && dladdr(function, &found) != 0 &&
         own.dli_fbase == found.dli_fbase;
}

// Returns the function if the object holds it itself, not by way of what it depends on.
static void* look_into(const char* path, const char* symbol, void** kept) {
  void* handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == NULL) {
    return NULL;
  }
  struct link_map* map = NULL;
  Dl_info found;
  void* function = dlsym(handle, symbol);
  if (function != NULL && !is_own(function) && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 &&
      dladdr(function, &found) != 0 && (uintptr_t)found.dli_fbase == map->l_addr) {
    // Never closed: the library stays for as long as hooks may call it.
    *kept = handle;
    return function;
  }
  dlclose(handle);
  return NULL;
}

// Asks the objects whose files have the wanted name, or all others.
static void* look_through(const struct paths* paths, const struct real* real, bool wanted,
                          void** handle) {
  void* function = NULL;
  for (const char* path = next_path(paths, NULL); path != NULL && function == NULL;
       path = next_path(paths, path)) {
    if (begins_with(file_of(path), real->library) == wanted) {
      function = look_into(path, real->symbol, handle);
    }
  }
  return function;
}

_Atomic bool several_fastdds;

// The first Fast DDS library is remembered; another one is noticed by its own functions, which are
// called before those that both have: a reader is made before it is read.
static void note_fastdds(void* handle) {
  static _Atomic(void*) first;
  void* expected = NULL;
  if (!atomic_compare_exchange_strong(&first, &expected, handle) && expected != handle &&
      !atomic_exchange(&several_fastdds, true)) {
    notice("Two Fast DDS libraries are in this process. What is taken stays unnamed");
  }
}

void* find_real(struct real* real) {
  int saved_errno = errno;
  begin();
  void* handle = NULL;
  struct paths paths = loaded_objects();
  void* function = look_through(&paths, real, true, &handle);
  if (function == NULL) {
    function = look_through(&paths, real, false, &handle);
  }
  if (function == NULL) {
    function = dlsym(RTLD_NEXT, real->symbol);
  }
  if (function == NULL) {
    notice("Cannot go on: no loaded library defines %s", real->symbol);
    abort();
  }
  const struct layout* layout = NULL;
  if (handle != NULL && is_fastdds(soname_of(handle))) {
    note_fastdds(handle);
    layout = known_layout(soname_of(handle));
  } else if (begins_with(real->library, "librmw_fastrtps")) {
    layout = layout_beside(&paths);
  }
  free(paths.text);
  atomic_store_explicit(&real->handle, handle, memory_order_relaxed);
  atomic_store_explicit(&real->layout, layout, memory_order_relaxed);
  atomic_store_explicit(&real->function, function, memory_order_release);
  errno = saved_errno;
  return function;
}

void* find_real_of_caller(struct real* real, const void* return_address) {
  int saved_errno = errno;
  void* function = NULL;
  struct dl_find_object object;
  if (_dl_find_object((void*)return_address, &object) == 0 && object.dlfo_link_map != NULL) {
    void* handle = dlopen(object.dlfo_link_map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != NULL) {
      function = dlsym(handle, real->symbol);
      dlclose(handle);
    }
  }
  // Whose objects the function is given is not known.
  atomic_store_explicit(&real->layout, NULL, memory_order_relaxed);
  errno = saved_errno;
  return function != NULL && !is_own(function) ? function : real_function(real);
}

void* sibling_function(struct sibling* sibling, const struct real* real) {
  void* function = atomic_load_explicit(&sibling->function, memory_order_acquire);
  void* handle = atomic_load_explicit(&real->handle, memory_order_relaxed);
  if (function == NULL && handle != NULL) {
    int saved_errno = errno;
    function = dlsym(handle, sibling->symbol);
    atomic_store_explicit(&sibling->function, function, memory_order_release);
    errno = saved_errno;
  }
  return function;
}
