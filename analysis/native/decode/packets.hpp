// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The packets of stream files: where they are and what their headers say, without their events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decode/bits.hpp"
#include "decode/fields.hpp"
#include "decode/file.hpp"

namespace ctf {

// One whole packet. Times are clock values (cycles); absent ones are kNone.
struct Packet {
  static constexpr uint64_t kNone = UINT64_MAX;

  size_t file = 0;
  uint64_t offset = 0;  // bytes in the file
  uint64_t bytes = 0;
  uint64_t content_bits = 0;
  uint64_t events_at = 0;  // bits from the packet's first to its first event
  uint64_t begin = kNone;
  uint64_t end = kNone;
  uint64_t sequence = kNone;
  uint64_t discarded = kNone;  // a running count of the stream, as of the packet's end
  uint64_t instance = kNone;
  uint8_t sequence_size = 64;  // bits: fewer than 64 wrap around
  uint8_t discarded_size = 64;
  uint64_t index_begin = kNone;   // what the index says, where nothing around tells who is right
  bool is_confirmed = false;      // the index says the same, or was taken
  bool begin_is_lost = false;     // `begin` is damaged, and nothing tells what it was
  bool has_strict_times = false;  // no event of it is outside `begin` to `end`
  const StreamClass* stream = nullptr;
};

// Bytes of a file that hold no packet that can be read.
struct Damage {
  size_t file = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  bool truncated = false;  // the file ends inside a packet; else the bytes are wrong
  std::string reason;
};

// The index of a file cannot be used, or says something else than its packets.
struct IndexFault {
  size_t file = 0;
  std::string reason;
};

inline constexpr const char* kContradicts =
    "of some packets it says something else than their headers";

// Headers of a file whose damage is mended, by what is around or the index.
struct Mended {
  size_t file = 0;
  uint64_t packets = 0;
};

struct PacketIndex {
  std::vector<Packet> packets;
  std::vector<Damage> damage;
  std::vector<Packet> missing;  // that the index of the file knows, and the file does not hold
  std::vector<IndexFault> faults;
  std::vector<Mended> mended;
  uint64_t now_bytes = 0;  // of the file, after its index was read
};

// What the header and context of one packet say.
struct PacketHeader {
  uint64_t stream_class = Packet::kNone;
  uint64_t instance = Packet::kNone;
  uint64_t packet_bits = Packet::kNone;
  uint64_t content_bits = Packet::kNone;
  uint64_t begin = Packet::kNone;
  uint64_t end = Packet::kNone;
  uint64_t sequence = Packet::kNone;
  uint64_t discarded = Packet::kNone;
  uint8_t begin_size = 64;  // bits: fewer than 64 wrap around
  uint8_t end_size = 64;
  uint8_t sequence_size = 64;
  uint8_t discarded_size = 64;
  uint64_t context_at = 0;  // bits before the context
  uint64_t bits = 0;        // that both take
  const StreamClass* stream = nullptr;
};

// Decodes both; throws DecodeError. `end` is the last bit that may be read. Takes from `steps`.
PacketHeader read_packet_header(const Layout& layout, const uint8_t* packet, uint64_t end,
                                Slots& slots, uint64_t& steps);

// A clock of which `size` bits are seen goes on from `before`: the new value is the next that ends
// in those bits.
inline uint64_t advance_clock(uint64_t before, uint64_t seen, unsigned size) {
  if (size >= 64) return seen;
  const uint64_t mask = (1ULL << size) - 1;
  const uint64_t value = (before & ~mask) | seen;
  return seen < (before & mask) ? value + mask + 1 : value;
}

// Finds the packets of one file. Never throws for what the file holds; throws std::system_error.
void index_file(const Layout& layout, const StreamFile& file, size_t number, OpenFiles& files,
                PacketIndex& index);

}  // namespace ctf
