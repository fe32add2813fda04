// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The tracepoints of a sensor driver, from its first datagram to the message. Link to
// libdriver_tracepoints. Every function may be called from any thread; without a recording session
// one that only emits costs two loads and branches. src/events.h says what the events mean.
//
// A driver that announces a UDP port (or an appsink) by strata_driver_source_init is not traced a
// second time by the hooks.
#ifndef DRIVER_TRACEPOINTS_DRIVER_H
#define DRIVER_TRACEPOINTS_DRIVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// Makes a source known and returns its id, from 1, which the process never uses again.
//   kind: "udp" or "appsink". name: the driver's own ("lidar"). address: "0.0.0.0:7502", or the
//   appsink's element name. Strings are copied; longer ones than 15, 63 and 127 bytes are cut.
uint64_t strata_driver_source_init(const char* kind, const char* name, const char* address);

// A datagram was read. For drivers that read by themselves; strata_driver_receive emits it.
//   sequence: counted by the caller, from 0. queue_ns: -1: not known.
void strata_driver_packet_received(uint64_t source, uint64_t sequence, uint32_t bytes,
                                   int64_t queue_ns, uint32_t dropped);

// A frame is complete.
void strata_driver_frame_boundary(uint64_t source, uint64_t frame, uint32_t packets,
                                  uint32_t missing, uint64_t first_sequence,
                                  uint64_t last_sequence);

// A buffer was pulled from an appsink. pts_ns: -1: none. queue_ns: -1: not known.
void strata_driver_buffer_pulled(uint64_t source, uint64_t frame, uint32_t bytes, int64_t pts_ns,
                                 int64_t queue_ns, uint64_t dropped);

// The frame is in the message; to be called by the publishing thread, just before it publishes.
void strata_driver_cloud_ready(uint64_t source, uint64_t frame, uint64_t bytes);
void strata_driver_copy_done(uint64_t source, uint64_t frame, uint64_t bytes);

// What is known of a datagram that strata_driver_receive read.
struct strata_driver_packet {
  uint64_t sequence;  // counted from 0 for each socket
  int64_t queue_ns;   // how long it lay in the socket's queue; -1: not known
  uint32_t dropped;   // datagrams that the socket has dropped since it was prepared
};

// Has the kernel stamp what a UDP socket receives, and count what it drops. Best called before
// bind: datagrams that came earlier, or until 0.1 s later without waiting in the queue, have no
// queue_ns. Returns 0, or -1 with errno.
int strata_driver_prepare(int socket);

// Reads a datagram as recv(socket, buffer, size, flags) does, whether anything is recorded or not,
// and emits packet_received. Prepares the socket when that was not done. Nothing is emitted for
// MSG_PEEK. Returns what recv returns; `packet` is filled in when that is not negative.
ssize_t strata_driver_receive(uint64_t source, int socket, void* buffer, size_t size, int flags,
                              struct strata_driver_packet* packet);

#ifdef __cplusplus
}
#endif

#endif
