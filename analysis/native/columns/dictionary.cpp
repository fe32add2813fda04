// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "columns/dictionary.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "columns/text.hpp"
#include "decode/bits.hpp"

namespace ctf {
namespace {

// Chosen anew in each process: nobody can write a trace whose strings all collide.
struct Secret {
  uint64_t first;
  uint64_t second;

  Secret() {
    std::random_device device;
    const auto word = [&] { return static_cast<uint64_t>(device()) << 32U | device(); };
    first = word();
    second = word();
  }
};

const Secret kSecret;

// Multiply and fold, as wyhash does.
uint64_t mix(uint64_t a, uint64_t b) {
  const unsigned __int128 product =
      static_cast<unsigned __int128>(a ^ kSecret.first) * (b ^ kSecret.second);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64U);
}

uint64_t hash(std::span<const uint8_t> bytes) {
  uint64_t state = bytes.size();
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) state = mix(state, load_bytes(bytes.data() + at, 8));
  if (at < bytes.size()) {
    state = mix(state, load_bytes(bytes.data() + at, static_cast<unsigned>(bytes.size() - at)));
  }
  return mix(state, state >> 29U);
}

}  // namespace

Dictionary::Dictionary(const std::shared_ptr<BlockPool>& pool)
    : offsets_(pool), text_(pool), slots_(kFirstSlots, -1), recent_(kFirstSlots) {
  offsets_.push<int32_t>(0);
}

std::span<const uint8_t> Dictionary::entry(int32_t code) const {
  const auto* offsets = offsets_.as<int32_t>();
  const auto begin = static_cast<size_t>(offsets[code]);
  return {text_.data() + begin, static_cast<size_t>(offsets[code + 1]) - begin};
}

int32_t Dictionary::code(std::span<const uint8_t> bytes, Encoding encoding) {
  // LTTng's procname is 17 bytes, the last of them always zero.
  const size_t length = bytes.size() == 17 && bytes[16] == 0 ? 16 : bytes.size();
  if (length > 16 || encoding != Encoding::utf8) {
    const std::string text = to_utf8(bytes, encoding);
    return code_of_utf8({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }
  uint64_t low = 0;
  uint64_t high = 0;
  if (length == 16) {
    low = load_bytes(bytes.data(), 8);
    high = load_bytes(bytes.data() + 8, 8);
  } else {
    low = load_bytes(bytes.data(), static_cast<unsigned>(std::min<size_t>(length, 8)));
    if (length > 8) high = load_bytes(bytes.data() + 8, static_cast<unsigned>(length - 8));
  }
  const Recent& recent = recent_[mix(low, high) & (recent_.size() - 1)];
  if (recent.low == low && recent.high == high && recent.length == length && recent.code >= 0) {
    return recent.code;
  }
  const std::string text = to_utf8(bytes, encoding);
  const int32_t found = code_of_utf8({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  // The lookup may have made more room.
  recent_[mix(low, high) & (recent_.size() - 1)] = {low, high, found,
                                                    static_cast<uint32_t>(length)};
  return found;
}

int32_t Dictionary::code_of_utf8(std::span<const uint8_t> bytes) {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash(bytes) & mask;
  for (; slots_[slot] >= 0; slot = (slot + 1) & mask) {
    const auto known = entry(slots_[slot]);
    if (std::ranges::equal(known, bytes)) return slots_[slot];
  }
  const auto code = static_cast<int32_t>(size());
  text_.append(bytes);
  offsets_.push(static_cast<int32_t>(text_.size()));
  slots_[slot] = code;
  if (static_cast<size_t>(code) * 2 > slots_.size()) rehash();
  return code;
}

void Dictionary::rehash() {
  slots_.assign(slots_.size() * 4, -1);
  if (recent_.size() < kMostRecent) recent_.assign(slots_.size(), {});
  const size_t mask = slots_.size() - 1;
  for (int32_t code = 0; code < size(); ++code) {
    size_t slot = hash(entry(code)) & mask;
    while (slots_[slot] >= 0) slot = (slot + 1) & mask;
    slots_[slot] = code;
  }
}

}  // namespace ctf
