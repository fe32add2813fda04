// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <std_srvs/srv/empty.hpp>
#include <std_srvs/srv/trigger.hpp>
#include <string>

#include "counts_file.hpp"
#include "reading.hpp"
#include "watch.hpp"

namespace lidar_pipeline {

/// The lifecycle node `ouster_driver` in C++: its parameters, topics, services, transitions and
/// counts are those of lidar_pipeline/driver/node.py. It configures the sensor, and publishes what
/// it sends while active. As a component it writes its counts when it is unloaded.
class OusterDriver : public rclcpp_lifecycle::LifecycleNode {
 public:
  using CallbackReturn = rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface::CallbackReturn;

  /// With the parameter autostart the node configures and activates itself, once it is spun and has
  /// its listeners. Throws workload::Error when the file of its counts is there already.
  explicit OusterDriver(const rclcpp::NodeOptions& options);
  ~OusterDriver() override;

  /// Has `act` called when the node has nothing more to do, in one of its callbacks.
  void when_done(std::function<void()> act) { act_ = std::move(act); }
  /// Ceases to read and writes the counts, once; the exit status.
  int report();
  /// Has no counts written.
  void withdraw() { reported_ = true; }
  /// Has a transition that waits for listeners fail, from any thread.
  void stop() { stopped_ = true; }

  CallbackReturn on_configure(const rclcpp_lifecycle::State& state) override;
  CallbackReturn on_activate(const rclcpp_lifecycle::State& state) override;
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State& state) override;
  CallbackReturn on_cleanup(const rclcpp_lifecycle::State& state) override;
  CallbackReturn on_shutdown(const rclcpp_lifecycle::State& state) override;

 private:
  /// Starts the driver when it has its listeners.
  void on_start();
  /// Binds the sockets and makes the topics, once. Throws workload::Error.
  void prepare();
  std::unique_ptr<UdpSource> open(const char* name, std::uint16_t port) const;
  /// Whether all listeners are there. Throws workload::Error when they had their time.
  [[nodiscard]] bool is_listened() const;
  /// Whether nobody wants the driver to start any more.
  [[nodiscard]] bool is_stopped();
  void on_watch();
  void check_bound();
  void stop_reading();
  void release();
  /// There is nothing more to do.
  void finish(std::optional<std::string> problem);
  [[nodiscard]] Counts counts();
  void on_reset();
  void on_get_metadata(std_srvs::srv::Trigger::Response& response) const;

  CountsFile counts_file_;
  std::function<void()> act_;
  bool reported_ = false;
  std::atomic<bool> stopped_ = false;
  std::optional<std::string> problem_;
  std::optional<Settings> settings_;
  std::optional<Metadata> metadata_;
  std::chrono::steady_clock::time_point prepared_;
  // What uses something is declared, and so destroyed, the other way round.
  std::unique_ptr<UdpSource> lidar_;
  std::unique_ptr<UdpSource> imu_;
  std::unique_ptr<Topics> topics_;
  std::unique_ptr<Parts> parts_;
  std::unique_ptr<SensorWatch> watch_;
  std::unique_ptr<Reading> reading_;
  std::shared_ptr<void> transforms_;
  rclcpp::TimerBase::SharedPtr start_timer_;
  rclcpp::TimerBase::SharedPtr watch_timer_;
  rclcpp::TimerBase::SharedPtr bound_timer_;
  rclcpp::Service<std_srvs::srv::Empty>::SharedPtr reset_;
  rclcpp::Service<std_srvs::srv::Trigger>::SharedPtr get_metadata_;
};

}  // namespace lidar_pipeline
