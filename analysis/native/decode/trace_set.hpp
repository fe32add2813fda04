// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The CTF traces that are read as one: their layouts, files and packets, sorted into streams.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decode/packets.hpp"
#include "metadata/metadata.hpp"

namespace ctf {

// A trace directory: one metadata file and its stream files.
struct Source {
  std::string label;  // given to every event as its host
  std::shared_ptr<const Layout> layout;
};

// Packets that one producer wrote in sequence, over all files and rotation chunks. It has no
// packets when indexes know some and files hold none.
struct Stream {
  std::vector<Packet> packets;
  std::vector<Packet> missing;  // that indexes know and no file holds
  size_t source = 0;            // of the first packet
};

// An event class of a source; several sources may have classes of the same name and fields.
struct EventClassRef {
  size_t source;
  const StreamClass* stream;
  const EventClass* event;
};

class TraceSet {
 public:
  // `directory` gives the order of ties; files in the order of their names.
  void add(Source source, const std::vector<std::string>& files);
  // Reads the headers of all packets; to be called once, after the last `add`.
  void index();

  const std::vector<Source>& sources() const { return sources_; }
  const std::vector<StreamFile>& files() const { return files_; }
  const std::vector<Stream>& streams() const { return streams_; }
  const std::vector<Damage>& damage() const { return damage_; }
  const std::vector<IndexFault>& index_faults() const { return faults_; }
  const std::vector<Mended>& mended() const { return mended_; }
  const std::vector<EventClassRef>& event_classes() const { return event_classes_; }
  uint64_t duplicate_packets() const { return duplicates_; }
  size_t source_of(const Packet& packet) const { return files_[packet.file].source; }

 private:
  void choose_begins(std::vector<PacketIndex>& found);
  void sort_packets(Stream& stream);

  std::vector<Source> sources_;
  std::vector<StreamFile> files_;
  std::vector<Stream> streams_;
  std::vector<Damage> damage_;
  std::vector<IndexFault> faults_;
  std::vector<Mended> mended_;
  std::vector<EventClassRef> event_classes_;
  uint64_t duplicates_ = 0;
};

// Nanoseconds since the clock's origin, rounded down; a clock that leaves 64 bits is clamped.
class ClockConverter {
 public:
  ClockConverter() = default;
  explicit ClockConverter(const Clock& clock);

  // Whether a cycle is a nanosecond.
  bool counts_ns() const { return plain_; }

  int64_t nanoseconds(uint64_t cycles) const {
    return plain_ && cycles <= last_plain_ ? static_cast<int64_t>(cycles + offset_)
                                           : converted(cycles);
  }

 private:
  int64_t converted(uint64_t cycles) const;

  bool plain_ = true;  // a frequency of 1 GHz and an offset that fits
  uint64_t offset_ = 0;
  uint64_t last_plain_ = INT64_MAX;  // cycles: later ones leave 64 bits
  Clock clock_;
};

}  // namespace ctf
