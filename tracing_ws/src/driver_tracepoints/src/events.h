// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The LTTng-UST provider `driver`. Every event is documented where it is declared: when it fires,
// on which thread, its units.
//
// A *source* is one stream of sensor data in one process: a UDP socket on a port, or an appsink. A
// *frame* is what one message (or the messages of one sweep) is made of: a scan, an image, an IMU
// sample. When the data arrived at this host: an event's time - its queue_ns.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER driver

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "events.h"

#if !defined(DRIVER_TRACEPOINTS_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define DRIVER_TRACEPOINTS_EVENTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

// source_init: a source is there; once for each, before its other events.
//   source: unique in the process, never used again. kind: "udp" or "appsink". name: what the
//   driver calls it ("lidar"); "" of hooks. address: "0.0.0.0:7502", or the appsink's name.
LTTNG_UST_TRACEPOINT_EVENT(
    driver, source_init,
    LTTNG_UST_TP_ARGS(uint64_t, source, const char*, kind, const char*, name, const char*, address),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, source, source)
                            lttng_ust_field_string(kind, kind) lttng_ust_field_string(name, name)
                                lttng_ust_field_string(address, address)))

// packet_received: the system call that read a datagram returned; on the thread that called it.
//   sequence: counted by the reader, from 0; in a forked child on from its parent's. bytes: what
//   the call returned: the length read (with MSG_TRUNC the datagram's own). queue_ns: how long it
//   lay in the socket's queue, CLOCK_REALTIME now - the kernel's SO_TIMESTAMPNS; -1: not known.
//   dropped: datagrams that the socket has dropped since the kernel was asked to count them
//   (SO_RXQ_OVFL); 0 when none is told.
LTTNG_UST_TRACEPOINT_EVENT(
    driver, packet_received,
    LTTNG_UST_TP_ARGS(uint64_t, source, uint64_t, sequence, uint32_t, bytes, int64_t, queue_ns,
                      uint32_t, dropped),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, source, source)
                            lttng_ust_field_integer(uint64_t, sequence, sequence)
                                lttng_ust_field_integer(uint32_t, bytes, bytes)
                                    lttng_ust_field_integer(int64_t, queue_ns, queue_ns)
                                        lttng_ust_field_integer(uint32_t, dropped, dropped)))

// frame_boundary: the frame is complete; on the thread that found it so.
//   frame: counted by the driver, from 0, never used again. packets: how many are in the frame.
//   missing: packets of the frame that never came. first_sequence, last_sequence: `sequence` of
//   its first packet and of the one that closed it, which may belong to the next frame.
LTTNG_UST_TRACEPOINT_EVENT(
    driver, frame_boundary,
    LTTNG_UST_TP_ARGS(uint64_t, source, uint64_t, frame, uint32_t, packets, uint32_t, missing,
                      uint64_t, first_sequence, uint64_t, last_sequence),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(uint64_t, source, source)
            lttng_ust_field_integer(uint64_t, frame, frame)
                lttng_ust_field_integer(uint32_t, packets, packets)
                    lttng_ust_field_integer(uint32_t, missing, missing)
                        lttng_ust_field_integer(uint64_t, first_sequence, first_sequence)
                            lttng_ust_field_integer(uint64_t, last_sequence, last_sequence)))

// buffer_pulled: a buffer was pulled from an appsink; on the thread that pulled it.
//   frame: as in frame_boundary; of hooks the count of pulls. bytes: size of the buffer.
//   pts_ns: its presentation time stamp; -1: none. queue_ns: how long it lay in the appsink; -1:
//   not known. dropped: buffers that the appsink has dropped so far; 0 when it is not told.
LTTNG_UST_TRACEPOINT_EVENT(
    driver, buffer_pulled,
    LTTNG_UST_TP_ARGS(uint64_t, source, uint64_t, frame, uint32_t, bytes, int64_t, pts_ns, int64_t,
                      queue_ns, uint64_t, dropped),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, source, source)
                            lttng_ust_field_integer(uint64_t, frame, frame)
                                lttng_ust_field_integer(uint32_t, bytes, bytes)
                                    lttng_ust_field_integer(int64_t, pts_ns, pts_ns)
                                        lttng_ust_field_integer(int64_t, queue_ns, queue_ns)
                                            lttng_ust_field_integer(uint64_t, dropped, dropped)))

// cloud_ready: the points are in the message; on the publishing thread, just before the first
// message made from the frame is published.
// copy_done: the same of an image: its pixels are in the message.
//   bytes: size of the message's data.
LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    driver, frame_ready, LTTNG_UST_TP_ARGS(uint64_t, source, uint64_t, frame, uint64_t, bytes),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, source, source)
                            lttng_ust_field_integer(uint64_t, frame, frame)
                                lttng_ust_field_integer(uint64_t, bytes, bytes)))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(driver, frame_ready, driver, cloud_ready,
                                    LTTNG_UST_TP_ARGS(uint64_t, source, uint64_t, frame, uint64_t,
                                                      bytes))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(driver, frame_ready, driver, copy_done,
                                    LTTNG_UST_TP_ARGS(uint64_t, source, uint64_t, frame, uint64_t,
                                                      bytes))

#endif

#include <lttng/tracepoint-event.h>
