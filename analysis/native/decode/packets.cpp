// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "decode/packets.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "decode/witness.hpp"

namespace ctf {
namespace {

constexpr uint64_t kStreamPacketMagic = 0xC1FC1FC1;
// Enough for the header and context of every known producer; more is read when it is not.
constexpr size_t kFirstRead = 512;
constexpr size_t kLargestHeader = 1U << 20;
// A packet is not smaller than its header, and each read takes sixteen times the one before: what
// is whole never needs more.
constexpr uint64_t kReadsAgain = 32;
constexpr uint64_t kFreeReads = 16U << 20;
// Fields may have no bits: what they cost is bounded over all headers of a file.
constexpr uint64_t kFreeHeaderSteps = 1U << 20;
constexpr uint64_t kHeaderStepsPerByte = 32;
constexpr size_t kFirstSearch = 4096;
constexpr size_t kLargestSearch = 1U << 20;
// Real packets are pages: this is 32 GiB of the smallest.
constexpr uint64_t kMostPackets = 1U << 23;
// A packet is read whole, and its text, which may grow threefold, has offsets of 31 bits.
constexpr uint64_t kLargestPacket = 512U << 20;

class ReadHeader {
 public:
  ReadHeader(PacketHeader& header, const std::optional<Uuid>& uuid)
      : header_(header), uuid_(uuid) {}

  void integer(const FieldClass& field, uint64_t value) {
    if (collecting_) {
      uuid_bytes_.push_back(static_cast<uint8_t>(value));
      return;
    }
    if ((field.roles & packet_magic) != 0 && value != kStreamPacketMagic) {
      throw DecodeError{"no packet begins here (its magic number is wrong)"};
    }
    uint8_t unsized = 64;
    const auto set = [&](Role role, uint64_t& target, uint8_t& size) {
      if ((field.roles & role) == 0) return;
      target = value;
      size = static_cast<uint8_t>(field.size == 0 ? 64 : field.size);
    };
    set(stream_class_id, header_.stream_class, unsized);
    set(stream_id, header_.instance, unsized);
    set(packet_bits, header_.packet_bits, unsized);
    set(content_bits, header_.content_bits, unsized);
    set(begin_timestamp, header_.begin, header_.begin_size);
    set(end_timestamp, header_.end, header_.end_size);
    set(sequence_number, header_.sequence, header_.sequence_size);
    set(discarded_events, header_.discarded, header_.discarded_size);
  }
  void bytes(const FieldClass& field, std::span<const uint8_t> bytes) {
    if ((field.roles & trace_uuid) != 0) check_uuid(bytes);
  }
  void begin_array(const FieldClass& field, uint64_t) {
    collecting_ = (field.roles & trace_uuid) != 0;
  }
  void end_array(const FieldClass&) {
    if (collecting_) check_uuid(uuid_bytes_);
    collecting_ = false;
  }
  void real(const FieldClass&, double) {}
  void begin_structure(const FieldClass&) {}
  void member(const FieldClass&, size_t) {}
  void end_structure(const FieldClass&) {}
  void begin_choice(const FieldClass&, int) {}
  void end_choice(const FieldClass&) {}

 private:
  void check_uuid(std::span<const uint8_t> bytes) const {
    if (uuid_ && !std::ranges::equal(bytes, *uuid_)) {
      throw DecodeError{"the packet is of another trace (its UUID is not the metadata's)"};
    }
  }

  PacketHeader& header_;
  const std::optional<Uuid>& uuid_;
  std::vector<uint8_t> uuid_bytes_;
  bool collecting_ = false;
};

// Walks one file from packet to packet.
class FileIndexer {
 public:
  FileIndexer(const Layout& layout, const StreamFile& file, size_t number, OpenFiles& files,
              const IndexFile& witness, PacketIndex& index)
      : layout_(layout),
        file_(file),
        number_(number),
        files_(files),
        index_(index),
        slots_(static_cast<size_t>(layout.slot_count)),
        steps_(kFreeHeaderSteps + kHeaderStepsPerByte * file.bytes) {
    for (const auto& entry : witness.entries) known_.emplace(entry.offset, &entry);
  }

  void run() {
    uint64_t at = 0;
    while (at < file_.bytes) at = step(at);
  }

