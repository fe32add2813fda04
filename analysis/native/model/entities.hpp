// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Nodes, publishers, subscriptions, timers and callbacks, each with its lifetime.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/context.hpp"
#include "model/event.hpp"
#include "model/lifetimes.hpp"
#include "model/steps.hpp"

namespace strata {

// What rclpy_tracepoints gives where rclcpp has addresses of goals and callbacks of actions
// (strata.schema.rclpy_events.RCLPY_IDS).
constexpr bool is_of_action(int64_t handle) {
  return handle >= int64_t{1} << 52U && handle < int64_t{1} << 53U;
}

enum class CallbackKind : int64_t { unknown, subscription, timer, service, action };

class Entities {
 public:
  explicit Entities(Context& context) : context_(context), rows_(context.rows) {}

  static constexpr bool wants(EventType type) {
    return type == EventType::callback_start || introduces(type);
  }
  void on(const Event& event);
  // What belongs to what, over the whole trace: `callbacks` and `timers` are there from then on.
  void finish();

  // Rows of what has a handle now, while events go by; kNone for none.
  int64_t node(uint32_t process, int64_t handle) const { return nodes_.find(process, handle); }
  int64_t publisher(uint32_t process, int64_t handle) const {
    return publishers_.find(process, handle);
  }
  int64_t publisher_by_rmw(uint32_t process, int64_t handle) const {
    return rmw_publishers_.find(process, handle);
  }
  int64_t subscription(uint32_t process, int64_t handle) const {
    return subscriptions_.find(process, handle);
  }
  int64_t subscription_by_rmw(uint32_t process, int64_t handle) const {
    return rmw_subscriptions_.find(process, handle);
  }

  // The number of the rcl_timer_init that has a handle now, among those of its type.
  int64_t timer_init(uint32_t process, int64_t handle) const {
    return living_timers_.find(process, handle);
  }

  // Rows of `callbacks`, after finish().
  int64_t callback_at(int64_t process, int64_t address, int64_t ns) const {
    return callback_lives_.find(process, address, ns);
  }
  int64_t nearest_callback(int64_t process, int64_t address, int64_t ns) const {
    return callback_lives_.nearest(process, address, ns);
  }
  int64_t timer_at(int64_t process, int64_t handle, int64_t ns) const;
  // Row of the timers of each rcl_timer_init; kNone for none.
  const std::vector<int64_t>& timers() const { return timer_row_; }
  // The subscription of rclcpp's object that was announced nearest to a time.
  int64_t subscription_of_object(int64_t process, int64_t object, int64_t ns) const;

  // Events that are kept whole: when an entity is made or changes its state.
  static constexpr bool introduces(EventType type) {
    if (type == EventType::rcl_lifecycle_transition) return true;
    return type != EventType::other && kEvents[static_cast<size_t>(type)].is_init;
  }
  // All of a type that are kept, in order.
  const std::vector<Event>& inits(EventType type) const {
    return inits_[static_cast<size_t>(type)];
  }

 private:
  struct Owner;

  void add_node(const Event& event);
  template <typename Fields>
  int64_t add_endpoint(const Event& event);
  void find_timers();
  void find_callbacks();
  std::vector<Owner> owners() const;
  Owner owner_by_subscription(const Event& added) const;
  Owner owner_by_timer(const Event& added) const;
  Owner owner_by_service(const Event& added) const;
  void add_callback(int64_t process, int64_t address, int64_t symbol, int64_t begin_ns);
  int64_t node_at(int64_t process, int64_t handle, int64_t ns) const {
    return node_lives_.find(process, handle, ns);
  }

  Context& context_;
  Rows& rows_;
  std::array<std::vector<Event>, kEventTypes> inits_;
  Living nodes_;
  Living publishers_;
  Living rmw_publishers_;
  Living subscriptions_;
  Living rmw_subscriptions_;
  Living registered_;
  Living living_timers_;
  // When a callback ran first that was not registered until then.
  std::unordered_map<HandleKey, int64_t, HandleHash> ran_unregistered_;

  // From finish() on.
  Lifetimes node_lives_;
  Lifetimes timer_lives_;  // of all rcl timers
  std::vector<int64_t> timer_row_;
  Lifetimes object_lives_;
  std::vector<int64_t> subscription_of_object_;
  Lifetimes link_lives_;
  std::vector<int64_t> node_of_link_;
  Lifetimes service_lives_;
  std::vector<int64_t> node_of_service_;
  Lifetimes callback_lives_;
};

}  // namespace strata
