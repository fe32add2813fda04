// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Whose code called a hook.
#ifndef DDS_TRACEPOINTS_CALLERS_H
#define DDS_TRACEPOINTS_CALLERS_H

enum caller {
  CALLER_OTHER = 1,
  CALLER_FASTDDS,
  CALLER_RMW_FASTRTPS,
  CALLER_CYCLONEDDS,
  CALLER_RMW_CYCLONEDDS,
};

// Returns who holds the code at a return address. Async-signal-safe.
enum caller caller_at(const void* return_address);

// The same, of return addresses that mostly come again: those that this thread asked for last are
// remembered. What is unloaded and replaced by other code with a call at the same address is taken
// for what was there before.
enum caller caller_again(const void* return_address);

#endif
