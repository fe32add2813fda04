// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The LTTng-UST provider `dds`. Every event is documented where it is declared: when it fires, on
// which thread, its units, and which event it pairs with. Fields that are not known are 0.
//
// A *sample* is one written value; (writer_guid, sequence_number) names it in every process. A
// large one travels in numbered fragments, from 1; fragment 0 means that it is whole.
// GUIDs are the 16 bytes of the wire, prefix and entity id.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER dds

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "events.h"

#if !defined(DDS_TRACEPOINTS_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define DDS_TRACEPOINTS_EVENTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

#include "rtps.h"

// What carries a message. Values below 0x10000 are the locator kinds of RTPS.
LTTNG_UST_TRACEPOINT_ENUM(
    dds, transport,
    LTTNG_UST_TP_ENUM_VALUES(
        lttng_ust_field_enum_value("unknown", TRANSPORT_UNKNOWN)
            lttng_ust_field_enum_value("UDPv4", TRANSPORT_UDPV4)
                lttng_ust_field_enum_value("UDPv6", TRANSPORT_UDPV6)
                    lttng_ust_field_enum_value("TCPv4", TRANSPORT_TCPV4)
                        lttng_ust_field_enum_value("TCPv6", TRANSPORT_TCPV6)
                            lttng_ust_field_enum_value("SHM", TRANSPORT_SHM)
                                lttng_ust_field_enum_value("data_sharing", TRANSPORT_DATA_SHARING)))

// create_writer, create_reader: a DataWriter or DataReader was made; on the thread that made it.
//   writer, reader: the handle that the other events name; an address (Fast DDS) or an entity
//   (Cyclone DDS), used again after its death. gid_prefix + gid_entity: its GUID.
// Cyclone DDS: an entity whose making was not seen is told when it is first used.
// Names and first four fields are those that Trace Compass knows.
LTTNG_UST_TRACEPOINT_EVENT(
    dds, create_writer,
    LTTNG_UST_TP_ARGS(const void*, writer, const char*, topic_name, const uint8_t*, guid,
                      const char*, type_name),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, writer, (uintptr_t)writer)
                            lttng_ust_field_string(topic_name, topic_name)
                                lttng_ust_field_array(uint8_t, gid_prefix, guid, 12)
                                    lttng_ust_field_array(uint8_t, gid_entity, guid + 12, 4)
                                        lttng_ust_field_string(type_name, type_name)))

LTTNG_UST_TRACEPOINT_EVENT(
    dds, create_reader,
    LTTNG_UST_TP_ARGS(const void*, reader, const char*, topic_name, const uint8_t*, guid,
                      const char*, type_name),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, reader, (uintptr_t)reader)
                            lttng_ust_field_string(topic_name, topic_name)
                                lttng_ust_field_array(uint8_t, gid_prefix, guid, 12)
                                    lttng_ust_field_array(uint8_t, gid_entity, guid + 12, 4)
                                        lttng_ust_field_string(type_name, type_name)))

// write_begin: a write was entered, on the caller's thread; pairs with write_end there.
//   data: address of the value; of the ROS message where the ROS middleware writes, so that it is
//   the `message` of ros2:rmw_publish.
LTTNG_UST_TRACEPOINT_EVENT(
    dds, write_begin, LTTNG_UST_TP_ARGS(const void*, writer, const void*, data),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, writer, (uintptr_t)writer)
                            lttng_ust_field_integer_hex(uintptr_t, data, (uintptr_t)data)))

// write_related: of a request or response of a service, just before its write_begin on that thread.
// take_related: the same of what was taken, just after its take_end, when something was taken.
//   related_guid: identity of the client that asked: GUID of its reader of responses (Fast DDS), or
//   the 8 bytes by which rmw_cyclonedds names it, and zeros. related_sequence: number of the
//   request, counted by its client; 0: that of the sample itself (requests of Fast DDS).
LTTNG_UST_TRACEPOINT_EVENT(
    dds, write_related,
    LTTNG_UST_TP_ARGS(const void*, writer, const uint8_t*, guid, int64_t, sequence),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, writer, (uintptr_t)writer)
                            lttng_ust_field_array(uint8_t, related_guid, guid, 16)
                                lttng_ust_field_integer(int64_t, related_sequence, sequence)))

