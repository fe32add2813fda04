// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "scan_assembly.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lidar_pipeline {

std::int64_t Scan::missing_columns() const {
  return std::count(columns.begin(), columns.end(), nullptr);
}

ScanAssembler::ScanAssembler(const LidarMode& mode, bool at_once) : mode_(mode), at_once_(at_once) {
  renew();
}

void ScanAssembler::renew() {
  // One packet more than a scan has: that of a later one, which closes it. Not cleared.
  memory_.reset(new std::byte[(mode_.packets() + 1) * kLidarBytes + 1]);
  order_.clear();
  order_.reserve(mode_.packets());
  seen_.assign(mode_.packets(), false);
}

std::optional<Scan> ScanAssembler::accept(std::size_t size, std::uint64_t sequence) {
  if (size != kLidarBytes) {
    ++counts.wrong;
    return std::nullopt;
  }
  const auto* first = reinterpret_cast<const Column*>(slot());
  const std::uint16_t frame_id = first->frame;
  const std::size_t index = first->measurement / kColumns;
  if (first->measurement >= mode_.columns) {
    ++counts.wrong;
    return std::nullopt;
  }
  if (!is_wanted(frame_id, index)) {
    return std::nullopt;
  }
  std::optional<Scan> closed;
  if (frame_id_ && frame_id != *frame_id_) {
    const auto place = order_.size();
    closed = close(sequence);
    std::memcpy(slot(), closed->memory.get() + place * kLidarBytes, kLidarBytes);
  }
  if (!frame_id_) {
    begin(frame_id, sequence);
  }
  if (seen_[index]) {
    ++counts.duplicate;
    return closed;
  }
  seen_[index] = true;
  order_.push_back(index);
  if (at_once_ && order_.size() == mode_.packets()) {
    // A scan of one packet does not exist, so nothing was closed above.
    closed = close(sequence);
  }
  return closed;
}

bool ScanAssembler::is_wanted(std::uint16_t frame_id, std::size_t index) {
  if (!started_) {
    // Whoever connects amid a rotation begins with the next one.
    if (index != 0) {
      ++counts.before_first;
      return false;
    }
    started_ = true;
    closed_id_ = static_cast<std::uint16_t>(frame_id - 1);
  }
  const auto ahead = static_cast<std::uint16_t>(frame_id - frame_id_.value_or(closed_id_));
  // Swapped packets are one scan late; a jump further back is a sensor that began anew.
  const bool is_late = ahead == 0xFFFF || (ahead == 0 && !frame_id_);
  counts.late += is_late ? 1 : 0;
  return !is_late;
}

void ScanAssembler::begin(std::uint16_t frame_id, std::uint64_t sequence) {
  const auto skipped = static_cast<std::uint16_t>(frame_id - closed_id_ - 1);
  if (skipped < 0x8000) {
    counts.lost_scans += skipped;
  }
  frame_id_ = frame_id;
  first_sequence_ = sequence;
}

Scan ScanAssembler::close(std::uint64_t sequence) {
  Scan scan{};
  scan.columns.resize(mode_.columns);
  for (std::size_t number = 0; number < order_.size(); ++number) {
    const auto* came = reinterpret_cast<const Column*>(at(number));
    for (std::size_t column = 0; column < kColumns; ++column) {
      const auto measurement = order_[number] * kColumns + column;
      const auto& each = came[column];
      if (each.status == kGood && each.frame == *frame_id_ && each.measurement == measurement) {
        scan.columns[measurement] = &each;
      }
    }
  }
  scan.number = next_number_++;
  scan.packets = order_.size();
  scan.missing = mode_.packets() - order_.size();
  scan.stamp_ns = reinterpret_cast<const Column*>(at(0))->timestamp;
  scan.first_sequence = first_sequence_;
  scan.last_sequence = sequence;
  scan.memory = std::move(memory_);
  closed_id_ = *frame_id_;
  frame_id_.reset();
  renew();
  return scan;
}

}  // namespace lidar_pipeline
