// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "column_times.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <sensor_msgs/msg/point_field.hpp>
#include <string>

namespace lidar_pipeline {

namespace {

using sensor_msgs::msg::PointCloud2;
using sensor_msgs::msg::PointField;

constexpr std::uint8_t kRing = 1;
constexpr std::int64_t kLongestScan = 2048;
/// Memory for seven minutes at 10 Hz; longer measurements allocate anew, rarely.
constexpr std::size_t kMostReserved = 4096;

const PointField* field(const PointCloud2& cloud, const std::string& name) {
  const auto found = std::find_if(cloud.fields.begin(), cloud.fields.end(),
                                  [&](const PointField& one) { return one.name == name; });
  return found == cloud.fields.end() ? nullptr : &*found;
}

/// Whether a cloud has the data of all its points. By division: a product may overflow.
bool is_whole(const PointCloud2& cloud) {
  return cloud.width > 0 && cloud.data.size() / cloud.point_step / cloud.width >= cloud.height;
}

}  // namespace

void ColumnTimes::reserve(std::size_t clouds) {
  if (step_ != 0) {
    rows_.reserve(std::min(clouds, kMostReserved) *
                  static_cast<std::size_t>(kLongestScan / step_ + 2));
  }
}

void ColumnTimes::take(std::int64_t scan, const PointCloud2& cloud) {
  if (step_ == 0) {
    return;
  }
  const std::array<std::uint32_t, 3> layout{cloud.width, cloud.height, cloud.point_step};
  if (layout != layout_) {
    if (!find(cloud)) {
      return;
    }
    layout_ = layout;
  } else if (!is_whole(cloud)) {
    return;
  }
  for (const auto& place : places_) {
    if (cloud.data[place.at + ring_offset_] == kRing) {
      std::uint32_t time_ns = 0;
      std::memcpy(&time_ns, &cloud.data[place.at + time_offset_], sizeof time_ns);
      rows_.push_back({scan, place.column, time_ns});
    }
  }
}

bool ColumnTimes::find(const PointCloud2& cloud) {
  layout_ = {};
  const auto* ring = field(cloud, "ring");
  const auto* time = field(cloud, "t");
  if (ring == nullptr || time == nullptr || cloud.is_bigendian || cloud.height < 2 ||
      time->datatype != PointField::UINT32 ||
      (ring->datatype != PointField::UINT8 && ring->datatype != PointField::UINT16) ||
      ring->offset >= cloud.point_step || time->offset + sizeof(std::uint32_t) > cloud.point_step ||
      !is_whole(cloud)) {
    return false;
  }
  std::vector<std::int64_t> columns;
  for (std::int64_t column = 0; column < cloud.width; column += step_) {
    columns.push_back(column);
  }
  if (columns.back() != std::int64_t{cloud.width} - 1) {
    columns.push_back(std::int64_t{cloud.width} - 1);
  }
  ring_offset_ = ring->offset;
  time_offset_ = time->offset;
  for (const bool by_row : {true, false}) {
    std::vector<Place> places;
    std::transform(columns.begin(), columns.end(), std::back_inserter(places),
                   [&](std::int64_t column) {
                     const auto one = static_cast<std::size_t>(column);
                     const auto at = by_row ? cloud.width + one : one * cloud.height + 1;
                     return Place{column, at * cloud.point_step};
                   });
    const auto ring_at = [&](const Place& place) { return cloud.data[place.at + ring_offset_]; };
    const bool fits = std::all_of(places.begin(), places.end(),
                                  [&](const Place& one) { return ring_at(one) <= kRing; });
    const bool shows = std::any_of(places.begin(), places.end(),
                                   [&](const Place& one) { return ring_at(one) == kRing; });
    if (fits && shows) {
      places_ = std::move(places);
      return true;
    }
  }
  return false;
}

}  // namespace lidar_pipeline
