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

// Below so many values a sort by comparison is faster than one by digits.
constexpr size_t kFewValues = 512;
constexpr unsigned kDigitBits = 11;
constexpr size_t kDigits = size_t{1} << kDigitBits;

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
  // `values` are no NaN.
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
    for (unsigned shift = 0; shift < bits; shift += kDigitBits) pass(low, shift);
    for (size_t i = 0; i < values.size(); ++i) value_of(keys_[i], values[i]);
  }

 private:
  void pass(uint64_t low, unsigned shift) {
    std::array<size_t, kDigits> next{};
    for (const uint64_t key : keys_) ++next[digit(key - low, shift)];
    size_t begin = 0;
    for (size_t& count : next) begin += std::exchange(count, begin);
    for (const uint64_t key : keys_) other_[next[digit(key - low, shift)]++] = key;
    keys_.swap(other_);
  }

  static size_t digit(uint64_t distance, unsigned shift) {
    return static_cast<size_t>(distance >> shift) & (kDigits - 1);
  }

  std::vector<uint64_t> keys_;
  std::vector<uint64_t> other_;
};

}  // namespace strata::stats