 private:
  // Takes the packet at `at` and returns where the next one begins.
  uint64_t step(uint64_t at) {
    PacketHeader header;
    try {
      header = header_at(at);
      if (header.packet_bits == Packet::kNone) header.packet_bits = header.content_bits;
      mend_size(at, header);
      check(header);
    } catch (const DecodeError& error) {
      return damaged(at, error.reason);
    }
    const uint64_t left = file_.bytes - at;
    const uint64_t bytes = header.packet_bits == Packet::kNone ? left : header.packet_bits / 8;
    if (bytes > left) {
      index_.damage.push_back({number_, at, left, true, "the file ends inside a packet"});
      return file_.bytes;
    }
    if (++count_ > kMostPackets) return damaged(at, "a file has more packets than are supported");
    add(header, at, bytes);
    return at + bytes;
  }

  // Takes the index's word for the size of a packet where the next one begins there, and not where
  // the header says; and for its content where the header's cannot be.
  void mend_size(uint64_t at, PacketHeader& header) {
    const auto found = known_.find(at);
    if (found == known_.end()) return;
    const uint64_t content = found->second->content_bits;
    if (found->second->bytes * 8 == header.packet_bits) {
      const bool impossible =
          header.content_bits != Packet::kNone &&
          (header.content_bits > header.packet_bits || header.content_bits < header.bits);
      if (!impossible || content > header.packet_bits || content < header.bits) return;
      header.content_bits = content;
      index_.mended.push_back({number_, 1});
      return;
    }
    if (found->second->bytes > file_.bytes - at || begins_packet(at, header.packet_bits)) return;
    if (!begins_packet(at, found->second->bytes * 8)) return;
    header.packet_bits = found->second->bytes * 8;
    if (header.content_bits > header.packet_bits) header.content_bits = content;
    index_.mended.push_back({number_, 1});
  }

  // Whether the file ends that far behind `at`, or another packet begins there.
  bool begins_packet(uint64_t at, uint64_t bits) {
    const uint64_t left = file_.bytes - at;
    if (bits % 8 != 0 || bits / 8 > left || bits == 0) return false;
    if (bits / 8 == left) return true;
    const auto& mark = signature();
    std::vector<uint8_t> bytes(mark.size());
    const size_t got = files_.read(number_, at + bits / 8, bytes.data(), bytes.size());
    return got == bytes.size() && bytes == mark;
  }

  PacketHeader header_at(uint64_t at) {
    for (size_t want = kFirstRead;; want *= 16) {
      if (block_.size() < want + 8) block_.resize(want + 8);
      const size_t got = files_.read(number_, at, block_.data(), want);
      if (want > kFirstRead) read_again_ += want;
      try {
        return read_packet_header(layout_, block_.data(), got * 8, slots_, steps_);
      } catch (const DecodeError& error) {
        const bool all = got < want || want >= kLargestHeader ||
                         read_again_ > kFreeReads + kReadsAgain * file_.bytes;
        if (error.beyond && got == file_.bytes - at && cut_short(block_.data(), got)) {
          throw DecodeError{kCut};
        }
        if (all || !error.beyond) throw;
      }
    }
  }

  // Whether what is there of a packet begins as a packet does.
  bool cut_short(const uint8_t* bytes, size_t count) const {
    const size_t known = std::min(count, signature().size());
    return std::equal(bytes, bytes + known, signature().begin());
  }

  static void check(const PacketHeader& header) {
    if (header.packet_bits == Packet::kNone) return;
    if (header.packet_bits % 8 != 0) throw DecodeError{"a packet's size is not in whole bytes"};
    if (header.packet_bits == 0 || header.packet_bits < header.bits) {
      throw DecodeError{"a packet's size is smaller than its header"};
    }
    const uint64_t content =
        header.content_bits == Packet::kNone ? header.packet_bits : header.content_bits;
    if (content > header.packet_bits) throw DecodeError{"a packet's content is larger than it is"};
    if (content < header.bits) throw DecodeError{"a packet's content is smaller than its header"};
  }

  void add(const PacketHeader& header, uint64_t at, uint64_t bytes) {
    Packet packet;
    packet.file = number_;
    packet.offset = at;
    packet.bytes = bytes;
    packet.content_bits =
        header.content_bits == Packet::kNone ? bytes * 8 : std::min(header.content_bits, bytes * 8);
    packet.events_at = header.bits;
    if (packet.content_bits / 8 > kLargestPacket) {
      index_.damage.push_back(
          {number_, at, bytes, false, "a packet of more than 512 MiB is not supported"});
      return;
    }
    if (header.begin != Packet::kNone) {
      clock_ = packet.begin = advance_clock(clock_, header.begin, header.begin_size);
    }
    if (header.end != Packet::kNone) {
      clock_ = packet.end = advance_clock(clock_, header.end, header.end_size);
    }
    packet.sequence = header.sequence;
    packet.sequence_size = header.sequence_size;
    packet.discarded = header.discarded;
    packet.discarded_size = header.discarded_size;
    packet.instance = header.instance;
    packet.stream = header.stream;
    index_.packets.push_back(packet);
  }