LTTNG_UST_TRACEPOINT_EVENT(
    dds, take_related,
    LTTNG_UST_TP_ARGS(const void*, reader, const uint8_t*, guid, int64_t, sequence),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, reader, (uintptr_t)reader)
                            lttng_ust_field_array(uint8_t, related_guid, guid, 16)
                                lttng_ust_field_integer(int64_t, related_sequence, sequence)))

// write_end: the write returned; none when it threw.
//   result: what it returned: a DDS return code, or for a write that returns bool, 0 for true.
LTTNG_UST_TRACEPOINT_EVENT(
    dds, write_end, LTTNG_UST_TP_ARGS(const void*, writer, int32_t, result),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, writer, (uintptr_t)writer)
                            lttng_ust_field_integer(int32_t, result, result)))

// serialize_begin, serialize_end: the value is turned into bytes, on the writing thread.
//   data: as in write_begin. size: bytes made, CDR header included; 0 when it failed.
LTTNG_UST_TRACEPOINT_EVENT(dds, serialize_begin, LTTNG_UST_TP_ARGS(const void*, data),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, data,
                                                                           (uintptr_t)data)))

LTTNG_UST_TRACEPOINT_EVENT(dds, serialize_end, LTTNG_UST_TP_ARGS(const void*, data, uint32_t, size),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, data,
                                                                           (uintptr_t)data)
                                                   lttng_ust_field_integer(uint32_t, size, size)))

// writer_history_add: the sample got its sequence number and is in the writer's history; on the
// writing thread, between serialize_end and the first send.
//   source_timestamp: ns, CLOCK_REALTIME; that of ros2:rmw_publish. size: bytes of the payload.
LTTNG_UST_TRACEPOINT_EVENT(
    dds, writer_history_add, LTTNG_UST_TP_ARGS(const struct sample*, sample),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_array(uint8_t, writer_guid, sample->guid, 16)
                            lttng_ust_field_integer(int64_t, sequence_number, sample->sequence)
                                lttng_ust_field_integer(int64_t, source_timestamp, sample->stamp)
                                    lttng_ust_field_integer(uint32_t, size, sample->size)))

// send_begin: a buffer that holds samples of the application is handed to a transport, on the
// writing thread or on one of the middleware's; pairs with send_end there. Sockets: around the
// system call. SHM: around the copy into the segment and the push to every port. Data sharing:
// around the notification of a reader. Buffers with nothing but control traffic or discovery have
// no event. The sample is the first in the buffer; send_sample tells further ones.
//   bytes: length of the buffer. size: bytes of the sample's payload, all fragments together.
//   fragment, fragment_count: which are in the buffer. fragment_size: bytes of a full one.
LTTNG_UST_TRACEPOINT_EVENT(
    dds, send_begin,
    LTTNG_UST_TP_ARGS(int32_t, transport, uint64_t, bytes, const struct sample*, s),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_enum(dds, transport, int32_t, transport,
                             transport) lttng_ust_field_integer(uint64_t, bytes, bytes)
            lttng_ust_field_array(uint8_t, writer_guid, s->guid,
                                  16) lttng_ust_field_integer(int64_t, sequence_number, s->sequence)
                lttng_ust_field_integer(int64_t, source_timestamp, s->stamp)
                    lttng_ust_field_integer(uint32_t, size, s->size)
                        lttng_ust_field_integer(uint32_t, fragment, s->fragment)
                            lttng_ust_field_integer(uint16_t, fragment_count, s->fragment_count)
                                lttng_ust_field_integer(uint16_t, fragment_size, s->fragment_size)))

