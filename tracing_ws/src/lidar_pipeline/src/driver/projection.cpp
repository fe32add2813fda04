// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "projection.hpp"

#include <cmath>

namespace lidar_pipeline {

double radians(double degrees) { return degrees * (M_PI / 180.0); }

// The steps of each formula are those of the driver in Python: the results are the same, bit by
// bit.
std::vector<Direction> directions(std::size_t columns, const Angles& azimuths,
                                  const Angles& altitudes) {
  std::vector<Direction> table;
  table.reserve(columns * kPixels);
  for (std::size_t column = 0; column < columns; ++column) {
    const double turn = 2 * M_PI * static_cast<double>(column) / static_cast<double>(columns);
    for (std::size_t channel = 0; channel < kPixels; ++channel) {
      const double horizontal = radians(azimuths[channel]) + turn;
      const double vertical = radians(altitudes[channel]);
      const double level = std::cos(vertical);
      table.push_back({static_cast<float>(level * std::cos(horizontal) * 1e-3),
                       static_cast<float>(-level * std::sin(horizontal) * 1e-3),
                       static_cast<float>(std::sin(vertical) * 1e-3)});
    }
  }
  return table;
}

std::size_t image_offset(std::size_t columns, std::size_t channel) {
  return channel % 4 * (3 * columns / 512);
}

std::size_t level_channel(const Angles& altitudes) {
  std::size_t found = 0;
  for (std::size_t channel = 1; channel < kPixels; ++channel) {
    if (std::abs(altitudes[channel]) < std::abs(altitudes[found])) {
      found = channel;
    }
  }
  return found;
}

}  // namespace lidar_pipeline
