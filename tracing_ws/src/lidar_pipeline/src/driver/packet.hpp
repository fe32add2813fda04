// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// The packets of firmware 1.13 and the lidar modes; lidar_pipeline/sensor/packet.py names the
// source.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lidar_pipeline {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the packets are little endian");

/// Pixels of a column, whatever the sensor's number of beams.
constexpr std::size_t kPixels = 64;
/// Columns of a packet.
constexpr std::size_t kColumns = 16;
/// Of Pixel::range: its other bits mean nothing.
constexpr std::uint32_t kRangeMask = 0xFFFFF;
/// Column::status with valid data; 0 else.
constexpr std::uint32_t kGood = 0xFFFFFFFF;

struct Pixel {
  std::uint32_t range;  // mm, 20 bits
  std::uint16_t reflectivity;
  std::uint16_t signal;  // photons
  std::uint16_t noise;   // photons
  std::uint16_t unused;
};

struct [[gnu::packed, gnu::aligned(4)]] Column {
  std::uint64_t timestamp;    // ns, of the clock that timestamp_mode chose
  std::uint16_t measurement;  // 0 to columns of a scan - 1
  std::uint16_t frame;        // counts rotations, and wraps
  std::uint32_t encoder;      // ticks, 0 to 90111
  Pixel pixels[kPixels];
  std::uint32_t status;
};

struct [[gnu::packed, gnu::aligned(4)]] ImuSample {
  std::uint64_t system;         // ns since boot, for diagnostics
  std::uint64_t accelerometer;  // ns, of the clock that timestamp_mode chose
  std::uint64_t gyroscope;
  float acceleration[3];      // g
  float angular_velocity[3];  // degrees a second
};

constexpr std::size_t kLidarBytes = sizeof(Column) * kColumns;
constexpr std::size_t kImuBytes = sizeof(ImuSample);
static_assert(kLidarBytes == 12608 && kImuBytes == 48);

/// Columns of a scan, and scans a second.
struct LidarMode {
  const char* name;
  std::size_t columns;
  int hz;

  [[nodiscard]] std::size_t packets() const { return columns / kColumns; }
};

constexpr std::array<LidarMode, 5> kModes{{
    {"512x10", 512, 10},
    {"512x20", 512, 20},
    {"1024x10", 1024, 10},
    {"1024x20", 1024, 20},
    {"2048x10", 2048, 10},
}};

}  // namespace lidar_pipeline
