// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Finds the samples in an RTPS message (OMG DDSI-RTPS 2.5, chapter 9), wherever its bytes lie.
// Nothing here depends on a DDS implementation.
#ifndef DDS_TRACEPOINTS_RTPS_H
#define DDS_TRACEPOINTS_RTPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum transport {
  TRANSPORT_UNKNOWN = 0,
  TRANSPORT_UDPV4 = 1,
  TRANSPORT_UDPV6 = 2,
  TRANSPORT_TCPV4 = 4,
  TRANSPORT_TCPV6 = 8,
  TRANSPORT_SHM = 16,
  TRANSPORT_DATA_SHARING = 0x10000,
};

// One sample, or some of its fragments, as a DATA or DATA_FRAG submessage tells it.
struct sample {
  uint8_t guid[16];
  int64_t sequence;
  int64_t stamp;  // source timestamp, ns since the epoch; 0: none
  uint32_t size;  // bytes of the whole payload
  uint32_t fragment;
  uint16_t fragment_count;
  uint16_t fragment_size;
};

struct destination {
  uint8_t address[16];
  uint32_t port;
  uint32_t count;
};

// At most this many samples of one message are told.
#define RTPS_SAMPLES 64

// Fills `samples` with the application's samples of the message, in order, and returns how many;
// 0 for what is no RTPS message. The middleware's own (builtin) writers are left out.
// An RTCP header of Fast DDS' TCP transport before the message is skipped.
size_t rtps_samples(const struct iovec* parts, size_t count, struct sample* samples, size_t room);

// True for a writer of discovery and liveliness, whose samples are no application's.
static inline bool rtps_is_builtin(const uint8_t guid[16]) { return (guid[15] & 0xc0) == 0xc0; }

#endif
