// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// A library that is linked to the stand-ins, as the ROS middleware is to a DDS library: its table
// of functions holds what the dynamic linker binds their names to, that is the hooks.
#include "standin.h"

#define ROW(name, symbol, letters, letter) extern "C" void row_##name() asm(symbol);
#include "rows.inc"
#undef ROW

#define ROW(name, symbol, letters, letter) {#name, symbol, #letters, #letter, row_##name},
extern "C" const Row standin_rows[] = {
#include "rows.inc"
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// Calls a function from here: hooks look at who called them.
extern "C" Word standin_invoke(void (*function)(), const Word* a) {
  using Function = Word (*)(Word, Word, Word, Word, Word, Word, Word);
  volatile Word result =
      reinterpret_cast<Function>(function)(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
  return result;
}
