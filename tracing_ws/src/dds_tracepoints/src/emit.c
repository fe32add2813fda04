// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "emit.h"

_Thread_local struct sample last_added;
_Thread_local struct sample last_received;

void send_begins(struct entered* send, int32_t transport, const struct iovec* parts, size_t count) {
  struct rtps_reader reader;
  struct sample sample;
  if (!rtps_open(&reader, parts, count) || !rtps_next(&reader, &sample)) {
    return;
  }
  send_of_sample_begins(send, transport, &sample);
  send->operation->bytes = (uint32_t)reader.length;
  while (WANTED(send_sample) && rtps_next(&reader, &sample)) {
    EMIT(send_sample, &sample);
  }
}

void send_of_sample_begins(struct entered* send, int32_t transport, const struct sample* sample) {
  struct operation* own =
      enter_operation(send, OPERATION_SEND, (uintptr_t)__builtin_frame_address(0));
  own->transport = transport;
  own->bytes = sample->size;
  own->sample = *sample;
  open_operation(own);
}

void send_ends(struct entered* send, const struct destination* to, int32_t result) {
  if (send->operation != NULL) {
    if (is_open(send->operation)) {
      EMIT(sent, send->operation, to, result);
    }
    leave_operation(send);
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

static void conversion_begins(struct conversion* conversion, enum operation_kind kind,
                              bool is_step_wanted, bool is_own_wanted, const void* data) {
  struct operation* operation = is_step_wanted ? operation_of(kind) : NULL;
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  conversion->data = data;
  conversion->serializes = kind == OPERATION_WRITE;
  // The first step of both kinds is that of their conversion.
  if (operation != NULL && is_open(operation) && encloses(operation, frame) &&
      step_of(operation, 0) == 0 && (operation->data == NULL || operation->data == data)) {
    operation->data = data;
    conversion->operation = operation;
    note_step(operation, 0);
  } else if (is_own_wanted) {
    conversion->begin_ns = clock_ns();
  }
}

void serialize_begins(struct conversion* conversion, const void* data) {
  conversion_begins(conversion, OPERATION_WRITE, WANTED(written), WANTED(serialized), data);
}

void deserialize_begins(struct conversion* conversion, const void* data) {
  conversion_begins(conversion, OPERATION_TAKE, WANTED(taken), WANTED(deserialized), data);
}

static void emit_own(struct conversion* conversion, uint32_t size, int64_t end_ns) {
  if (conversion->serializes) {
    EMIT(serialized, conversion->data, size, conversion->begin_ns, end_ns);
  } else {
    EMIT(deserialized, conversion->data, size, conversion->begin_ns, end_ns);
  }
  conversion->begin_ns = 0;
}

void conversion_ends(struct conversion* conversion, uint32_t size) {
  _Static_assert((int)SERIALIZE_END == (int)DESERIALIZE_END, "one step of both kinds");
  if (conversion->operation != NULL) {
    conversion->operation->size = size;
    note_step(conversion->operation, SERIALIZE_END);
  } else if (conversion->begin_ns != 0) {
    emit_own(conversion, size, clock_ns());
  }
}

void end_by_exception(struct conversion* conversion) {
  if (__builtin_expect(conversion->begin_ns != 0, 0)) {
    emit_own(conversion, 0, 0);
  }
}

// The write's own event says one size.
void emit_writer_history_add(const struct sample* sample) {
  struct operation* write = WANTED(written) ? operation_of(OPERATION_WRITE) : NULL;
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  if (write == NULL || !is_open(write) || !encloses(write, frame) ||
      step_of(write, WRITER_HISTORY_ADD) != 0 ||
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
  if (!is_open(take)) {
    return;
  }
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
