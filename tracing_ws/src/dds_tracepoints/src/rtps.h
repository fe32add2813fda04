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
  uint8_t address[16];     // as RTPS writes it: IPv4 in the last four
  uint8_t address_length;  // 4, 16, or 0: none
  uint32_t port;
  uint32_t count;
};

static inline const uint8_t* address_of(const struct destination* destination) {
  return destination->address + sizeof(destination->address) - destination->address_length;
}

// A message that is read sample by sample. Its parts are iovecs, or any other array of an address
// and a length of 32 bits at an iovec's places.
struct rtps_reader {
  const struct iovec* parts;
  size_t count;
  size_t length;  // bytes of the message
  // Of what follows only rtps.c knows.
  size_t part;
  size_t base;  // offset of parts[part]
  size_t at;    // offset of the next submessage
  struct sample now;
};

// Begins to read; false for what is no RTPS message. An RTCP header of Fast DDS' TCP transport
// before the message is skipped.
bool rtps_open(struct rtps_reader* reader, const struct iovec* parts, size_t count);

// Gives the next sample of the application; false when there is no more. The middleware's own
// (builtin) writers are left out.
bool rtps_next(struct rtps_reader* reader, struct sample* sample);

// True for a writer of discovery and liveliness, whose samples are no application's.
static inline bool rtps_is_builtin(const uint8_t guid[16]) { return (guid[15] & 0xc0) == 0xc0; }

#endif
