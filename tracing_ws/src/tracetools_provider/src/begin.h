// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// This library is preloaded into every program of a recording, most of which have nothing to do
// with ROS 2. LTTng-UST, with its threads and descriptors, comes into a process at its first event.
#ifndef TRACETOOLS_PROVIDER_BEGIN_H
#define TRACETOOLS_PROVIDER_BEGIN_H

#include <stdatomic.h>
#include <stdbool.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN extern _Atomic bool begun;

// Loads the probes, and with them LTTng-UST, which waits for the session daemon.
HIDDEN void begin_now(void);

static inline void begin(void) {
  if (__builtin_expect(!atomic_load_explicit(&begun, memory_order_relaxed), 0)) {
    begin_now();
  }
}

#endif
