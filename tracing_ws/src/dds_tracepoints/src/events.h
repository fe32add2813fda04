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

#include "operation.h"
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

// write_related: of a request or response of a service, on the writing thread, before the `written`
// of its write. take_related: the same of what was taken, just after its `taken`.
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

// The events of operations: one at the end of each, on the thread that did it. What was noted
// meanwhile is in it: `begin` is the clock of the trace (CLOCK_MONOTONIC, ns) when the operation
// began; steps are spans from there on (span_of), 0 where they were not done. An operation that an
// exception ended has no such event, but `unfinished`.
//
// written: a write returned.
//   writer, data: the handle, and the address of the value; of the ROS message where the ROS
//   middleware writes, so that it is the `message` of ros2:rmw_publish.
//   writer_guid, sequence_number, source_timestamp: of the sample that was added to the writer's
//   history, else 0. size: bytes of its payload, CDR header included; 0 when serializing failed.
//   result: what it returned: a DDS return code, or for a write that returns bool, 0 for true.
//   serialize_begin, serialize_end: the value is turned into bytes.
//   writer_history_add: the sample got its sequence number and is in the writer's history.
LTTNG_UST_TRACEPOINT_EVENT(
    dds, written, LTTNG_UST_TP_ARGS(const struct operation*, o, int32_t, result),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer_hex(uintptr_t, writer, (uintptr_t)o->entity)
            lttng_ust_field_integer_hex(uintptr_t, data, (uintptr_t)o->data) lttng_ust_field_array(
                uint8_t, writer_guid, o->sample.guid,
                16) lttng_ust_field_integer(int64_t, sequence_number, o->sample.sequence)
                lttng_ust_field_integer(int64_t, source_timestamp, o->sample.stamp)
                    lttng_ust_field_integer(uint32_t, size, o->size)
                        lttng_ust_field_integer(int32_t, result, result)
                            lttng_ust_field_integer(int64_t, begin, begin_of(o))
                                lttng_ust_field_integer(uint32_t, serialize_begin,
                                                        span_to(o, SERIALIZE_BEGIN))
                                    lttng_ust_field_integer(uint32_t, serialize_end,
                                                            span_to(o, SERIALIZE_END))
                                        lttng_ust_field_integer(uint32_t, writer_history_add,
                                                                span_to(o, WRITER_HISTORY_ADD))))

// taken: a take (or read) returned.
//   buffer: where the value was put; that of ros2:rmw_take's `message` where the ROS middleware
//   takes. taken: how many samples; the other fields are the first one's. result: the DDS return
//   code (of Cyclone DDS the count, or a negative code). size: bytes deserialized.
//   deserialize_begin, deserialize_end: the bytes are turned into a value.
LTTNG_UST_TRACEPOINT_EVENT(
    dds, taken,
    LTTNG_UST_TP_ARGS(const struct operation*, o, const void*, buffer, const struct sample*, sample,
                      int32_t, taken, int32_t, result),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer_hex(uintptr_t, reader, (uintptr_t)o->entity)
            lttng_ust_field_integer_hex(uintptr_t, buffer, (uintptr_t)buffer)
                lttng_ust_field_array(uint8_t, writer_guid, sample->guid, 16)
                    lttng_ust_field_integer(int64_t, sequence_number, sample->sequence)
                        lttng_ust_field_integer(int64_t, source_timestamp, sample->stamp)
                            lttng_ust_field_integer(int32_t, taken, taken)
                                lttng_ust_field_integer(int32_t, result, result)
                                    lttng_ust_field_integer(uint32_t, size, o->size)
                                        lttng_ust_field_integer(int64_t, begin, begin_of(o))
                                            lttng_ust_field_integer(uint32_t, deserialize_begin,
                                                                    span_to(o, DESERIALIZE_BEGIN))
                                                lttng_ust_field_integer(uint32_t, deserialize_end,
                                                                        span_to(o,
                                                                                DESERIALIZE_END))))

