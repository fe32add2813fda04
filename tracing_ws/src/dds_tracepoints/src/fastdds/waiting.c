// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Hooks of wait sets.
#include "fastdds.h"

static void wake_up(HOOKED, void* waitset) {
  typedef void (*function)(void*);
  EMIT(wake_up, waitset);
  ((function)shared_function(real, caller))(waitset);
}

// The time-out is two 32-bit numbers in one register.
static ReturnCode wait(HOOKED, const void* waitset, void* active, uint64_t timeout) {
  (void)caller;
  typedef ReturnCode (*function)(const void*, void*, uint64_t);
  EMIT(wait_begin, waitset);
  ReturnCode result = ((function)real_function(real))(waitset, active, timeout);
  EMIT(wait_end, waitset, result);
  return result;
}

#define HOOK_wake_up(name, library, symbol) \
  STUB(name, library, symbol, void, wake_up, (void* waitset), waitset)
#define HOOK_wait(name, library, symbol)        \
  STUB(name, library, symbol, ReturnCode, wait, \
       (const void* waitset, void* active, uint64_t timeout), waitset, active, timeout)

#define HOOKS_OF_FASTDDS_WAITING
#define HOOK(id, build, library, symbol) HOOK_##id(id##_##build, library, symbol)
#include "hooks.def"
