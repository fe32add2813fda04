// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Range, intensity, noise and reflectivity as 8-bit images, in the 2020 driver's scales.
#pragma once

#include <array>
#include <cstdint>

#include "scan_assembly.hpp"

namespace lidar_pipeline {

enum class Field { range, intensity, noise, reflectivity };

struct NamedField {
  const char* name;
  Field field;
};

/// In the order in which they are published.
constexpr std::array<NamedField, 4> kFields{{{"range", Field::range},
                                             {"intensity", Field::intensity},
                                             {"noise", Field::noise},
                                             {"reflectivity", Field::reflectivity}}};

/// Writes an image of a scan, kPixels x columns, over memory of zeros; a pixel of row u and column
/// v looks where v says. range: 255 less a step for each 200 mm, 0 where nothing came back; the
/// others: cut at 255.
void write_image(const Scan& scan, Field field, std::uint8_t* image);

}  // namespace lidar_pipeline
