// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Writers and readers are announced when they are made, and again whenever a session starts, where
// ros2_statedump is preloaded (package ros2_statedump).
#ifndef DDS_TRACEPOINTS_ANNOUNCE_H
#define DDS_TRACEPOINTS_ANNOUNCE_H

#include <stdbool.h>
#include <stdint.h>

#include "emit.h"

// True when a session records what is made now, or one that starts later may have it.
#define ANNOUNCED(event) (WANTED(event) || keeps_announcements())

bool keeps_announcements(void);

// Emits create_writer or create_reader. `guid`: 16 bytes.
void announce_writer(const void* writer, const char* topic, const uint8_t* guid, const char* type);
void announce_reader(const void* reader, const char* topic, const uint8_t* guid, const char* type);

#endif
