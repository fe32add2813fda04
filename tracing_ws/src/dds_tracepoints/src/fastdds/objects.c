// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Reads objects of Fast DDS and of rmw_fastrtps.
#include <pthread.h>

#include "fastdds.h"

// rmw_fastrtps_shared_cpp::SerializedData: type, ROS message.
enum { SERIALIZED_DATA_MESSAGE = 8 };
// From where rmw_fastrtps keeps it, Fast DDS calls its way to a hook in less than this much stack.
enum { STACK_BETWEEN = 64 * 1024 };

// SequenceNumber_t: high, low.
static int64_t sequence_at(const void* object, size_t offset) {
  return (int64_t)((uint64_t)(uint32_t)int_at(object, offset) << 32 |
                   (uint32_t)int_at(object, offset + 4));
}

// rtps::Time_t: seconds, fraction, nanoseconds.
static int64_t stamp_at(const void* object, size_t offset) {
  return (int64_t)int_at(object, offset) * 1000000000 + (uint32_t)int_at(object, offset + 8);
}

struct sample sample_of_change(const struct layout* layout, const void* change) {
  struct sample sample = {0};
  if (layout != NULL && change != NULL) {
    memcpy(sample.guid, (const char*)change + layout->change_guid, sizeof(sample.guid));
    sample.sequence = sequence_at(change, layout->change_sequence);
    sample.stamp = stamp_at(change, layout->change_stamp);
    sample.size = (uint32_t)int_at(change, layout->change_size);
  }
  return sample;
}

struct sample sample_of_info(const struct layout* layout, const void* info) {
  struct sample sample = {0};
  if (layout != NULL && info != NULL) {
    memcpy(sample.guid, (const char*)info + layout->info_identity, sizeof(sample.guid));
    sample.sequence = sequence_at(info, layout->info_identity + sizeof(sample.guid));
    sample.stamp = stamp_at(info, layout->info_stamp);
  }
  return sample;
}

bool related_at(const struct layout* layout, const void* object, size_t offset,
                struct related* related) {
  static const uint8_t unknown[16];
  if (layout == NULL || object == NULL) {
    return false;
  }
  memcpy(related->guid, (const char*)object + offset, sizeof(related->guid));
  int64_t sequence = sequence_at(object, offset + sizeof(related->guid));
  related->sequence = sequence > 0 ? sequence : 0;  // not known: (-1, 0)
  return memcmp(related->guid, unknown, sizeof(unknown)) != 0;
}

static bool is_kept_by_callers(const void* data) {
  // The stack grows down: what callers keep is above.
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  if ((uintptr_t)data - frame >= STACK_BETWEEN) {
    return false;
  }
  // glibc ends a thread's stack with the thread's own block, whose address pthread_self() is; other
  // memory may follow it. The first thread's block lies elsewhere, and above its stack is nothing.
  uintptr_t end = (uintptr_t)pthread_self();
  return end < frame || (uintptr_t)data < end;
}

const void* message_behind(const void* data) {
  return is_kept_by_callers(data) ? pointer_at(data, SERIALIZED_DATA_MESSAGE) : data;
}

const void* message_of(const void* data, const void* caller) {
  return caller_again(caller) == CALLER_RMW_FASTRTPS ? message_behind(data) : data;
}
