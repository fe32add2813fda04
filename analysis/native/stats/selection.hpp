// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Order statistics of many values without sorting them: values are counted in bins, and only those
// of the bins that hold a wanted rank are sorted.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stats/ascending.hpp"

namespace strata::stats {

// Below so many values a sort is faster.
constexpr size_t kManyValues = 4096;
// A bin is 1/256 of its values wide.
constexpr unsigned kBinBits = 8;

// The bin of a distance from the smallest value.
inline uint16_t bin_of(uint64_t key) {
  const auto width = static_cast<unsigned>(std::bit_width(key));
  const unsigned shift = width > kBinBits + 1 ? width - kBinBits - 1 : 0;
  return static_cast<uint16_t>((uint64_t{shift} << kBinBits) + (key >> shift));
}
// More than there are of either kind.
constexpr size_t kBins = size_t{69} << kBinBits;

// The bin of the size of a number that is not negative: below a quarter all are in the first.
inline uint16_t bin_of(double size) {
  constexpr uint64_t kLeast = std::bit_cast<uint64_t>(0.25) >> (52 - kBinBits);
  constexpr uint64_t kMost = std::bit_cast<uint64_t>(0x1p66) >> (52 - kBinBits);
  const uint64_t bin = std::bit_cast<uint64_t>(size) >> (52 - kBinBits);
  return static_cast<uint16_t>(std::clamp(bin, kLeast, kMost) - kLeast);
}

class Selector {
 public:
  // Returns the values of some ranks, which ascend. `key(i)` is what values are ordered by, and has
  // a bin; `value(i)` is that of `count` values.
  template <typename Value, typename KeyOf, typename ValueOf>
  std::vector<Value> select(size_t count, std::span<const size_t> ranks, const KeyOf& key,
                            const ValueOf& value) {
    bins_.resize(count);
    sizes_.assign(kBins, 0);
    for (size_t i = 0; i < count; ++i) {
      const uint16_t bin = bin_of(key(i));
      bins_[i] = bin;
      ++sizes_[bin];
    }
    choose(ranks);
    std::vector<std::vector<Value>> found(chosen_.size());
    for (size_t k = 0; k < chosen_.size(); ++k) found[k].reserve(sizes_[chosen_[k].bin]);
    for (size_t i = 0; i < count; ++i) {
      const uint8_t slot = slots_[bins_[i]];
      if (slot != 0) found[slot - 1].push_back(value(i));
    }
    for (std::vector<Value>& values : found) sorter_.sort(std::span<Value>(values));
    std::vector<Value> out;
    out.reserve(ranks.size());
    size_t k = 0;
    for (const size_t rank : ranks) {
      while (rank >= chosen_[k].before + found[k].size()) ++k;
      out.push_back(found[k][rank - chosen_[k].before]);
    }
    return out;
  }

  Sorter& sorter() { return sorter_; }

  // So many ranks can be asked for at once.
  static constexpr size_t kMostRanks = 255;

 private:
  struct Chosen {
    size_t bin;
    size_t before;  // how many values lie in smaller bins
  };

  // Finds the bins of ranks, and gives each a slot.
  void choose(std::span<const size_t> ranks) {
    chosen_.clear();
    slots_.assign(sizes_.size(), 0);
    size_t before = 0, wanted = 0;
    for (size_t bin = 0; bin < sizes_.size() && wanted < ranks.size(); ++bin) {
      const size_t after = before + sizes_[bin];
      if (ranks[wanted] < after) {
        chosen_.push_back({bin, before});
        slots_[bin] = static_cast<uint8_t>(chosen_.size());
        while (wanted < ranks.size() && ranks[wanted] < after) ++wanted;
      }
      before = after;
    }
  }

  Sorter sorter_;
  std::vector<uint16_t> bins_;
  std::vector<uint32_t> sizes_;
  std::vector<uint8_t> slots_;
  std::vector<Chosen> chosen_;
};

}  // namespace strata::stats
