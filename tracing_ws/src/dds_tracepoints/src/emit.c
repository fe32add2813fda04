// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "emit.h"

_Thread_local struct sample last_added;
_Thread_local struct sample last_received;

static uint64_t length_of(const struct iovec* parts, size_t count) {
  uint64_t length = 0;
  for (size_t i = 0; i < count; i++) {
    length += parts[i].iov_len;
  }
  return length;
}

bool emit_send_begin(int32_t transport, const struct iovec* parts, size_t count) {
  struct sample samples[RTPS_SAMPLES];
  size_t found = rtps_samples(parts, count, samples, RTPS_SAMPLES);
  if (found == 0) {
    return false;
  }
  EMIT(send_begin, transport, length_of(parts, count), &samples[0]);
  for (size_t i = 1; i < found; i++) {
    EMIT(send_sample, &samples[i]);
  }
  return true;
}

void emit_receive(int32_t transport, const struct iovec* parts, size_t count) {
  struct sample samples[RTPS_SAMPLES];
  size_t found = rtps_samples(parts, count, samples, RTPS_SAMPLES);
  if (found == 0) {
    return;
  }
  EMIT(receive, transport, length_of(parts, count), &samples[0]);
  for (size_t i = 1; i < found; i++) {
    EMIT(receive_sample, &samples[i]);
  }
  last_received = samples[found - 1];
}