// send_sample: a further sample in the buffer of the send_begin before it on this thread.
// receive_sample: the same of the receive before it.
LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    dds, further_sample, LTTNG_UST_TP_ARGS(const struct sample*, s),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_array(uint8_t, writer_guid, s->guid, 16)
            lttng_ust_field_integer(int64_t, sequence_number, s->sequence)
                lttng_ust_field_integer(int64_t, source_timestamp, s->stamp)
                    lttng_ust_field_integer(uint32_t, size, s->size)
                        lttng_ust_field_integer(uint32_t, fragment, s->fragment)
                            lttng_ust_field_integer(uint16_t, fragment_count, s->fragment_count)
                                lttng_ust_field_integer(uint16_t, fragment_size, s->fragment_size)))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(dds, further_sample, dds, send_sample,
                                    LTTNG_UST_TP_ARGS(const struct sample*, s))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(dds, further_sample, dds, receive_sample,
                                    LTTNG_UST_TP_ARGS(const struct sample*, s))

// send_end: the transport returned.
//   address, port: where to; IPv4 in the last 4 bytes; of SHM the port only, that of the last
//   reader. destinations: readers' ports served, 1 for a socket. result: bytes sent, or -errno; of
//   SHM 1 or 0.
LTTNG_UST_TRACEPOINT_EVENT(
    dds, send_end,
    LTTNG_UST_TP_ARGS(int32_t, transport, const struct destination*, to, int64_t, result),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_enum(dds, transport, int32_t, transport, transport)
                            lttng_ust_field_array(uint8_t, address, to->address, 16)
                                lttng_ust_field_integer(uint32_t, port, to->port)
                                    lttng_ust_field_integer(uint32_t, destinations, to->count)
                                        lttng_ust_field_integer(int64_t, result, result)))

// receive: a buffer that holds samples of the application arrived, on a thread of the middleware,
// before anything is done with it. Fields as in send_begin. Samples of writers that no local reader
// wants are there too (multicast). None for data sharing and for readers of the writer's process.
// Fast DDS adds 60 bytes of statistics to what it sends and takes them off before this event.
//   port: where it was received, as in send_end; 0 where that is not known (Cyclone DDS).
LTTNG_UST_TRACEPOINT_EVENT(
    dds, receive,
    LTTNG_UST_TP_ARGS(int32_t, transport, uint32_t, port, uint64_t, bytes, const struct sample*, s),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_enum(dds, transport, int32_t, transport, transport) lttng_ust_field_integer(
            uint32_t, port, port) lttng_ust_field_integer(uint64_t, bytes, bytes)
            lttng_ust_field_array(uint8_t, writer_guid, s->guid,
                                  16) lttng_ust_field_integer(int64_t, sequence_number, s->sequence)
                lttng_ust_field_integer(int64_t, source_timestamp, s->stamp)
                    lttng_ust_field_integer(uint32_t, size, s->size)
                        lttng_ust_field_integer(uint32_t, fragment, s->fragment)
                            lttng_ust_field_integer(uint16_t, fragment_count, s->fragment_count)
                                lttng_ust_field_integer(uint16_t, fragment_size, s->fragment_size)))

// reader_history_add: a reader takes the sample into its history, on the receiving thread (or the
// writing one, in the writer's own process). Fast DDS adds a fragmented sample with its first
// fragment, Cyclone DDS with the last. Cyclone DDS 11 has no such event.
LTTNG_UST_TRACEPOINT_EVENT(
    dds, reader_history_add, LTTNG_UST_TP_ARGS(const struct sample*, sample),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_array(uint8_t, writer_guid, sample->guid, 16)
                            lttng_ust_field_integer(int64_t, sequence_number, sample->sequence)
                                lttng_ust_field_integer(int64_t, source_timestamp, sample->stamp)
                                    lttng_ust_field_integer(uint32_t, size, sample->size)))

// reader_notify: the sample is complete; the reader is about to be told. Same thread.
//   reader_guid: GUID of the reader.
LTTNG_UST_TRACEPOINT_EVENT(
    dds, reader_notify, LTTNG_UST_TP_ARGS(const uint8_t*, reader, const struct sample*, sample),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_array(uint8_t, reader_guid, reader, 16)
                            lttng_ust_field_array(uint8_t, writer_guid, sample->guid, 16)
                                lttng_ust_field_integer(int64_t, sequence_number,
                                                        sample->sequence)))

