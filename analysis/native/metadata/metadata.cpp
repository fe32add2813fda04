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
constexpr uint32_t kMetadataPacketMagic = 0x75D11D57;
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

// What is before the packet that is cut or damaged counts, and what is there of one that is cut.
std::string unpack(std::span<const uint8_t> bytes, bool swapped, std::string& cut) {
  std::string text;
  const auto ends_at = [&](size_t at, const std::string& fact) {
    if (text.empty()) fail_at(at, fact);
    cut = "byte " + std::to_string(at) + ": " + fact;
    return text;
  };
  size_t at = 0;
  while (at < bytes.size()) {
    const size_t left = bytes.size() - at;
    const auto needs = [&](size_t count) {
      return "the packet needs " + std::to_string(count) + " bytes and the file has " +
             std::to_string(left) + " more; it was cut";
    };
    if (left < kPacketHeader) return ends_at(at, needs(kPacketHeader));
    const size_t content = load(bytes, at + kContentBits, swapped) / 8;
    const size_t packet = load(bytes, at + kPacketBits, swapped) / 8;
    if (load(bytes, at, swapped) != kMetadataPacketMagic || content < kPacketHeader ||
        content > packet) {
      return ends_at(at, "no metadata packet of CTF 1.8 begins here; the file is damaged");
    }
    if (content > left) {
      const std::string fact = needs(content);
      if (text.empty()) fail_at(at, fact);
      text.append(reinterpret_cast<const char*>(bytes.data()) + at + kPacketHeader,
                  left - kPacketHeader);
      return ends_at(at, fact);
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

constexpr char kRecordSeparator = '\x1e';

// The part of TSDL up to the end of the last declaration that stands in no other.
std::string_view whole_declarations(std::string_view text) {
  size_t whole = 0;
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      for (++i; i < text.size() && text[i] != c; ++i) i += text[i] == '\\' ? 1 : 0;
    } else if (c == '/' && i + 1 < text.size() && (text[i + 1] == '*' || text[i + 1] == '/')) {
      const bool block = text[i + 1] == '*';
      const size_t end = text.find(block ? "*/" : "\n", i + 2);
      if (end == std::string_view::npos) break;
      i = end + (block ? 1 : 0);
    } else if (c == '{') {
      ++depth;
    } else if (c == '}') {
      depth -= depth > 0 ? 1 : 0;
    } else if (c == ';' && depth == 0) {
      whole = i + 1;
    }
  }
  return text.substr(0, whole);
}

Layout parse_whole(std::string_view text, bool is_json) {
  Layout layout = is_json ? parse_ctf2(text) : parse_tsdl(text);
  complete(layout);
  return layout;
}

// Of a text that ends inside a declaration, what is before it.
Layout parse_text(std::string_view text, std::string& cut) {
  const bool is_json = !text.empty() && text.front() == kRecordSeparator;
  try {
    return parse_whole(text, is_json);
  } catch (const MetadataError& error) {
    const std::string_view whole =
        is_json ? text.substr(0, text.rfind(kRecordSeparator)) : whole_declarations(text);
    const std::string_view rest = text.substr(whole.size());
    if (whole.empty() || rest.find_first_not_of(" \t\r\n\x1e") == std::string_view::npos) throw;
    Layout layout;
    try {
      layout = parse_whole(whole, is_json);
    } catch (const MetadataError&) {
      throw error;
    }
    // Without a stream nothing could be read; then the mistake itself tells more.
    if (layout.streams.empty()) throw;
    if (cut.empty()) cut = error.what();
    return layout;
  }
}

}  // namespace

std::string unpack_metadata(std::span<const uint8_t> bytes, std::string& cut) {
  if (bytes.size() > kMaxMetadataBytes)
    fail_at(0, "metadata of more than 64 MiB are not supported");
  if (bytes.size() >= 4) {
    if (load(bytes, 0, false) == kMetadataPacketMagic) return unpack(bytes, false, cut);
    if (load(bytes, 0, true) == kMetadataPacketMagic) return unpack(bytes, true, cut);
  }
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::shared_ptr<Layout> parse_metadata(std::span<const uint8_t> bytes) {
  std::string cut;
  const std::string text = unpack_metadata(bytes, cut);
  auto layout = std::make_shared<Layout>(parse_text(text, cut));
  layout->cut = std::move(cut);
  return layout;
}

}  // namespace ctf
