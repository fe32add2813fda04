// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// One event as the machines see it, whatever it was read from.
#pragma once

#include <array>
#include <cstdint>

#include "model/column.hpp"
#include "model/generated/event_types.hpp"

namespace strata {

inline constexpr uint32_t kNoThread = UINT32_MAX;

static_assert(kMostFields <= 16, "each field has a bit in Event::present");

// The number of a CPU, or -1 where it is not known or is none that a machine has.
constexpr int32_t cpu_number(int64_t value) {
  return value < 0 || value > INT32_MAX ? -1 : static_cast<int32_t>(value);
}

// Of an init event that was emitted again as a session started (model/statedumps.hpp): machines
// have seen what it says, or see it as an event at the beginning of the trace, in its place.
enum class Dumped : uint8_t { no, known, brought_forward };

// A field's value: numbers as they are (unsigned ones keep their 64 bits), text and bytes by their
// number in `Strings`, lists by their number in `Lists`; kNone where it is null or was not
// recorded.
struct Event {
  int64_t ns = 0;   // since the epoch, by the trace's clock
  uint64_t at = 0;  // its place in the order in which events are looked at
  // Dense, in the order of first events; kNoThread of the kernel's, and until it is looked at.
  uint32_t thread = kNoThread;
  uint32_t process = kNoThread;
  EventType type{};
  // Of an operation, or brought forward from a dump: another event has it, which is in the trace.
  bool is_step = false;
  Dumped dumped = Dumped::no;
  uint16_t present = 0;   // bit i: field i has a value
  int32_t host = -1;      // number of the host's name among the texts
  int32_t procname = -1;  // number of the thread's name; -1: not recorded
  int32_t cpu = -1;       // -1: not known
  std::array<int64_t, kMostFields> value{};

  int64_t operator[](int field) const { return value[static_cast<size_t>(field)]; }
  bool has(int field) const { return (present >> field & 1) != 0; }
};

}  // namespace strata
