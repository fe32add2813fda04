// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rclcpp/node.hpp>
#include <rclcpp/qos.hpp>
#include <string>
#include <vector>

namespace camera_pipeline {

/// A connected subscriber makes a publisher here, which the camera counts; nothing is ever sent.
constexpr const char* kReadyTopic = "camera/ready";

/// Declares a parameter that is the path of a file to write, empty for none. Throws Error when the
/// file is there already and `force` is not set.
std::string output(rclcpp::Node& node, const std::string& name, bool force);

/// Declares the parameters of a QoS; an empty word, or 0, keeps what `qos` has: reliability,
/// durability, history, depth, deadline_ms, liveliness, liveliness_lease_ms. Throws Error for a
/// value that is none.
rclcpp::QoS qos_settings(rclcpp::Node& node, rclcpp::QoS qos);

}  // namespace camera_pipeline