// wait_begin, wait_end: a thread waits on a wait set until something is there or time is up; on
// that thread. result: the DDS return code; of Cyclone DDS the number of triggered conditions.
// wake_up: a wait set is signalled, on the thread that does it.
//   waitset: its handle; of wake_up that of its implementation, which is another.
LTTNG_UST_TRACEPOINT_EVENT(dds, wait_begin, LTTNG_UST_TP_ARGS(const void*, waitset),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, waitset,
                                                                           (uintptr_t)waitset)))

LTTNG_UST_TRACEPOINT_EVENT(
    dds, wait_end, LTTNG_UST_TP_ARGS(const void*, waitset, int32_t, result),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, waitset, (uintptr_t)waitset)
                            lttng_ust_field_integer(int32_t, result, result)))

LTTNG_UST_TRACEPOINT_EVENT(dds, wake_up, LTTNG_UST_TP_ARGS(const void*, waitset),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, waitset,
                                                                           (uintptr_t)waitset)))

// take_begin: a take (or read) was entered, on the caller's thread; pairs with take_end there.
LTTNG_UST_TRACEPOINT_EVENT(dds, take_begin, LTTNG_UST_TP_ARGS(const void*, reader),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, reader,
                                                                           (uintptr_t)reader)))

// take_end: the take returned; none when it threw.
//   buffer: where the value was put; that of ros2:rmw_take's `message` where the ROS middleware
//   takes. taken: how many samples; the others fields are the first one's. result: the DDS return
//   code (of Cyclone DDS the count, or a negative code).
LTTNG_UST_TRACEPOINT_EVENT(
    dds, take_end,
    LTTNG_UST_TP_ARGS(const void*, reader, const void*, buffer, const struct sample*, sample,
                      int32_t, taken, int32_t, result),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer_hex(uintptr_t, reader, (uintptr_t)reader)
            lttng_ust_field_integer_hex(uintptr_t, buffer, (uintptr_t)buffer)
                lttng_ust_field_array(uint8_t, writer_guid, sample->guid, 16)
                    lttng_ust_field_integer(int64_t, sequence_number, sample->sequence)
                        lttng_ust_field_integer(int64_t, source_timestamp, sample->stamp)
                            lttng_ust_field_integer(int32_t, taken, taken)
                                lttng_ust_field_integer(int32_t, result, result)))

// deserialize_begin, deserialize_end: bytes are turned into a value, on the taking thread.
//   data: where the value is put. size: bytes read.
LTTNG_UST_TRACEPOINT_EVENT(dds, deserialize_begin, LTTNG_UST_TP_ARGS(const void*, data),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, data,
                                                                           (uintptr_t)data)))

LTTNG_UST_TRACEPOINT_EVENT(dds, deserialize_end,
                           LTTNG_UST_TP_ARGS(const void*, data, uint32_t, size),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, data,
                                                                           (uintptr_t)data)
                                                   lttng_ust_field_integer(uint32_t, size, size)))

// The three events of patched DDS libraries that Trace Compass' ROS 2 plug-in reads for Humble and
// Iron, with its field names: write_pre fires with write_begin, write with writer_history_add (of
// Cyclone DDS with a write_begin that states the time), read with take_end of a sample. They tell
// nothing that the events above do not; the shipped session configurations leave them out.
//   timestamp: the source timestamp, ns, CLOCK_REALTIME.
LTTNG_UST_TRACEPOINT_EVENT(
    dds, write_pre, LTTNG_UST_TP_ARGS(const void*, writer, const void*, data),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, writer, (uintptr_t)writer)
                            lttng_ust_field_integer_hex(uintptr_t, data, (uintptr_t)data)))

LTTNG_UST_TRACEPOINT_EVENT(
    dds, write, LTTNG_UST_TP_ARGS(const void*, writer, const void*, data, int64_t, timestamp),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, writer, (uintptr_t)writer)
                            lttng_ust_field_integer_hex(uintptr_t, data, (uintptr_t)data)
                                lttng_ust_field_integer(int64_t, timestamp, timestamp)))

LTTNG_UST_TRACEPOINT_EVENT(
    dds, read, LTTNG_UST_TP_ARGS(const void*, reader, const void*, buffer),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, reader, (uintptr_t)reader)
                            lttng_ust_field_integer_hex(uintptr_t, buffer, (uintptr_t)buffer)))

#endif

#include <lttng/tracepoint-event.h>
