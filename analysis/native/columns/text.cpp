// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "columns/text.hpp"

#include "decode/bits.hpp"

namespace ctf {
namespace {

constexpr uint32_t kReplacement = 0xFFFD;

void append(std::string& out, uint32_t point) {
  const auto put = [&out](uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | point >> 6U);
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12U);
    put(0x80 | (point >> 6U & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | point >> 18U);
    put(0x80 | (point >> 12U & 0x3F));
    put(0x80 | (point >> 6U & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

struct Sequence {
  unsigned bytes;  // how many belong together, valid or not
  bool valid;
};

// Unicode 16, table 3-7: which bytes may follow which.
Sequence sequence_at(std::span<const uint8_t> bytes) {
  const uint8_t lead = bytes[0];
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const unsigned wanted = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  for (unsigned i = 1; i < wanted; ++i) {
    if (i >= bytes.size() || bytes[i] < low || bytes[i] > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {wanted, true};
}

std::string from_utf8(std::span<const uint8_t> bytes) {
  std::string out;
  while (!bytes.empty()) {
    const Sequence found = sequence_at(bytes);
    if (found.valid) {
      out.append(reinterpret_cast<const char*>(bytes.data()), found.bytes);
    } else {
      append(out, kReplacement);
    }
    bytes = bytes.subspan(found.bytes);
  }
  return out;
}

uint32_t unit_at(std::span<const uint8_t> bytes, size_t at, unsigned width, bool big) {
  const auto value = static_cast<uint32_t>(load_bytes(bytes.data() + at, width));
  if (!big) return value;
  return width == 2 ? __builtin_bswap16(static_cast<uint16_t>(value)) : __builtin_bswap32(value);
}

std::string from_utf16(std::span<const uint8_t> bytes, bool big) {
  std::string out;
  size_t at = 0;
  for (; at + 2 <= bytes.size(); at += 2) {
    const uint32_t unit = unit_at(bytes, at, 2, big);
    if (unit == 0) return out;
    if (unit < 0xD800 || unit > 0xDFFF) {
      append(out, unit);
      continue;
    }
    const uint32_t next = at + 4 <= bytes.size() ? unit_at(bytes, at + 2, 2, big) : 0;
    if (unit < 0xDC00 && next >= 0xDC00 && next <= 0xDFFF) {
      append(out, 0x10000 + ((unit - 0xD800) << 10U) + (next - 0xDC00));
      at += 2;
    } else {
      append(out, kReplacement);
    }
  }
  if (at < bytes.size()) append(out, kReplacement);
  return out;
}

std::string from_utf32(std::span<const uint8_t> bytes, bool big) {
  std::string out;
  size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    const uint32_t point = unit_at(bytes, at, 4, big);
    if (point == 0) return out;
    const bool valid = point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
    append(out, valid ? point : kReplacement);
  }
  if (at < bytes.size()) append(out, kReplacement);
  return out;
}

}  // namespace

std::string to_utf8(std::span<const uint8_t> bytes, Encoding encoding) {
  switch (encoding) {
    case Encoding::utf16le:
    case Encoding::utf16be:
      return from_utf16(bytes, encoding == Encoding::utf16be);
    case Encoding::utf32le:
    case Encoding::utf32be:
      return from_utf32(bytes, encoding == Encoding::utf32be);
    default:
      break;
  }
  const void* end = bytes.empty() ? nullptr : std::memchr(bytes.data(), 0, bytes.size());
  if (end != nullptr) {
    bytes = bytes.first(static_cast<size_t>(static_cast<const uint8_t*>(end) - bytes.data()));
  }
  return from_utf8(bytes);
}

}  // namespace ctf
