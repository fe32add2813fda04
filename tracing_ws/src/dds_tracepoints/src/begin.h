// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// This library is preloaded into every program of a recording, most of which have nothing to do
// with DDS. LTTng-UST, with its threads and descriptors, comes into a process with its first call
// of a DDS library, or the first that such a library makes.
#ifndef DDS_TRACEPOINTS_BEGIN_H
#define DDS_TRACEPOINTS_BEGIN_H

#include <stdatomic.h>
#include <stdbool.h>

extern _Atomic bool begun;

// Loads the probes, once, and with them LTTng-UST, which waits for the session daemon.
void begin_now(void);

static inline bool has_begun(void) {
  return __builtin_expect(atomic_load_explicit(&begun, memory_order_relaxed), 1);
}

static inline void begin(void) {
  if (!has_begun()) {
    begin_now();
  }
}

#endif
