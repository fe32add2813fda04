// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// From packets to scans: lidar_pipeline/driver/assembly.py in C++.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "packet.hpp"

namespace lidar_pipeline {

/// What is counted on one thread and read on another.
using Count = std::atomic<std::int64_t>;

/// The packets of one rotation, where they were received.
struct Scan {
  std::unique_ptr<std::byte[]> memory;
  /// All columns of the rotation by measurement id, in `memory`; null: did not come, or came bad.
  std::vector<const Column*> columns;
  std::uint64_t number;
  std::size_t packets;
  std::size_t missing;
  /// Time of the first column that came, by the sensor's clock.
  std::uint64_t stamp_ns;
  std::uint64_t first_sequence;
  /// Of the packet that closed the scan, perhaps one of the next.
  std::uint64_t last_sequence;

  [[nodiscard]] std::int64_t missing_columns() const;
};

/// Packets that are in no scan, and scans of which nothing came.
struct AssemblyCounts {
  Count late{0};
  Count duplicate{0};
  Count wrong{0};
  Count before_first{0};
  Count lost_scans{0};
};

/// Takes packets one by one: receive into `slot`, then `accept`.
class ScanAssembler {
 public:
  /// Of a slot: a byte more than a packet, as a longer datagram would be cut to a good one's size.
  static constexpr std::size_t kSlotBytes = kLidarBytes + 1;

  /// `at_once`: a scan closes when its last missing packet came, else when a packet of a later scan
  /// came, as always without it.
  ScanAssembler(const LidarMode& mode, bool at_once);

  /// The memory for the next packet.
  [[nodiscard]] std::byte* slot() const { return at(order_.size()); }
  /// Takes the packet in `slot`, of that many bytes; gives the scan that it closed.
  std::optional<Scan> accept(std::size_t size, std::uint64_t sequence);

  AssemblyCounts counts;

 private:
  [[nodiscard]] std::byte* at(std::size_t number) const {
    return memory_.get() + number * kLidarBytes;
  }
  void renew();
  bool is_wanted(std::uint16_t frame_id, std::size_t index);
  void begin(std::uint16_t frame_id, std::uint64_t sequence);
  Scan close(std::uint64_t sequence);

  LidarMode mode_;
  bool at_once_;
  std::unique_ptr<std::byte[]> memory_;
  /// Of each received packet its place in the scan.
  std::vector<std::size_t> order_;
  std::vector<bool> seen_;
  std::optional<std::uint16_t> frame_id_;
  std::uint16_t closed_id_ = 0;
  bool started_ = false;
  std::uint64_t first_sequence_ = 0;
  std::uint64_t next_number_ = 0;
};

}  // namespace lidar_pipeline
