// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What in a process is LTTng-UST's: its code, and its descriptors. Async-signal-safe and without
// locks: close() may be called anywhere.
#ifndef UST_GUARD_OWN_H
#define UST_GUARD_OWN_H

#include <stdbool.h>

#define EXPORT __attribute__((visibility("default")))
// Descriptors from this on are not known.
#define MOST_DESCRIPTORS 65536

// True for a return address in a library of LTTng-UST's.
bool is_ust(const void* return_address);

// A descriptor becomes LTTng-UST's, or is so no more.
void own(int fd);
void disown(int fd);

// True for a descriptor of LTTng-UST's.
bool is_owned(int fd);

// The first descriptor of LTTng-UST's from `fd` on; MOST_DESCRIPTORS when there is none.
unsigned next_owned(unsigned fd);

#endif
