// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Rows that wait for a whole-run rule, a few bytes each: whole numbers of seven bits a byte.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/column.hpp"

namespace strata {

class ByteRows {
 public:
  size_t size() const { return bytes_.size(); }

  void put_byte(uint8_t value) { bytes_.push_back(value); }

  void put(uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes_.push_back(static_cast<uint8_t>(value | 0x80U));
    bytes_.push_back(static_cast<uint8_t>(value));
  }

  // Small for numbers that are near zero on either side.
  void put_signed(int64_t value) {
    put(static_cast<uint64_t>(value) << 1U ^ static_cast<uint64_t>(value >> 63U));
  }

  // Reads what was put, in its order, from a place on where a value was put.
  class Cursor {
   public:
    explicit Cursor(const ByteRows& rows, size_t at = 0) : bytes_(rows.bytes_), at_(at) {}

    bool is_over() const { return at_ == bytes_.size(); }
    uint8_t byte() { return bytes_[at_++]; }
    uint64_t number() {
      uint64_t value = 0;
      for (unsigned shift = 0;; shift += 7) {
        const uint8_t part = bytes_[at_++];
        value |= static_cast<uint64_t>(part & 0x7FU) << shift;
        if (part < 0x80) return value;
      }
    }
    int64_t signed_number() {
      const uint64_t value = number();
      return static_cast<int64_t>(value >> 1U ^ (0 - (value & 1U)));
    }

   private:
    const Column<uint8_t>& bytes_;
    size_t at_;
  };

 private:
  Column<uint8_t> bytes_;
};

}  // namespace strata
