// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "begin.h"
#include "events.h"

_Atomic bool begun;

// They lie beside this library. Not by DT_RUNPATH: a sanitizer's dlopen has the sanitizer's.
// Nothing is recorded without them.
static void load_probes(void) {
  char path[PATH_MAX];
  Dl_info own;
  if (dladdr((void*)&begun, &own) == 0 || own.dli_fname == NULL) {
    return;
  }
  const char* slash = strrchr(own.dli_fname, '/');
  int length = slash != NULL ? (int)(slash - own.dli_fname) + 1 : 0;
  int written =
      snprintf(path, sizeof(path), "%.*slibdds_tracepoints_probes.so", length, own.dli_fname);
  if (written > 0 && (size_t)written < sizeof(path)) {
    dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  }
}

static void in_child(void) { atomic_store(&begun, false); }

void begin_now(void) {
  static atomic_flag heeded = ATOMIC_FLAG_INIT;
  int saved_errno = errno;
  // Threads that come at once all load them: the loader has them wait until it is done.
  load_probes();
  // In a forked child they are loaded, but LTTng-UST has not begun.
  void (*guard)(void) = NULL;
  *(void**)&guard = dlsym(RTLD_DEFAULT, "strata_ust_guard_begin");
  if (guard != NULL) {
    guard();
  }
  // Behind LTTng-UST's own handlers.
  if (!atomic_flag_test_and_set(&heeded)) {
    pthread_atfork(NULL, NULL, in_child);
  }
  atomic_store(&begun, true);
  errno = saved_errno;
}
