// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "serialized_image.hpp"

#include <cstring>
#include <stdexcept>

namespace camera_pipeline {

namespace {

constexpr std::size_t kEncapsulation = 4;

/// Reads numbers and texts one after the other, each aligned from the encapsulation's end.
class Reader {
 public:
  Reader(const std::uint8_t* message, std::size_t size)
      : at_(message + kEncapsulation), left_(size - kEncapsulation) {
    if (size < kEncapsulation) {
      throw std::runtime_error("a serialized image is shorter than its encapsulation");
    }
  }

  std::uint32_t number() {
    skip((4 - used_ % 4) % 4);
    std::uint32_t value = 0;
    need(sizeof value);
    std::memcpy(&value, at_, sizeof value);
    skip(sizeof value);
    return value;
  }

  std::string text() {
    const std::size_t length = number();
    need(length);
    std::string value(reinterpret_cast<const char*>(at_), length == 0 ? 0 : length - 1);
    skip(length);
    return value;
  }

  void skip(std::size_t bytes) {
    need(bytes);
    at_ += bytes;
    used_ += bytes;
    left_ -= bytes;
  }

 private:
  void need(std::size_t bytes) const {
    if (left_ < bytes) {
      throw std::runtime_error("a serialized image ends within its head");
    }
  }

  const std::uint8_t* at_;
  std::size_t left_;
  std::size_t used_ = 0;
};

}  // namespace

Arrival image_header(const std::uint8_t* message, std::size_t size) {
  Reader reader(message, size);
  Arrival image;
  const auto seconds = static_cast<std::int32_t>(reader.number());
  image.stamp_ns = seconds * workload::kSecondNs + reader.number();
  reader.text();  // frame_id
  image.height = reader.number();
  image.width = reader.number();
  image.encoding = reader.text();
  reader.skip(1);  // is_bigendian
  image.step = reader.number();
  image.bytes = reader.number();
  return image;
}

}  // namespace camera_pipeline
