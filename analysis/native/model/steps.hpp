// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What events say of a thread: it takes, it works, it goes on to something else.
#pragma once

#include <array>

#include "model/generated/event_types.hpp"

namespace strata {

// Runtime events of messages, callbacks, executors and drivers: what a thread did. The last of
// these bounds a callback that nothing else does.
constexpr bool is_of_timeline(EventType type) {
  if (type == EventType::other) return false;
  const EventDeclaration& declared = kEvents[static_cast<size_t>(type)];
  return declared.is_step;
}

inline constexpr auto kOfRos2 = [] {
  std::array<bool, kEventTypes + 1> found{};
  for (size_t i = 0; i < kEventTypes; ++i) found[i] = kEvents[i].name.starts_with("ros2:");
  return found;
}();

constexpr bool is_of_ros2(EventType type) { return kOfRos2[static_cast<size_t>(type)]; }

inline constexpr auto kOfHooks = [] {
  std::array<bool, kEventTypes + 1> found{};
  for (size_t i = 0; i < kEventTypes; ++i) found[i] = kEvents[i].name.starts_with("dds:");
  return found;
}();

constexpr bool is_of_hooks(EventType type) { return kOfHooks[static_cast<size_t>(type)]; }

// What a process does when it is not stopped: runtime events, and what its receiving threads do.
constexpr bool shows_running(EventType type) {
  return is_of_timeline(type) || type == EventType::receive ||
         type == EventType::reader_history_add || type == EventType::reader_notify;
}

// Steps of a take: what was taken is the take's, whoever emits it.
constexpr bool is_take_step(EventType type) {
  switch (type) {
    case EventType::rmw_take:
    case EventType::rmw_take_request:
    case EventType::rmw_take_response:
    case EventType::rcl_take:
    case EventType::rclcpp_take:
    case EventType::rclcpp_ring_buffer_dequeue:
      return true;
    default:
      return false;
  }
}

// Work of a thread beside takes.
constexpr bool is_work_step(EventType type) {
  switch (type) {
    case EventType::callback_start:
    case EventType::callback_end:
    case EventType::rclcpp_executor_wait_for_work:
    case EventType::rclcpp_executor_get_next_ready:
    case EventType::rclcpp_executor_execute:
      return true;
    default:
      return false;
  }
}

// What an executor tells of itself.
constexpr bool is_of_executor(EventType type) {
  return type == EventType::rclcpp_executor_wait_for_work ||
         type == EventType::rclcpp_executor_get_next_ready ||
         type == EventType::rclcpp_executor_execute;
}

// What a thread does not do within a call of publish(), from the client library to the rmw.
constexpr bool is_other_work(EventType type) {
  return is_work_step(type) || type == EventType::rmw_take ||
         type == EventType::rclcpp_ring_buffer_dequeue;
}

// What the hooks of sensor drivers tell.
constexpr bool is_of_driver(EventType type) {
  switch (type) {
    case EventType::source_init:
    case EventType::packet_received:
    case EventType::buffer_pulled:
    case EventType::frame_boundary:
    case EventType::cloud_ready:
    case EventType::copy_done:
      return true;
    default:
      return false;
  }
}

// What a thread does not do between a take and the callback that gets what was taken.
constexpr bool ends_wait_for_callback(EventType type) {
  switch (type) {
    case EventType::rmw_take:
    case EventType::rmw_take_request:
    case EventType::rmw_take_response:
    case EventType::rclcpp_ring_buffer_dequeue:
    case EventType::rclcpp_executor_execute:
    case EventType::callback_end:
    case EventType::rmw_send_response:
    case EventType::rclcpp_executor_wait_for_work:
    case EventType::rclcpp_executor_get_next_ready:
      return true;
    default:
      return false;
  }
}

}  // namespace strata
