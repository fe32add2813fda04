// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "events.h"
#include "export.h"
#include "sources.h"

// They lie beside this library. Not by DT_RUNPATH: a sanitizer's dlopen has the sanitizer's.
// Nothing is recorded without them.
static void load_probes(void) {
  char path[PATH_MAX];
  Dl_info own;
  if (dladdr((void*)&strata_driver_hook_begin, &own) == 0 || own.dli_fname == NULL) {
    return;
  }
  const char* slash = strrchr(own.dli_fname, '/');
  int length = slash != NULL ? (int)(slash - own.dli_fname) + 1 : 0;
  int written =
      snprintf(path, sizeof(path), "%.*slibdriver_tracepoints_probes.so", length, own.dli_fname);
  if (written > 0 && (size_t)written < sizeof(path)) {
    dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  }
}

EXPORT void strata_driver_hook_begin(void) {
  static _Atomic bool begun;
  if (!atomic_load(&begun)) {
    int saved_errno = errno;
    // Threads that come at once all load them: the loader has them wait until it is done.
    load_probes();
    atomic_store(&begun, true);
    errno = saved_errno;
  }
}
