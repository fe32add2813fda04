// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "camera_settings.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <workload_rclcpp/settings.hpp>

namespace camera_pipeline {

namespace {

using workload::choice;
using workload::Error;
using workload::setting;

std::chrono::nanoseconds ms_setting(rclcpp::Node& node, const std::string& name) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(setting(node, name, 0.0, 0) * 1e6));
}

}  // namespace

std::string output(rclcpp::Node& node, const std::string& name, bool force) {
  const auto path = setting(node, name, std::string());
  if (!path.empty() && !force && std::filesystem::exists(path)) {
    throw Error("Cannot write " + path + ": it is there already. Name another file, or set force.");
  }
  return path;
}

rclcpp::QoS qos_settings(rclcpp::Node& node, rclcpp::QoS qos) {
  if (const auto depth = setting(node, "depth", std::int64_t{0}, 0); depth > 0) {
    qos.keep_last(static_cast<std::size_t>(depth));
  }
  if (const auto word = choice(node, "reliability", {"", "reliable", "best_effort"});
      !word.empty()) {
    qos.reliability(word == "reliable" ? rclcpp::ReliabilityPolicy::Reliable
                                       : rclcpp::ReliabilityPolicy::BestEffort);
  }
  if (const auto word = choice(node, "durability", {"", "volatile", "transient_local"});
      !word.empty()) {
    qos.durability(word == "volatile" ? rclcpp::DurabilityPolicy::Volatile
                                      : rclcpp::DurabilityPolicy::TransientLocal);
  }
  if (choice(node, "history", {"", "keep_last", "keep_all"}) == "keep_all") {
    qos.keep_all();
  }
  if (const auto time = ms_setting(node, "deadline_ms"); time.count() > 0) {
    qos.deadline(time);
  }
  if (const auto word = choice(node, "liveliness", {"", "automatic", "manual_by_topic"});
      !word.empty()) {
    qos.liveliness(word == "automatic" ? rclcpp::LivelinessPolicy::Automatic
                                       : rclcpp::LivelinessPolicy::ManualByTopic);
  }
  if (const auto time = ms_setting(node, "liveliness_lease_ms"); time.count() > 0) {
    qos.liveliness_lease_duration(time);
  }
  return qos;
}

}  // namespace camera_pipeline
