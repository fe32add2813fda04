// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The ancillary data of a datagram: what we asked the kernel for is read and taken out, the rest is
// handed on as the kernel would have.
#ifndef DRIVER_TRACEPOINTS_CONTROL_H
#define DRIVER_TRACEPOINTS_CONTROL_H

#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

// Options that are on for us alone: their messages are not for the caller.
#define HIDDEN_STAMPS 1u
#define HIDDEN_DROPS 2u

// Room that our own messages take in a control buffer.
#define CONTROL_OWN (CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(sizeof(uint32_t)))

struct told {
  int64_t stamp_ns;  // CLOCK_REALTIME, when the kernel received the datagram; -1: not told
  uint32_t dropped;  // 0 when not told
};

// Reads `got`, as a call filled it in, and gives `caller` (null: nobody) its control data, the
// length of them and msg_flags.
struct told take_control(const struct msghdr* got, uint32_t hidden, struct msghdr* caller);

#endif
