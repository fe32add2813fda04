// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "emit.h"

_Thread_local struct sample last_added;
_Thread_local struct sample last_received;

bool emit_send_begin(int32_t transport, const struct iovec* parts, size_t count) {
  struct rtps_reader reader;
  struct sample sample;
  if (!rtps_open(&reader, parts, count) || !rtps_next(&reader, &sample)) {
    return false;
  }
  EMIT(send_begin, transport, reader.length, &sample);
  while (WANTED(send_sample) && rtps_next(&reader, &sample)) {
    EMIT(send_sample, &sample);
  }
  return true;
}

void emit_receive(int32_t transport, uint32_t port, const struct iovec* parts, size_t count) {
  struct rtps_reader reader;
  struct sample sample;
  if (!rtps_open(&reader, parts, count) || !rtps_next(&reader, &sample)) {
    return;
  }
  last_received = sample;
  EMIT(receive, transport, port, reader.length, &sample);
  while (rtps_next(&reader, &sample)) {
    last_received = (struct sample){0};
    EMIT(receive_sample, &sample);
  }
}
