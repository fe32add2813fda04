// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Values in ascending order.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace strata::stats {

// Below so many values a sort by comparison is faster than one by digits, and below some more one
// by small digits, as each pass counts all digits.
constexpr size_t kFewValues = 48;
constexpr size_t kSomeValues = 1536;

// Unsigned numbers in the order of the values, and back.
inline uint64_t key_of(int64_t value) { return static_cast<uint64_t>(value) ^ (uint64_t{1} << 63); }
inline uint64_t key_of(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  return bits >> 63 ? ~bits : bits | (uint64_t{1} << 63);
}
inline void value_of(uint64_t key, int64_t& out) {
  out = static_cast<int64_t>(key ^ (uint64_t{1} << 63));
}
inline void value_of(uint64_t key, double& out) {
  out = std::bit_cast<double>(key >> 63 ? key ^ (uint64_t{1} << 63) : ~key);
}

// Sorts by digits of the distance from the smallest: as many passes as that has digits.
class Sorter {
 public:
  // `values` are no NaN, and fewer than 2^32.
  template <typename Value>
  void sort(std::span<Value> values) {
    if (std::is_sorted(values.begin(), values.end())) return;
    if (values.size() < kFewValues) {
      std::sort(values.begin(), values.end());
      return;
    }
    keys_.resize(values.size());
    other_.resize(values.size());
    uint64_t low = ~uint64_t{0}, high = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      keys_[i] = key_of(values[i]);
      low = std::min(low, keys_[i]);
      high = std::max(high, keys_[i]);
    }
    const auto bits = static_cast<unsigned>(std::bit_width(high - low));
    if (values.size() < kSomeValues) {
      passes<8>(low, bits);
    } else {
      passes<11>(low, bits);
    }
    for (size_t i = 0; i < values.size(); ++i) value_of(keys_[i], values[i]);
  }

 private:
  template <unsigned DigitBits>
  void passes(uint64_t low, unsigned bits) {
    constexpr uint64_t kLast = (uint64_t{1} << DigitBits) - 1;
    for (unsigned shift = 0; shift < bits; shift += DigitBits) {
      std::array<uint32_t, kLast + 1> next{};
      for (const uint64_t key : keys_) ++next[((key - low) >> shift) & kLast];
      uint32_t begin = 0;
      for (uint32_t& count : next) begin += std::exchange(count, begin);
      for (const uint64_t key : keys_) other_[next[((key - low) >> shift) & kLast]++] = key;
      keys_.swap(other_);
    }
  }

  std::vector<uint64_t> keys_;
  std::vector<uint64_t> other_;
};

}  // namespace strata::stats