  // Records the bytes from `at` to where the next packet can be recognised.
  uint64_t damaged(uint64_t at, const char* reason) {
    if (reason == kCut) {
      index_.damage.push_back(
          {number_, at, file_.bytes - at, true, "the file ends inside a packet"});
      return file_.bytes;
    }
    const uint64_t next = find_packet(at + 1);
    index_.damage.push_back({number_, at, next - at, false, reason});
    return next;
  }

  // The first bytes of every packet, when they can be told from others: magic number and UUID.
  const std::vector<uint8_t>& signature() const {
    if (!signature_) signature_ = make_signature();
    return *signature_;
  }

  std::vector<uint8_t> make_signature() const {
    const FieldClass* header = layout_.packet_header.get();
    if (header == nullptr || header->members.empty()) return {};
    const FieldClass& magic = *header->members.front().field;
    if ((magic.roles & packet_magic) == 0 || magic.size != 32) return {};
    std::vector<uint8_t> bytes = {0xC1, 0x1F, 0xFC, 0xC1};
    if (magic.order == ByteOrder::big) std::reverse(bytes.begin(), bytes.end());
    if (header->members.size() > 1 && layout_.uuid &&
        (header->members[1].field->roles & trace_uuid) != 0 &&
        header->members[1].field->alignment <= 32) {
      bytes.insert(bytes.end(), layout_.uuid->begin(), layout_.uuid->end());
    }
    return bytes;
  }

  uint64_t find_packet(uint64_t from) {
    const auto& mark = signature();
    if (mark.size() < 20) return file_.bytes;
    // The next packet may be near, and again damaged: a large first block would be read for each.
    std::vector<uint8_t> block;
    size_t size = kFirstSearch;
    for (uint64_t at = from; at < file_.bytes;) {
      block.resize(size + mark.size());
      const size_t got = files_.read(number_, at, block.data(), block.size());
      const auto end = block.begin() + static_cast<ptrdiff_t>(got);
      const auto found = std::search(block.begin(), end, mark.begin(), mark.end());
      if (found != end) return at + static_cast<uint64_t>(found - block.begin());
      at += size;
      size = std::min(size * 4, kLargestSearch);
    }
    return file_.bytes;
  }

  static constexpr const char* kCut = "cut";

  const Layout& layout_;
  const StreamFile& file_;
  size_t number_;
  OpenFiles& files_;
  PacketIndex& index_;
  std::unordered_map<uint64_t, const IndexEntry*> known_;  // by offset
  Slots slots_;
  std::vector<uint8_t> block_;
  mutable std::optional<std::vector<uint8_t>> signature_;
  uint64_t clock_ = 0;
  uint64_t count_ = 0;
  uint64_t read_again_ = 0;  // bytes, for headers that the first read did not hold
  uint64_t steps_;           // that are left to the headers of the file
};

uint64_t size_now(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

}  // namespace

PacketHeader read_packet_header(const Layout& layout, const uint8_t* packet, uint64_t end,
                                Slots& slots, uint64_t& steps) {
  PacketHeader header;
  ReadHeader visitor(header, layout.uuid);
  BitCursor cursor(packet, 0, end);
  decode_field(layout.packet_header.get(), cursor, slots, visitor, steps);
  // Without ids in the header there can be but one class.
  const auto stream = header.stream_class == Packet::kNone
                          ? layout.streams.begin()
                          : layout.streams.find(header.stream_class);
  if (stream == layout.streams.end()) {
    throw DecodeError{"a packet is of a stream class that the metadata do not declare"};
  }
  header.stream = &stream->second;
  header.context_at = cursor.at();
  decode_field(header.stream->packet_context.get(), cursor, slots, visitor, steps);
  header.bits = cursor.at();
  return header;
}

void index_file(const Layout& layout, const StreamFile& file, size_t number, OpenFiles& files,
                PacketIndex& index) {
  IndexFile witness = read_index_file(file.path);
  if (witness.out_of_descriptors) {
    files.close_all();
    witness = read_index_file(file.path);
  }
  index.now_bytes = size_now(file.path);
  FileIndexer(layout, file, number, files, witness, index).run();
  const bool strict = has_strict_times(layout);
  for (auto& packet : index.packets) packet.has_strict_times = strict;
  if (!witness.fault.empty()) index.faults.push_back({number, witness.fault});
  if (!witness.entries.empty()) {
    hold_against_index(layout, number, file.bytes, witness, index.packets, index);
  }
  if (strict) hold_against_neighbours(number, index.packets, index);
}

}  // namespace ctf
