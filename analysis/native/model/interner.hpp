// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Runs of bytes (texts, GUIDs) that are kept once each, as dense numbers in the order of their
// first use.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "model/column.hpp"

namespace strata {

class Interner {
 public:
  // The number of some bytes.
  int64_t number(std::string_view bytes) {
    if (2 * (entries_.size() + 1) > slots_.size()) rehash();
    const uint64_t hash = hash_of(bytes);
    for (size_t at = hash & mask();; at = (at + 1) & mask()) {
      const int32_t entry = slots_[at];
      if (entry < 0) {
        if (entries_.size() == kMostRows) [[unlikely]]
          refuse_row("texts");
        slots_[at] = static_cast<int32_t>(entries_.size());
        hashes_.push_back(hash);
        entries_.emplace_back(bytes);
        return slots_[at];
      }
      const auto row = static_cast<size_t>(entry);
      if (hashes_[row] == hash && entries_[row] == bytes) return entry;
    }
  }

  std::string_view operator[](int64_t number) const {
    return entries_[static_cast<size_t>(number)];
  }
  size_t size() const { return entries_.size(); }

 private:
  size_t mask() const { return slots_.size() - 1; }

  // FNV-1a over words: short keys, of which many differ in few bits.
  static uint64_t hash_of(std::string_view bytes) {
    uint64_t hash = 0xcbf29ce484222325U ^ bytes.size();
    const char* at = bytes.data();
    size_t left = bytes.size();
    for (; left >= 8; at += 8, left -= 8) {
      uint64_t word = 0;
      std::memcpy(&word, at, 8);
      hash = mixed(hash ^ word);
    }
    uint64_t word = 0;
    if (left > 0) std::memcpy(&word, at, left);
    return mixed(hash ^ word);
  }

  static uint64_t mixed(uint64_t value) {
    value *= 0x9e3779b97f4a7c15U;
    return value ^ value >> 32U;
  }

  void rehash() {
    slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), -1);
    for (size_t row = 0; row < entries_.size(); ++row) {
      size_t at = hashes_[row] & mask();
      while (slots_[at] >= 0) at = (at + 1) & mask();
      slots_[at] = static_cast<int32_t>(row);
    }
  }

  std::deque<std::string> entries_;  // a deque: views of them stay
  std::vector<uint64_t> hashes_;
  std::vector<int32_t> slots_;  // open addressing; -1 is free; a power of two
};

}  // namespace strata
