// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <sensor_msgs/msg/point_cloud2.hpp>
#include <vector>

namespace lidar_pipeline {

/// When the points of clouds were measured, as the clouds say: the times of some columns. How they
/// are found is said in lidar_pipeline/perf/column_times.py, which does the same.
class ColumnTimes {
 public:
  struct Row {
    std::int64_t scan;
    std::int64_t column;
    /// ns since the scan's first column.
    std::int64_t time_ns;
  };

  /// Of every `step`-th column from 0, and of the last; none with a step of 0.
  explicit ColumnTimes(std::int64_t step) : step_(step) {}

  /// Keeps memory for that many clouds of a sensor's longest scan.
  void reserve(std::size_t clouds);
  void take(std::int64_t scan, const sensor_msgs::msg::PointCloud2& cloud);
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

 private:
  struct Place {
    std::int64_t column;
    std::size_t at;
  };
  /// False where the cloud does not show how its points lie.
  bool find(const sensor_msgs::msg::PointCloud2& cloud);

  std::int64_t step_;
  std::array<std::uint32_t, 3> layout_{};
  std::uint32_t ring_offset_ = 0;
  std::uint32_t time_offset_ = 0;
  std::vector<Place> places_;
  std::vector<Row> rows_;
};

}  // namespace lidar_pipeline