// sent: a buffer that holds samples of the application was handed to a transport, which returned;
// on the writing thread or on one of the middleware's. Sockets: around the system call. SHM: around
// the copy into the segment and the push to every port. Data sharing: around the notification of a
// reader. Buffers with nothing but control traffic or discovery have no event. The sample is the
// first in the buffer; send_sample tells further ones.
//   bytes: length of the buffer. size: bytes of the sample's payload, all fragments together.
//   fragment, fragment_count: which are in the buffer. fragment_size: bytes of a full one.
//   address, port: where to; 4 bytes of IPv4 or 16 of IPv6; of SHM the port only, that of the last
//   reader. destinations: readers' ports served, 1 for a socket. result: bytes sent, or -errno; of
//   SHM 1 or 0.
LTTNG_UST_TRACEPOINT_EVENT(
    dds, sent,
    LTTNG_UST_TP_ARGS(const struct operation*, o, const struct destination*, to, int32_t, result),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_enum(dds, transport, int32_t, transport,
                             o->transport) lttng_ust_field_integer(uint32_t, bytes, o->bytes)
            lttng_ust_field_array(uint8_t, writer_guid, o->sample.guid, 16)
                lttng_ust_field_integer(int64_t, sequence_number, o->sample.sequence)
                    lttng_ust_field_integer(int64_t, source_timestamp, o->sample.stamp)
                        lttng_ust_field_integer(uint32_t, size, o->sample.size)
                            lttng_ust_field_integer(uint32_t, fragment, o->sample.fragment)
                                lttng_ust_field_integer(uint16_t, fragment_count,
                                                        o->sample.fragment_count)
                                    lttng_ust_field_integer(uint16_t, fragment_size,
                                                            o->sample.fragment_size)
                                        lttng_ust_field_sequence(uint8_t, address, address_of(to),
                                                                 uint8_t, to->address_length)
                                            lttng_ust_field_integer(uint32_t, port, to->port)
                                                lttng_ust_field_integer(uint16_t, destinations,
                                                                        to->count)
                                                    lttng_ust_field_integer(int32_t, result, result)
                                                        lttng_ust_field_integer(int64_t, begin,
                                                                                begin_of(o))))

// received: a buffer that holds one whole sample of the application arrived, on a thread of the
// middleware, and a reader is about to be notified of it; without such a reader, the middleware is
// done with the buffer. Samples of writers that no local reader wants are there too (multicast).
// What does not fit (further readers, fragments, several samples in a buffer, Cyclone DDS) has
// `receive`, `reader_history_add` and `reader_notify`. None for data sharing and for readers of the
// writer's process.
//   port: where it was received, as in `sent`. notified: 1 if a reader is; reader_guid: its GUID.
//   reader_history_add: a reader took the sample into its history.
LTTNG_UST_TRACEPOINT_EVENT(
    dds, received,
    LTTNG_UST_TP_ARGS(const struct operation*, o, const uint8_t*, reader, uint8_t, notified),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_enum(dds, transport, int32_t, transport,
                             o->transport) lttng_ust_field_integer(uint32_t, port, o->port)
            lttng_ust_field_integer(uint32_t, bytes, o->bytes)
                lttng_ust_field_array(uint8_t, writer_guid, o->sample.guid, 16)
                    lttng_ust_field_integer(int64_t, sequence_number, o->sample.sequence)
                        lttng_ust_field_integer(int64_t, source_timestamp, o->sample.stamp)
                            lttng_ust_field_integer(uint32_t, size, o->sample.size)
                                lttng_ust_field_integer(uint8_t, notified, notified)
                                    lttng_ust_field_array(uint8_t, reader_guid, reader, 16)
                                        lttng_ust_field_integer(int64_t, begin, begin_of(o))
                                            lttng_ust_field_integer(uint32_t, reader_history_add,
                                                                    span_to(o,
                                                                            READER_HISTORY_ADD))))

