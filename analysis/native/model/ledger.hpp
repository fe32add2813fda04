// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Findings, counted by code and place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "model/column.hpp"
#include "model/generated/findings.hpp"

namespace strata {

// What the number of a place counts; how it is called is said by who shows it.
enum class PlaceKind : uint8_t { none, subscription, callback, event, process };

class Ledger {
 public:
  struct Key {
    Finding code;
    PlaceKind kind;
    int64_t row;
    auto operator<=>(const Key&) const = default;
  };
  struct Found {
    int64_t count = 0;
    int64_t first_ns = INT64_MAX;  // later than `last_ns`: no time is known
    int64_t last_ns = INT64_MIN;
  };

  // A count may come from a field of an event, and be anything: the sum ends at the largest.
  void add(Finding code, int64_t count = 1) {
    if (count == 0) return;
    int64_t& sum = found_[{code, PlaceKind::none, kNone}].count;
    if (__builtin_add_overflow(sum, count, &sum)) sum = count < 0 ? INT64_MIN : INT64_MAX;
  }

  // One finding at a place, of no time.
  void add_of(Finding code, PlaceKind kind, int64_t row) { ++found_[{code, kind, row}].count; }

  // One finding at a place (a row, or kNone where it is not known) and a time.
  void add_at(Finding code, PlaceKind kind, int64_t row, int64_t ns) {
    Found& found = found_[{code, kind, row}];
    ++found.count;
    found.first_ns = std::min(found.first_ns, ns);
    found.last_ns = std::max(found.last_ns, ns);
  }

  const std::map<Key, Found>& found() const { return found_; }

 private:
  std::map<Key, Found> found_;
};

}  // namespace strata
