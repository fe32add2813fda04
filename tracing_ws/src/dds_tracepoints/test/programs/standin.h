// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// How a library that stands in for a DDS library is told what to do, and tells what was done.
#ifndef STANDIN_H
#define STANDIN_H

#include <cstdint>

using Word = std::uint64_t;
constexpr int MOST_ARGUMENTS = 7;

struct Thrown {
  Word result;
};

// How the functions behave.
struct Orders {
  bool throws;
  Word result;
  int errno_after;
  int pause_ms;
};

// The last call, and how many there were.
struct Call {
  const char* library;
  int count;
  int errno_before;
  Word arguments[MOST_ARGUMENTS];
};

// The program's, one a thread.
extern "C" thread_local Orders standin_orders;
extern "C" thread_local Call standin_call;

// What rows.inc tells of a function.
struct Row {
  const char* name;
  const char* symbol;
  const char* arguments;  // a letter each
  const char* result;
  void (*function)();
};

#endif
