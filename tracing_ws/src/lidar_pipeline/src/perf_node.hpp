// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <vector>
#include <workload_rclcpp/measuring_node.hpp>

#include "column_times.hpp"

namespace lidar_pipeline {

/// What came on one topic; times in ns since the epoch.
struct Samples {
  struct Row {
    std::int64_t received_ns;
    std::int64_t stamp_ns;
    /// Number of the publication, from 1; 0 when the middleware tells none.
    std::int64_t sequence;
  };

  std::string topic;
  std::vector<Row> rows;
  ColumnTimes columns;
};

/// The node `perf_node` in C++: its parameters and results are those of
/// lidar_pipeline/perf/node.py, whose statistics it has made of its samples. As a component it
/// writes them when it is unloaded.
class PerfNode : public workload::MeasuringNode {
 public:
  /// Throws Error when a parameter cannot be used.
  explicit PerfNode(const rclcpp::NodeOptions& options);
  ~PerfNode() override { report_at_last(); }

 private:
  int write_results() override;
  template <typename Message>
  rclcpp::SubscriptionBase::SharedPtr subscribe(Samples& samples, const rclcpp::QoS& qos);
  rclcpp::SubscriptionBase::SharedPtr subscribe(Samples& samples, const rclcpp::QoS& qos);
  void take(Samples& samples, std::int64_t received_ns, std::int64_t stamp_ns,
            const rclcpp::MessageInfo& info);
  void on_watch();
  [[nodiscard]] bool complete(const Samples& samples) const;
  /// Throws Error when a file of the results is there already.
  void refuse_to_replace() const;

  std::int64_t warm_up_;
  std::int64_t wanted_;
  std::chrono::nanoseconds quiet_;
  bool counts_losses_;
  bool serialized_;
  bool intra_process_;
  bool force_;
  std::string out_file_;
  std::string log_;
  std::vector<Samples> samples_;
  std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions_;
  rclcpp::TimerBase::SharedPtr watch_;
  std::optional<std::chrono::steady_clock::time_point> last_;
};

}  // namespace lidar_pipeline
