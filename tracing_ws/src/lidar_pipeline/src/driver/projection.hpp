// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Where each pixel is. lidar_pipeline/driver/projection.py has the formulas and their source.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "packet.hpp"

namespace lidar_pipeline {

/// Degrees, by channel.
using Angles = std::array<double, kPixels>;

/// A unit vector per mm of range, in m.
struct Direction {
  float x;
  float y;
  float z;
};

double radians(double degrees);

/// Of each column the directions of its channels: columns x kPixels.
std::vector<Direction> directions(std::size_t columns, const Angles& azimuths,
                                  const Angles& altitudes);

/// How many columns later a channel looks where channel 0 looked.
std::size_t image_offset(std::size_t columns, std::size_t channel);

/// The channel nearest to the horizon; the first when two are as near.
std::size_t level_channel(const Angles& altitudes);

}  // namespace lidar_pipeline
