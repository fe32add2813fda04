// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "images.hpp"

#include <algorithm>
#include <cmath>

#include "projection.hpp"

namespace lidar_pipeline {

namespace {

std::uint8_t shade_of(const Pixel& pixel, Field field) {
  const auto cut = [](std::uint16_t value) {
    return static_cast<std::uint8_t>(std::min<std::uint16_t>(value, 255));
  };
  switch (field) {
    case Field::intensity:
      return cut(pixel.signal);
    case Field::noise:
      return cut(pixel.noise);
    case Field::reflectivity:
      return cut(pixel.reflectivity);
    case Field::range:
      break;
  }
  const std::uint32_t distance = pixel.range & kRangeMask;
  const double steps = std::min(std::floor(distance * 5e-3 + 0.5), 255.0);
  return distance == 0 ? 0 : static_cast<std::uint8_t>(255 - steps);
}

}  // namespace

void write_image(const Scan& scan, Field field, std::uint8_t* image) {
  const auto columns = scan.columns.size();
  for (std::size_t row = 0; row < kPixels; ++row) {
    const auto offset = image_offset(columns, row);
    for (std::size_t at = 0; at < columns; ++at) {
      const Column* column = scan.columns[(at + offset) % columns];
      if (column != nullptr) {
        image[row * columns + at] = shade_of(column->pixels[row], field);
      }
    }
  }
}

}  // namespace lidar_pipeline