// serialized, deserialized: a value was turned into bytes, or bytes into a value, outside of a
// write or take, or once more within it.
//   data: as in `written`, or where the value is put. size: bytes; 0 when it failed. end: a span; 0
//   when an exception ended it.
LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    dds, conversion,
    LTTNG_UST_TP_ARGS(const void*, data, uint32_t, size, int64_t, begin_ns, int64_t, end_ns),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, data, (uintptr_t)data)
                            lttng_ust_field_integer(uint32_t, size, size)
                                lttng_ust_field_integer(int64_t, begin, begin_ns)
                                    lttng_ust_field_integer(uint32_t, end,
                                                            span_of(begin_ns, end_ns))))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(dds, conversion, dds, serialized,
                                    LTTNG_UST_TP_ARGS(const void*, data, uint32_t, size, int64_t,
                                                      begin_ns, int64_t, end_ns))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(dds, conversion, dds, deserialized,
                                    LTTNG_UST_TP_ARGS(const void*, data, uint32_t, size, int64_t,
                                                      begin_ns, int64_t, end_ns))

// unfinished: an operation of another thread has been going on for 0.1 s, or has done a further
// step since; or it ended without its event: an exception went past it. Fields as in the event that
// it might have.
//   thread: its thread. operation: 1 write, 2 take, 3 send, 4 receive. may_end: 1 if it is still at
//   it; then the operation's own event may follow, and one of these with each further step.
//   entity: writer or reader. first_step to third_step: the steps, in the order of their fields; of
//   a send fragment, fragment_count and fragment_size.
LTTNG_UST_TRACEPOINT_EVENT(
    dds, unfinished,
    LTTNG_UST_TP_ARGS(int32_t, thread, uint8_t, operation, uint8_t, may_end,
                      const struct operation*, o),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int32_t, thread, thread) lttng_ust_field_integer(
            uint8_t, operation, operation) lttng_ust_field_integer(uint8_t, may_end, may_end)
            lttng_ust_field_integer_hex(uintptr_t, entity, (uintptr_t)o->entity)
                lttng_ust_field_integer_hex(uintptr_t, data, (uintptr_t)o->data)
                    lttng_ust_field_array(uint8_t, writer_guid, o->sample.guid,
                                          16) lttng_ust_field_integer(int64_t, sequence_number,
                                                                      o->sample.sequence)
                        lttng_ust_field_integer(int64_t, source_timestamp, o->sample.stamp)
                            lttng_ust_field_integer(uint32_t, size, size_in(operation, o))
                                lttng_ust_field_enum(dds, transport, int32_t, transport,
                                                     o->transport) lttng_ust_field_integer(uint32_t,
                                                                                           port,
                                                                                           o->port)
                                    lttng_ust_field_integer(uint32_t, bytes, o->bytes)
                                        lttng_ust_field_integer(int64_t, begin, begin_of(o))
                                            lttng_ust_field_integer(uint32_t, first_step,
                                                                    detail_of(operation, o, 0))
                                                lttng_ust_field_integer(uint32_t, second_step,
                                                                        detail_of(operation, o, 1))
                                                    lttng_ust_field_integer(uint32_t, third_step,
                                                                            detail_of(operation, o,
                                                                                      2))))

// writer_history_add, outside of a write, or once more within it: the sample got its sequence
// number and is in the writer's history; on the writing thread, between serialize_end and the first
// send.
//   source_timestamp: ns, CLOCK_REALTIME; that of ros2:rmw_publish. size: bytes of the payload.
LTTNG_UST_TRACEPOINT_EVENT(
    dds, writer_history_add, LTTNG_UST_TP_ARGS(const struct sample*, sample),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_array(uint8_t, writer_guid, sample->guid, 16)
                            lttng_ust_field_integer(int64_t, sequence_number, sample->sequence)
                                lttng_ust_field_integer(int64_t, source_timestamp, sample->stamp)
                                    lttng_ust_field_integer(uint32_t, size, sample->size)))

// send_sample: a further sample in the buffer of the `sent` that follows on this thread.
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

// receive: a buffer that holds samples of the application arrived, on a thread of the middleware,
// before anything is done with it, and has no `received`. Fields as in `sent`. Samples of writers
// that no local reader wants are there too (multicast). None for data sharing and for readers of
// the writer's process. Fast DDS adds 60 bytes of statistics to what it sends and takes them off
// before this event.
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

// The three events of patched DDS libraries that Trace Compass' ROS 2 plug-in reads for Humble and
// Iron, with its field names: write_pre fires when a write begins, write when its sample is added
// to the history (of Cyclone DDS when a write begins that states the time), read after `taken`.
// They tell nothing that the events above do not; the shipped session configurations leave them
// out.
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
