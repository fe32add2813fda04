// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic with instants and durations that events may have had: no overflow is an error.
#pragma once

#include <cstdint>

namespace strata {

constexpr int64_t minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
constexpr int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// How far two instants are from each other, whichever is first.
constexpr uint64_t apart(int64_t a, int64_t b) {
  return static_cast<uint64_t>(a < b ? minus(b, a) : minus(a, b));
}

}  // namespace strata
