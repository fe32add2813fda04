// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What the events of messages were used for that go through the middleware.
//
// A call of publish() is used when an rmw_publish of its message follows, or, of rclpy, one of the
// publisher that it names. Until then it is open; of those that stay so, what else is known of
// their process decides in finish().
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/context.hpp"
#include "model/entities.hpp"
#include "model/event.hpp"
#include "model/few_by_key.hpp"
#include "model/steps.hpp"
#include "model/traffic.hpp"
#include "model/uses/announcements.hpp"

namespace strata {

class MessageUses {
 public:
  MessageUses(Context& context, const Entities& entities, const Traffic& traffic)
      : context_(context), entities_(entities), traffic_(traffic) {
    said_last_.fill({kNone, kNone});
  }

  // Traffic has seen the event.
  static constexpr bool wants(EventType type) {
    if (type == EventType::other) return false;
    return (is_of_timeline(type) && is_of_ros2(type)) || kEvents[static_cast<size_t>(type)].is_init;
  }
  [[gnu::always_inline]] void on(const Event& event);
  // After traffic.
  void finish(const Announcements& announcements);

 private:
  struct Call {
    int64_t at = kNone;
    int64_t ns = 0;
    int64_t message = kNone;
    int64_t until_ns = INT64_MAX;  // of the next that no call reaches over, if there is one
    uint32_t thread = 0;
    uint32_t process = 0;
    bool is_open = false;
    bool has_rmw = false;  // an rmw_publish, of whatever message
    bool has_rcl = false;  // an rcl_publish
  };
  struct State {
    Call rcl;
    int64_t unfinished = 0;  // rcl_publish that no rmw_publish and no work came after
    // rclcpp_publish that were not used so far, by what they named, since the last other work.
    FewByKey<Call> entered;
    int64_t open = kNone;  // the last of them, if it is open
    bool has_open = false;
    int64_t went_on = kNone;              // place of the last rmw_publish, or work
    int64_t taken_message = kNone;        // of the last rmw_take
    EventType before = EventType::other;  // of `ros2`, the last
    int64_t before_message = kNone;       // of a publish()
  };
  // A subscription that is not known, and the init events of its process until then.
  using Taker = std::tuple<int64_t, int64_t, uint32_t>;
  struct Empty {
    uint64_t events = 0;
    int64_t ns = 0;
  };

  void on_rcl_publish(const Event& event, State& state);
  void on_rclcpp_publish(const Event& event, State& state);
  void on_rmw_publish(const Event& event, State& state);
  void on_other_work(const Event& event, State& state);
  void end_rcl(State& state, int64_t until_ns, bool goes_on);
  void end_rclcpp(State& state, int64_t until_ns);
  void give_up(const Call& call);
  void go_on(const Event& event, State& state);
  void on_take(const Event& event, State& state);
  void on_repeated(const Event& event, const State& state, int64_t message);
  void on_intra_publish(const Event& event);
  void count_open();
  void count_publishes(const Announcements& announcements);
  void count_unused();
  void count_empty_takes(const Announcements& announcements);
  int64_t process_of(int64_t thread) const {
    return context_.rows.threads.process[static_cast<size_t>(thread)];
  }
  bool lost(int64_t begin_ns, int64_t end_ns) const {
    return context_.settings.losses.touch(begin_ns, end_ns);
  }

  Context& context_;
  const Entities& entities_;
  const Traffic& traffic_;
  PerThread<State> states_;
  std::vector<int64_t> nameless_;  // publishes of no known publisher that nothing called
  std::vector<Call> unused_;       // rclcpp_publish that no rmw_publish followed
  std::unordered_set<HandleKey, HandleHash> said_;  // publishers that an rcl_publish named
  std::array<HandleKey, 64> said_last_;             // some of them, by hash
  std::map<Taker, Empty> empty_takes_;
  std::unordered_set<HandleKey, HandleHash> graph_takers_;  // they took without a stamp
  std::vector<uint32_t> made_;                              // init events by process
};

// In place, so that it is compiled for each type of event by itself.
inline void MessageUses::on(const Event& event) {
  using enum EventType;
  if (event.type == other) return;
  if (kEvents[static_cast<size_t>(event.type)].is_init) {
    if (event.process >= made_.size()) made_.resize(event.process + size_t{1}, 0);
    ++made_[event.process];
    if (event.type == rcl_init) context_.uses.begin_context(event.process);
  }
  if (!is_of_timeline(event.type) || !is_of_ros2(event.type)) return;
  State& state = states_[event.thread];
  int64_t message = kNone;
  switch (event.type) {
    case rclcpp_publish:
      on_rclcpp_publish(event, state);
      message = event[field::rclcpp_publish::message];
      break;
    case rcl_publish:
      on_rcl_publish(event, state);
      message = event[field::rcl_publish::message];
      break;
    case rmw_publish:
      on_rmw_publish(event, state);
      break;
    case rclcpp_intra_publish:
      on_intra_publish(event);
      break;
    case rmw_take:
      on_take(event, state);
      break;
    case rcl_take:
      on_repeated(event, state, event[field::rcl_take::message]);
      break;
    case rclcpp_take:
      on_repeated(event, state, event[field::rclcpp_take::message]);
      break;
    default:
      break;
  }
  if (is_other_work(event.type)) on_other_work(event, state);
  state.before = event.type;
  state.before_message = message;
}

}  // namespace strata
