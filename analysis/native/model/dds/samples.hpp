// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Samples by their identity: the writer's GUID and its sequence number, the same in every process.
//
// Where a sample goes through no socket, its number is not known (0); its writer and source
// timestamp are. They name one sample when no two numbers go with them (one number that does is the
// sample's), and no reader was notified of them twice: `resolve` knows when all events are over.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/context.hpp"

namespace strata::dds {

inline constexpr int32_t kNoRow = -1;

// A reader that was notified of a sample without a number.
struct Unnumbered {
  int32_t sample;
  uint32_t process;
  int64_t reader;
  auto operator<=>(const Unnumbered&) const = default;
};

class Samples {
 public:
  explicit Samples(Context& context) : bytes_(context.strings.bytes), rows_(context.rows.samples) {}

  // A GUID by its number among the bytes; kNone where it is zeros, or no GUID.
  int64_t guid(int64_t bytes);

  // The row of the sample that an event names; kNoRow where it names none. `writer` is of guid();
  // a stamp of 0 or less is not known.
  int32_t named(int64_t writer, int64_t sequence, int64_t stamp);

  bool is_unnumbered(int32_t row) const { return rows_.sequence[static_cast<size_t>(row)] == 0; }
  // The source timestamp that a row's events gave first; kNone for none.
  int64_t stamp(int32_t row) const { return rows_.stamp[static_cast<size_t>(row)]; }

  // Finds the samples of rows without a number, over all events.
  void resolve(std::vector<Unnumbered> notified);
  // The sample of a row, from resolve() on; kNoRow where it may be several.
  int32_t sample_of(int32_t row) const {
    return row == kNoRow ? kNoRow : rows_.sample[static_cast<size_t>(row)];
  }
  int64_t writer(int64_t sample) const { return pick(rows_.writer, sample); }
  size_t size() const { return rows_.size(); }

 private:
  struct Key {
    int64_t writer;
    int64_t number;  // sequence number, or stamp
    bool by_stamp;
  };

  static uint64_t hash_of(const Key& key);
  bool has(int32_t row, const Key& key) const;
  Key key_of(int32_t row) const;
  size_t slot_of(const Key& key) const;
  int32_t find_or_add(const Key& key);
  void grow();

  const Interner& bytes_;
  SamplesRows& rows_;
  std::vector<int8_t> is_guid_;  // by number among the bytes; -1: not looked at
  std::vector<int32_t> slots_;   // open addressing; kNoRow is free; a power of two
  std::vector<int32_t> unnumbered_;
  std::vector<std::pair<int32_t, int64_t>> further_stamps_;  // (row, stamp): others than its first
};

}  // namespace strata::dds
