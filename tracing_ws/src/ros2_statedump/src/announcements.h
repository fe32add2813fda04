// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The announcements of a process: the events that say which entities it has made. They are emitted
// once, and again whenever an LTTng session starts, so that a session that starts late has their
// names. LTTng calls that a state dump.
#ifndef ROS2_STATEDUMP_ANNOUNCEMENTS_H
#define ROS2_STATEDUMP_ANNOUNCEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

// Emits an announcement from the copy of its record.
typedef void (*emit_function)(const void* record);

// Copies a record, and emits it now and whenever a session starts, in the order of the calls. `key`
// is the address of what it is about, unique in the process while that lives. A later record with
// the same function and key takes the place of the former one, and one that `introduces` its
// address that of all others: another entity is there now. Of more than `MOST_ANNOUNCEMENTS` the
// oldest of those that have most of a kind are forgotten. Called by name (dlsym), by other
// libraries too; not from a signal handler.
EXPORT void ros2_statedump_announce(emit_function emit, uint64_t key, bool introduces,
                                    const void* record, size_t size);

#define MOST_ANNOUNCEMENTS 65536

// What comes before and after the announcements of a dump. `forgotten`: how many are not among
// them.
struct brackets {
  void (*begin)(uint32_t announcements, uint64_t forgotten);
  void (*end)(void);
};

// Emits all announcements between the brackets; nothing where there are none.
typedef void (*dump_function)(const struct brackets* brackets);

#endif
