// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "points.hpp"

#include <array>
#include <cstring>
#include <utility>

namespace lidar_pipeline {

namespace {

constexpr std::size_t kPixelWords = sizeof(Pixel) / sizeof(std::uint32_t);

Point make_point(const Pixel& pixel, const Direction& direction) {
  const std::uint32_t distance = pixel.range & kRangeMask;
  // By double, as NumPy multiplies them.
  const auto along = [distance](float axis) {
    return static_cast<float>(static_cast<double>(axis) * distance);
  };
  Point point{};
  point.x = along(direction.x);
  point.y = along(direction.y);
  point.z = along(direction.z);
  point.intensity = pixel.signal;
  point.reflectivity = pixel.reflectivity;
  point.noise = pixel.noise;
  point.range = distance;
  return point;
}

}  // namespace

std::bitset<kPixels> used_channels(const Scan& scan) {
  std::array<std::uint32_t, kPixels * kPixelWords> together{};
  for (const Column* column : scan.columns) {
    if (column == nullptr) {
      continue;
    }
    std::array<std::uint32_t, kPixels * kPixelWords> words;
    std::memcpy(words.data(), column->pixels, sizeof words);
    for (std::size_t word = 0; word < words.size(); ++word) {
      together[word] |= words[word];
    }
  }
  std::bitset<kPixels> used;
  for (std::size_t word = 0; word < together.size(); ++word) {
    if (together[word] != 0) {
      used.set(word / kPixelWords);
    }
  }
  return used;
}

PointWriter::PointWriter(std::vector<Direction> table, bool by_column)
    : table_(std::move(table)), by_column_(by_column) {}

void PointWriter::write(const Scan& scan, std::uint8_t* memory) const {
  const auto used = used_channels(scan);
  const auto columns = scan.columns.size();
  for (std::size_t at = 0; at < columns; ++at) {
    const Column* column = scan.columns[at];
    if (column == nullptr) {
      continue;
    }
    const auto since = static_cast<std::uint32_t>(column->timestamp - scan.stamp_ns);
    for (std::size_t channel = 0; channel < kPixels; ++channel) {
      // A channel without a beam has points of zeros, not the signed ones of a product.
      Point point = used[channel]
                        ? make_point(column->pixels[channel], table_[at * kPixels + channel])
                        : Point{};
      point.t = since;
      point.ring = static_cast<std::uint8_t>(channel);
      const auto place = by_column_ ? at * kPixels + channel : channel * columns + at;
      std::memcpy(memory + place * sizeof point, &point, sizeof point);
    }
  }
}

}  // namespace lidar_pipeline
