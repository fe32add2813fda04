// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// A position in the bits of one packet, and how numbers are read there.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "metadata/layout.hpp"

namespace ctf {

static_assert(std::endian::native == std::endian::little, "the loads below are little-endian");

// Why the rest of a packet cannot be read. Static text: it is made for each such packet.
struct DecodeError {
  const char* reason;
  bool beyond = false;  // more bytes would have helped
};

inline uint64_t load_bytes(const uint8_t* at, unsigned bytes) {
  uint64_t value = 0;
  std::memcpy(&value, at, bytes);
  return value;
}

inline uint64_t sign_extend(uint64_t value, unsigned bits) {
  const unsigned shift = 64 - bits;
  return static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift);
}

inline uint64_t reverse_bits(uint64_t value, unsigned bits) {
  uint64_t reversed = 0;
  for (unsigned i = 0; i < bits; ++i) reversed |= (value >> i & 1U) << (bits - 1 - i);
  return reversed;
}

// Counts bits from the packet's first byte: alignments are relative to it.
class BitCursor {
 public:
  BitCursor(const uint8_t* packet, uint64_t at, uint64_t end)
      : packet_(packet), at_(at), end_(end) {}

  uint64_t at() const { return at_; }
  uint64_t left() const { return end_ - at_; }
  const uint8_t* byte() const { return packet_ + at_ / 8; }

  void align(uint32_t alignment) {
    const uint64_t aligned = (at_ + alignment - 1) & ~static_cast<uint64_t>(alignment - 1);
    if (aligned > end_) throw DecodeError{"a field is aligned beyond the packet's content", true};
    at_ = aligned;
  }

  void skip(uint64_t bits) {
    require(bits);
    at_ += bits;
  }

  // An unsigned integer of 1 to 64 bits. CTF numbers bits from the least significant one in
  // little-endian fields, and from the most significant one in big-endian fields.
  uint64_t integer(unsigned bits, ByteOrder order) {
    require(bits);
    // The first field of a cursor may begin within a byte: then the order before is not known.
    if (at_ % 8 != 0 && order != order_ && order_ != ByteOrder::native) {
      throw DecodeError{"the byte order changes within a byte"};
    }
    order_ = order;
    const uint64_t value =
        order == ByteOrder::big ? big_integer(at_, bits) : little_integer(at_, bits);
    at_ += bits;
    return value;
  }

  // Bytes from here to the first zero byte, which is passed too; null when there is none.
  const uint8_t* string_end() const {
    const uint64_t bytes = left() / 8;
    return bytes == 0 ? nullptr : static_cast<const uint8_t*>(std::memchr(byte(), 0, bytes));
  }

 private:
  void require(uint64_t bits) const {
    if (bits > end_ - at_) throw DecodeError{"a field ends beyond the packet's content", true};
  }

  uint64_t little_integer(uint64_t at, unsigned bits) const {
    const uint8_t* first = packet_ + at / 8;
    const unsigned shift = at % 8;
    const unsigned bytes = (shift + bits + 7) / 8;
    uint64_t value = load_bytes(first, bytes > 8 ? 8 : bytes) >> shift;
    if (bytes == 9) value |= static_cast<uint64_t>(first[8]) << (64 - shift);
    return bits == 64 ? value : value & ((1ULL << bits) - 1);
  }

  uint64_t big_integer(uint64_t at, unsigned bits) const {
    const uint8_t* first = packet_ + at / 8;
    const unsigned shift = at % 8;
    const unsigned bytes = (shift + bits + 7) / 8;
    const unsigned unused = bytes * 8 - shift - bits;
    // Up to nine bytes hold the field: 128 bits are enough.
    unsigned __int128 wide = 0;
    for (unsigned i = 0; i < bytes; ++i) wide = wide << 8U | first[i];
    const auto value = static_cast<uint64_t>(wide >> unused);
    return bits == 64 ? value : value & ((1ULL << bits) - 1);
  }

  const uint8_t* packet_;
  uint64_t at_;
  uint64_t end_;
  ByteOrder order_ = ByteOrder::native;
};

}  // namespace ctf
