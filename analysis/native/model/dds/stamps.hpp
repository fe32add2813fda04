// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Source timestamps, by which a process knows a sample where an event names none.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/dds/samples.hpp"

namespace strata::dds {

// The source timestamp of rows of events: that of their sample, which is kept there, but for a few.
class RowStamps {
 public:
  // The next row names a sample by an event with a stamp; 0 or less is none.
  void note(const Samples& samples, size_t row, int32_t sample, int64_t stamp) {
    if (stamp <= 0 || samples.stamp(sample) != stamp) others_.emplace_back(row, stamp);
  }

  // Stamps of rows that are asked in ascending order.
  class Reader {
   public:
    Reader(const RowStamps& stamps, const Samples& samples) : stamps_(stamps), samples_(samples) {}
    // kNone for none.
    int64_t of(size_t row, int32_t sample) {
      const auto& others = stamps_.others_;
      while (next_ < others.size() && others[next_].first < row) ++next_;
      if (next_ == others.size() || others[next_].first != row) return samples_.stamp(sample);
      return others[next_].second > 0 ? others[next_].second : kNone;
    }

   private:
    const RowStamps& stamps_;
    const Samples& samples_;
    size_t next_ = 0;
  };

 private:
  std::vector<std::pair<size_t, int64_t>> others_;
};

// The one sample that each process named with a source timestamp, of those that are asked.
class SamplesByStamp {
 public:
  // Before anything is noted: that this will be looked up.
  void ask(uint32_t process, int64_t stamp);
  // An event of a process named a sample with a stamp.
  void note(uint32_t process, int64_t stamp, int32_t sample);
  // kNoRow where there was none, or not just one.
  int32_t find(uint32_t process, int64_t stamp) const;
  bool empty() const { return count_ == 0; }

 private:
  struct Entry {
    int64_t stamp = kNone;  // kNone: free
    uint32_t process = 0;
    int32_t sample = kNoRow;
  };
  static constexpr int32_t kSeveral = -2;

  size_t slot_of(uint32_t process, int64_t stamp) const;

  std::vector<Entry> entries_;  // open addressing; a power of two
  size_t count_ = 0;
};

}  // namespace strata::dds
