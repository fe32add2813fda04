// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Goes through one stream, packet by packet and event by event.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "decode/plan.hpp"
#include "decode/trace_set.hpp"

namespace ctf {

// The plans of the events of one stream class, by event id, and how their headers are read.
struct EventTable {
  // LTTng's two headers are read at once; any other is decoded field by field.
  enum class Header : uint8_t { any, lttng_compact, lttng_large };

  EventTable(const Layout& layout, const StreamClass& stream);

  Plan* find(uint64_t id) const {
    if (id < dense.size()) return dense[id];
    const auto found = sparse.find(id);
    return found == sparse.end() ? nullptr : found->second;
  }
  void put(uint64_t id, Plan* plan);

  const StreamClass* stream;
  Header header = Header::any;
  size_t id_slot = 0;  // of LTTng's headers
  ClockConverter clock;
  bool has_clock = false;
  bool has_ids = false;  // else there is one event class, and its id counts as 0
  std::vector<Plan*> dense;
  std::unordered_map<uint64_t, Plan*> sparse;
};

class StreamCursor {
 public:
  StreamCursor(const TraceSet& traces, const Stream& stream, uint32_t rank)
      : traces_(&traces), stream_(&stream), rank_(rank) {}

  // What the merge sorts by: the next event's time; before a packet is read, what no event of it
  // can be earlier than.
  int64_t time = INT64_MIN;
  Plan* plan = nullptr;  // of the event that the cursor stands at; null before one

  uint32_t rank() const { return rank_; }
  const uint8_t* anchor(size_t segment) const { return anchors_[segment]; }
  uint64_t body() const { return body_; }
  // Of the event: the bit behind it, and its time in cycles; and the packet's first byte.
  uint64_t end() const { return next_; }
  uint64_t cycles() const { return clock_; }
  bool counts_ns() const { return table_->has_clock && table_->clock.counts_ns(); }
  const uint8_t* bytes() const { return buffer_.get(); }
  Slots& slots() { return slots_; }

  // Whether there is a packet after this one. `tables` gives the event tables by stream class.
  bool has_packet() const { return packet_ < stream_->packets.size(); }
  const Packet& packet() const { return stream_->packets[packet_]; }
  const Packet* packet_before() const {
    return packet_ == 0 ? nullptr : &stream_->packets[packet_ - 1];
  }
  const Packet* packet_after() const {
    return packet_ + 1 < stream_->packets.size() ? &stream_->packets[packet_ + 1] : nullptr;
  }
  void skip_packet() { ++packet_; }
  void expect(const EventTable& table);

  // Reads the next packet whole; throws std::system_error, or DecodeError for a packet that
  // changed since it was indexed.
  void load(OpenFiles& files, const EventTable& table, PacketValues& shared);

  // Goes to the next event; false at the end of the packet. Throws DecodeError, and then
  // `unread_bits` is what is left of the packet.
  bool advance(const PacketValues& shared);
  uint64_t unread_bits() const { return end_ - at_; }
  // Events of the packet so far that were passed, as their times are not of the packet.
  uint64_t misplaced() const { return misplaced_; }
  void free_buffer() {
    buffer_.reset();
    capacity_ = 0;
  }
  // About what the event adds to its columns.
  uint64_t event_bytes() const { return bytes_; }

 private:
  static constexpr size_t kSlack = 32;  // readable bytes behind the packet, for whole-word loads

  bool is_misplaced(uint64_t before);
  void bound_times();
  uint64_t read_header();
  uint64_t read_any_header();
  void find_end(const PacketValues& shared);
  void walk();
  void measure(const PacketValues& shared);
  void reserve(uint64_t bytes);

  const TraceSet* traces_;
  const Stream* stream_;
  uint32_t rank_;
  size_t packet_ = 0;
  const EventTable* table_ = nullptr;
  std::unique_ptr<uint8_t[]> buffer_;
  uint64_t capacity_ = 0;
  Slots slots_;
  uint64_t at_ = 0;    // bits: the event's first
  uint64_t body_ = 0;  // its first after the header
  uint64_t next_ = 0;  // behind it
  uint64_t end_ = 0;   // of the packet's content
  uint64_t clock_ = 0;
  uint64_t first_ = 0;          // clock values: the earliest of an event
  uint64_t span_ = UINT64_MAX;  // from it to the last
  bool has_bounds_ = false;
  bool time_is_whole_ = false;  // the event's header has all bits of its time
  bool clock_is_lost_ = false;  // until a header has all bits again
  uint64_t misplaced_ = 0;
  uint64_t steps_ = 0;  // that are left to the packet
  uint64_t context_steps_ = 0;
  uint64_t context_bytes_ = 0;
  uint64_t bytes_ = 0;
  std::array<const uint8_t*, kMaxSegments + 2> anchors_{};
};

}  // namespace ctf
