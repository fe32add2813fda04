// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "metadata/metadata.hpp"

#include <bit>
#include <cstring>
#include <string>

namespace ctf {
namespace {

// CTF 1.8, 7.1: magic u32, uuid 16 B, checksum u32, content bits u32, packet bits u32, compression,
// encryption and checksum schemes u8, major u8, minor u8; the text follows.
constexpr uint32_t kPacketMagic = 0x75D11D57;
constexpr size_t kPacketHeader = 37;
constexpr size_t kContentBits = 24;
constexpr size_t kPacketBits = 28;
constexpr size_t kSchemes = 32;

uint32_t load(std::span<const uint8_t> bytes, size_t at, bool swapped) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return swapped ? __builtin_bswap32(value) : value;
}

[[noreturn]] void fail_at(size_t at, const std::string& fact) {
  throw MetadataError("byte " + std::to_string(at), fact);
}

std::string unpack(std::span<const uint8_t> bytes, bool swapped) {
  std::string text;
  size_t at = 0;
  while (at < bytes.size()) {
    const size_t left = bytes.size() - at;
    if (left < kPacketHeader) {
      fail_at(at, "the packet needs " + std::to_string(kPacketHeader) + " bytes and the file has " +
                      std::to_string(left) + " more; it was cut");
    }
    const size_t content = load(bytes, at + kContentBits, swapped) / 8;
    const size_t packet = load(bytes, at + kPacketBits, swapped) / 8;
    if (load(bytes, at, swapped) != kPacketMagic || content < kPacketHeader || content > packet) {
      fail_at(at, "no metadata packet of CTF 1.8 begins here; the file is damaged");
    }
    if (content > left) {
      fail_at(at, "the packet needs " + std::to_string(content) + " bytes and the file has " +
                      std::to_string(left) + " more; it was cut");
    }
    if (bytes[at + kSchemes] != 0 || bytes[at + kSchemes + 1] != 0) {
      fail_at(at + kSchemes, "compressed or encrypted metadata are not supported");
    }
    text.append(reinterpret_cast<const char*>(bytes.data()) + at + kPacketHeader,
                content - kPacketHeader);
    at += packet;
  }
  return text;
}

}  // namespace

std::string unpack_metadata(std::span<const uint8_t> bytes) {
  if (bytes.size() > kMaxMetadataBytes)
    fail_at(0, "metadata of more than 64 MiB are not supported");
  if (bytes.size() >= 4) {
    if (load(bytes, 0, false) == kPacketMagic) return unpack(bytes, false);
    if (load(bytes, 0, true) == kPacketMagic) return unpack(bytes, true);
  }
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::shared_ptr<Layout> parse_metadata(std::span<const uint8_t> bytes) {
  const std::string text = unpack_metadata(bytes);
  constexpr char kRecordSeparator = '\x1e';
  auto layout = std::make_shared<Layout>(
      !text.empty() && text.front() == kRecordSeparator ? parse_ctf2(text) : parse_tsdl(text));
  complete(*layout);
  return layout;
}

}  // namespace ctf
