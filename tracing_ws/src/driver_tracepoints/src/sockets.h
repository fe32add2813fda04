// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What is known of the UDP sockets of this process that deliver sensor data. A socket is known by
// the kernel's cookie for it, which is never used again: descriptors may be duplicated, closed,
// used again and inherited. No function allocates or waits, and errno stays the caller's.
#ifndef DRIVER_TRACEPOINTS_SOCKETS_H
#define DRIVER_TRACEPOINTS_SOCKETS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "control.h"
#include "driver_tracepoints/driver.h"

struct traced {
  _Atomic uint64_t cookie;    // 0: free
  _Atomic bool prepared;      // the kernel stamps and counts
  _Atomic uint32_t hidden;    // HIDDEN_*: which of it the program did not ask for
  _Atomic uint32_t before;    // datagrams that it had dropped when it was prepared
  _Atomic int64_t since_ns;   // CLOCK_MONOTONIC, when it was prepared; 0: not yet
  _Atomic bool settled;       // every stamp is the time of arrival from here on
  _Atomic uint64_t sequence;  // of the next datagram
  _Atomic uint16_t port;      // of the hooks: the one that it is bound to; 0: none of ours
  _Atomic uint64_t source;    // of the hooks; 0: none yet
};

// Finds what is known of a descriptor's socket; null when nothing is.
struct traced* strata_driver_hook_find(int fd);

// The same, and begins to know it; null when it is no socket, or no room is left.
struct traced* strata_driver_hook_know(int fd);

// Turns the kernel's stamps and counts on, once. `hide`: for us alone; what the program has turned
// on itself is left as it is, and is its own.
void strata_driver_hook_prepare(struct traced* socket, int fd, bool hide);

// Before a datagram is read: returns the time, CLOCK_REALTIME.
int64_t strata_driver_hook_before(struct traced* socket, int fd);

// After it was read: counts it, and emits it for a source (0: not).
void strata_driver_hook_after(struct traced* socket, uint64_t source, size_t bytes,
                              struct told told, int64_t before_ns,
                              struct strata_driver_packet* packet);

#endif
