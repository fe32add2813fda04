// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Writers and readers between which messages went. See strata.layers.pairs.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "layers/rows_by.hpp"
#include "storage/many.hpp"

namespace strata {

// Pairs of a writer and a reader by their number.
class PairNumbers {
 public:
  PairNumbers() = default;
  PairNumbers(Ints writer, Ints reader);

  // kNone for a pair that is not there.
  int64_t of(int64_t writer, int64_t reader);
  // The number of a pair, which gets the next one if it is new.
  size_t add(int64_t writer, int64_t reader);
  size_t size() const { return number_.size(); }

 private:
  static constexpr size_t kRecent = 256;
  struct Recent {
    uint64_t key = UINT64_MAX;  // of no pair
    uint32_t number = 0;
  };

  std::unordered_map<uint64_t, uint32_t> number_;
  // Messages of few pairs follow each other: the last that was found of each place.
  std::array<Recent, kRecent> recent_{};
};

// By writer and reader; `hop` is that of the last message of each.
struct MatchedPairs {
  Many<int64_t> writer;
  Many<int64_t> reader;
  Many<int64_t> hop;
};

// The columns have one row a message. Throws std::invalid_argument for columns of different
// lengths.
MatchedPairs match_pairs(Ints writer, Ints reader, Ints hop);

// When each of some writers handed over a message first, and when one through rmw_publish; the far
// future for never.
struct FirstHanded {
  Many<int64_t> any_ns;
  Many<int64_t> sent_ns;
};
FirstHanded first_handed(Ints writer, Ints handed_ns, Ints rmw_publish_ns, size_t writers);

}  // namespace strata
