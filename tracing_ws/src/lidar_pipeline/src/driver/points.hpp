// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// The point cloud as the 2020 driver laid it out: 64 rows of 48-byte points.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "projection.hpp"
#include "scan_assembly.hpp"

namespace lidar_pipeline {

/// The gaps come of the 16-byte alignment of PCL's points.
struct alignas(16) Point {
  float x;  // m
  float y;
  float z;
  std::uint32_t gap_of_z;
  float intensity;  // signal photons
  std::uint32_t t;  // ns since the scan's stamp
  std::uint16_t reflectivity;
  std::uint8_t ring;
  std::uint8_t gap_of_ring;
  std::uint16_t noise;
  std::uint16_t gap_of_noise;
  std::uint32_t range;  // mm
  std::uint32_t gap_of_range[3];
};
static_assert(sizeof(Point) == 48 && offsetof(Point, intensity) == 16 &&
              offsetof(Point, ring) == 26 && offsetof(Point, noise) == 28 &&
              offsetof(Point, range) == 32);

/// The channels with any value that is not zero in any column.
std::bitset<kPixels> used_channels(const Scan& scan);

/// Writes the points of scans.
class PointWriter {
 public:
  /// `by_column`: the points of a column lie side by side, though rows are declared, as the 2020
  /// driver wrote them. Else those of a ring.
  PointWriter(std::vector<Direction> table, bool by_column);

  /// Writes a scan into memory of zeros, kPixels x columns x sizeof(Point) bytes. Columns that did
  /// not come stay as they are.
  void write(const Scan& scan, std::uint8_t* memory) const;

 private:
  std::vector<Direction> table_;
  bool by_column_;
};

}  // namespace lidar_pipeline
