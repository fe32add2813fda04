// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "emit.h"

_Thread_local struct sample last_added;
_Thread_local struct sample last_received;

void send_begins(struct sending* sending, int32_t transport, const struct iovec* parts,
                 size_t count) {
  struct rtps_reader reader;
  struct sample sample;
  sending->operation = NULL;
  if (!rtps_open(&reader, parts, count) || !rtps_next(&reader, &sample)) {
    return;
  }
  send_of_sample_begins(sending, transport, &sample);
  sending->operation->bytes = (uint32_t)reader.length;
  while (WANTED(send_sample) && rtps_next(&reader, &sample)) {
    EMIT(send_sample, &sample);
  }
}

void send_of_sample_begins(struct sending* sending, int32_t transport,
                           const struct sample* sample) {
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  struct operation* send = enter_operation(OPERATION_SEND, &sending->outer, frame);
  send->transport = transport;
  send->bytes = sample->size;
  send->sample = *sample;
  sending->operation = send;
  open_operation(send);
}

void send_ends(struct sending* sending, const struct destination* to, int32_t result) {
  if (sending->operation != NULL) {
    EMIT(sent, sending->operation, to, result);
    leave_operation(sending->operation, &sending->outer);
  }
}

bool emit_receive(int32_t transport, uint32_t port, const struct iovec* parts, size_t count,
                  struct operation* receipt) {
  struct rtps_reader reader;
  struct sample sample, further;
  if (!rtps_open(&reader, parts, count) || !rtps_next(&reader, &sample)) {
    return false;
  }
  last_received = sample;
  if (receipt != NULL && sample.fragment_count == 0) {
    struct rtps_reader rest = reader;
    if (!rtps_next(&rest, &further)) {
      receipt->transport = transport;
      receipt->port = port;
      receipt->bytes = (uint32_t)reader.length;
      receipt->sample = sample;
      open_operation(receipt);
      return true;
    }
  }
  EMIT(receive, transport, port, reader.length, &sample);
  while (rtps_next(&reader, &sample)) {
    last_received = (struct sample){0};
    EMIT(receive_sample, &sample);
  }
  return false;
}

static struct conversion conversion_begins(enum operation_kind kind, bool is_step_wanted,
                                           bool is_own_wanted, const void* data) {
  struct conversion conversion = {.data = data};
  struct operation* operation = is_step_wanted ? operation_of(kind) : NULL;
  // The first step of both kinds is that of their conversion.
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  if (operation != NULL && encloses(operation, frame) && step_of(operation, 0) == 0 &&
      (operation->data == NULL || operation->data == data)) {
    operation->data = data;
    conversion.operation = operation;
    conversion.begin_ns = clock_ns();
    note_step_at(operation, 0, conversion.begin_ns);
  } else if (is_own_wanted) {
    conversion.begin_ns = clock_ns();
  }
  return conversion;
}

struct conversion serialize_begins(const void* data) {
  return conversion_begins(OPERATION_WRITE, WANTED(written), WANTED(serialized), data);
}

void serialize_ends(const struct conversion* conversion, uint32_t size) {
  if (conversion->operation != NULL) {
    conversion->operation->size = size;
    note_step(conversion->operation, SERIALIZE_END);
  } else if (conversion->begin_ns != 0) {
    EMIT(serialized, conversion->data, size, conversion->begin_ns, clock_ns());
  }
}

struct conversion deserialize_begins(const void* data) {
  return conversion_begins(OPERATION_TAKE, WANTED(taken), WANTED(deserialized), data);
}

void deserialize_ends(const struct conversion* conversion, uint32_t size) {
  if (conversion->operation != NULL) {
    conversion->operation->size = size;
    note_step(conversion->operation, DESERIALIZE_END);
  } else if (conversion->begin_ns != 0) {
    EMIT(deserialized, conversion->data, size, conversion->begin_ns, clock_ns());
  }
}

// The write's own event says one size.
void emit_writer_history_add(const struct sample* sample) {
  struct operation* write = WANTED(written) ? operation_of(OPERATION_WRITE) : NULL;
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  if (write == NULL || !encloses(write, frame) || step_of(write, WRITER_HISTORY_ADD) != 0 ||
      (step_of(write, SERIALIZE_BEGIN) != 0 && write->size != sample->size)) {
    EMIT(writer_history_add, sample);
    return;
  }
  write->sample = *sample;
  write->size = sample->size;
  note_step(write, WRITER_HISTORY_ADD);
}

// The take's own event says one address.
void emit_taken(const struct operation* take, const void* buffer, const struct sample* sample,
                int32_t taken, int32_t result) {
  if (take->data == NULL || take->data == buffer) {
    EMIT(taken, take, buffer, sample, taken, result);
    return;
  }
  struct operation other = {.entity = take->entity};
  atomic_init(&other.begin_ns, begin_of(take));
  EMIT(deserialized, take->data, take->size, step_of(take, DESERIALIZE_BEGIN),
       step_of(take, DESERIALIZE_END));
  EMIT(taken, &other, buffer, sample, taken, result);
}
