// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "driver_node.hpp"

#include <array>
#include <cstdio>
#include <lifecycle_msgs/msg/state.hpp>
#include <rclcpp_components/register_node_macro.hpp>
#include <system_error>
#include <thread>
#include <utility>
#include <workload_rclcpp/settings.hpp>

#include "transforms.hpp"

namespace lidar_pipeline {

namespace {

using lifecycle_msgs::msg::State;

constexpr std::chrono::milliseconds kLook{50};
constexpr std::chrono::milliseconds kCheck{100};

}  // namespace

OusterDriver::OusterDriver(const rclcpp::NodeOptions& options)
    : LifecycleNode("ouster_driver", options),
      counts_file_(workload::setting(*get_node_parameters_interface(), "log", std::string()),
                   workload::setting(*get_node_parameters_interface(), "force", false)),
      reset_(create_service<std_srvs::srv::Empty>(
          "~/reset",
          [this](std::shared_ptr<std_srvs::srv::Empty::Request> /*request*/,
                 std::shared_ptr<std_srvs::srv::Empty::Response> /*response*/) { on_reset(); })),
      get_metadata_(create_service<std_srvs::srv::Trigger>(
          "~/get_metadata", [this](std::shared_ptr<std_srvs::srv::Trigger::Request> /*request*/,
                                   std::shared_ptr<std_srvs::srv::Trigger::Response> response) {
            on_get_metadata(*response);
          })) {
  if (workload::setting(*get_node_parameters_interface(), "autostart", true)) {
    start_timer_ = create_wall_timer(kLook, [this] { on_start(); });
  }
}

OusterDriver::~OusterDriver() {
  try {
    report();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
}

void OusterDriver::on_start() {
  try {
    prepare();
    if (!is_listened()) {
      return;
    }
  } catch (const std::exception& error) {
    start_timer_->cancel();
    RCLCPP_ERROR(get_logger(), "%s", error.what());
    finish(error.what());
    return;
  }
  start_timer_->cancel();
  if (configure().id() != State::PRIMARY_STATE_INACTIVE ||
      activate().id() != State::PRIMARY_STATE_ACTIVE) {
    finish(problem_.value_or("Cannot start the driver."));
  }
}

void OusterDriver::prepare() {
  if (topics_) {
    return;
  }
  settings_ = read_settings(*get_node_parameters_interface());
  auto& connection = settings_->connection;
  lidar_ = open("lidar", connection.lidar_port);
  imu_ = open("imu", connection.imu_port);
  // A port of 0 was any free one: the sensor must send to the one that it became.
  connection.lidar_port = lidar_->port();
  connection.imu_port = imu_->port();
  RCLCPP_INFO(get_logger(), "UDP ports %d and %d; socket buffer: %d of %lld bytes asked for",
              lidar_->port(), imu_->port(), lidar_->granted(),
              static_cast<long long>(settings_->receive_buffer));
  topics_ = std::make_unique<Topics>(*this, *settings_);
  prepared_ = std::chrono::steady_clock::now();
}

std::unique_ptr<UdpSource> OusterDriver::open(const char* name, std::uint16_t port) const {
  try {
    return std::make_unique<UdpSource>(name, port, settings_->receive_buffer);
  } catch (const std::system_error& error) {
    throw workload::Error("Cannot bind UDP port " + std::to_string(port) + ": " +
                          error.code().message() + ". Choose another " + name + "_port.");
  }
}

bool OusterDriver::is_listened() const {
  const auto found = topics_->listened();
  if (found >= settings_->listeners) {
    return true;
  }
  const auto bound = settings_->discovery;
  if (bound.count() > 0 && std::chrono::steady_clock::now() - prepared_ > bound) {
    std::array<char, 32> seconds{};
    std::snprintf(seconds.data(), seconds.size(), "%g", bound.count());
    throw workload::Error("Cannot start: " + std::to_string(found) + " of " +
                          std::to_string(settings_->listeners) + " subscriptions after " +
                          seconds.data() + " s. Check that all nodes run.");
  }
  return false;
}

bool OusterDriver::is_stopped() {
  // A container ends its context at a signal.
  return stopped_ || !get_node_base_interface()->get_context()->is_valid();
}

OusterDriver::CallbackReturn OusterDriver::on_configure(const rclcpp_lifecycle::State& state) {
  try {
    prepare();
    // With autostart they are there already: nothing is held up here.
    while (!is_listened()) {
      if (is_stopped()) {
        release();
        RCLCPP_ERROR(get_logger(), "Stopped before all %zu subscriptions were there",
                     settings_->listeners);
        return CallbackReturn::FAILURE;
      }
      std::this_thread::sleep_for(kLook);
    }
    metadata_ = set_up(settings_->connection);
    parts_ = std::make_unique<Parts>(*lidar_, *imu_, *topics_, *settings_, *metadata_);
    transforms_ = send_transforms(*this, *settings_, *metadata_);
    // An earlier attempt may have failed.
    problem_.reset();
  } catch (const std::exception& error) {
    release();
    problem_ = error.what();
    RCLCPP_ERROR(get_logger(), "%s", error.what());
    return CallbackReturn::FAILURE;
  }
  return LifecycleNode::on_configure(state);
}

OusterDriver::CallbackReturn OusterDriver::on_activate(const rclcpp_lifecycle::State& state) {
  const auto done = LifecycleNode::on_activate(state);
  if (settings_->poll_hz > 0) {
    const std::chrono::nanoseconds period(static_cast<std::int64_t>(1e9 / settings_->poll_hz));
    reading_ = std::make_unique<PolledReading>(*parts_, [&](std::function<void()> tick) {
      return create_wall_timer(period, std::move(tick));
    });
  } else {
    reading_ = std::make_unique<ThreadedReading>(*parts_);
  }
  watch_ = std::make_unique<SensorWatch>(*lidar_, parts_->lidar.packets());
  watch_timer_ = create_wall_timer(kWatchPeriod, [this] { on_watch(); });
  if (settings_->scans > 0) {
    bound_timer_ = create_wall_timer(kCheck, [this] { check_bound(); });
  }
  return done;
}

OusterDriver::CallbackReturn OusterDriver::on_deactivate(const rclcpp_lifecycle::State& state) {
  stop_reading();
  return LifecycleNode::on_deactivate(state);
}

OusterDriver::CallbackReturn OusterDriver::on_cleanup(const rclcpp_lifecycle::State& state) {
  release();
  return LifecycleNode::on_cleanup(state);
}

OusterDriver::CallbackReturn OusterDriver::on_shutdown(const rclcpp_lifecycle::State& state) {
  release();
  return LifecycleNode::on_shutdown(state);
}

void OusterDriver::on_watch() {
  if (const auto text = watch_->look(); !text.empty()) {
    RCLCPP_WARN(get_logger(), "%s", text.c_str());
  }
}

void OusterDriver::check_bound() {
  if (parts_->scans.scans >= settings_->scans) {
    bound_timer_->cancel();
    finish(std::nullopt);
  }
}

void OusterDriver::stop_reading() {
  for (auto* timer : {&watch_timer_, &bound_timer_}) {
    if (*timer) {
      (*timer)->cancel();
    }
    timer->reset();
  }
  reading_.reset();
  watch_.reset();
}

void OusterDriver::release() {
  stop_reading();
  parts_.reset();
  transforms_.reset();
  topics_.reset();
  lidar_.reset();
  imu_.reset();
}

void OusterDriver::finish(std::optional<std::string> problem) {
  problem_ = std::move(problem);
  if (act_) {
    act_();
  }
}

int OusterDriver::report() {
  if (std::exchange(reported_, true)) {
    return 0;
  }
  if (problem_) {
    std::fprintf(stderr, "%s\n", problem_->c_str());
    release();
    return 1;
  }
  stop_reading();
  counts_file_.write(counts());
  release();
  return 0;
}

Counts OusterDriver::counts() {
  if (!parts_) {
    return {};
  }
  const auto& lidar = parts_->lidar;
  const auto& scans = parts_->scans;
  const auto& packets = lidar.packets();
  return {{"lidar_packets", lidar_->received()},
          {"lidar_dropped", lidar_->dropped()},
          {"lidar_unread", lidar_->unread()},
          {"imu_packets", imu_->received()},
          {"imu_dropped", imu_->dropped()},
          {"imu_unread", imu_->unread()},
          {"receive_buffer", lidar_->granted()},
          {"scans", lidar.scans},
          {"published_scans", scans.published},
          {"unheard_scans", scans.unheard},
          {"dropped_scans", lidar.dropped_scans},
          {"messages", scans.messages},
          {"refused_messages", scans.refused + parts_->inertia.refused},
          {"missing_packets", lidar.missing_packets},
          {"missing_columns", lidar.missing_columns},
          {"late_packets", packets.late},
          {"duplicate_packets", packets.duplicate},
          {"wrong_packets", packets.wrong},
          {"before_first_packets", packets.before_first},
          {"lost_scans", packets.lost_scans}};
}

void OusterDriver::on_reset() {
  if (!reading_) {
    return;
  }
  try {
    set_up(settings_->connection);
  } catch (const SensorError& error) {
    RCLCPP_ERROR(get_logger(), "%s", error.what());
  }
}

void OusterDriver::on_get_metadata(std_srvs::srv::Trigger::Response& response) const {
  response.success = metadata_.has_value();
  if (metadata_) {
    response.message = metadata_->json;
  }
}

}  // namespace lidar_pipeline

RCLCPP_COMPONENTS_REGISTER_NODE(lidar_pipeline::OusterDriver)
