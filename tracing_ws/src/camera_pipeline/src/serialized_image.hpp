// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "image_subscriber.hpp"

namespace camera_pipeline {

/// Reads the head of a serialized sensor_msgs/Image: its pixels stay where they are.
///
/// Plain CDR of this machine's byte order. Throws std::runtime_error when the message is shorter.
Arrival image_header(const std::uint8_t* message, std::size_t size);

}  // namespace camera_pipeline
