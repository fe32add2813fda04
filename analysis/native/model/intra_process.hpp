// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Intra-process messages joined to those of the middleware: all traffic of a trace.
//
// One call of publish() is one publication, whichever ways it goes: rclcpp first stores the message
// in the ring buffers of its own process (rclcpp_intra_publish and one enqueue a subscription),
// then hands a copy to the middleware when there are subscriptions elsewhere. The two belong
// together when no other publication, callback or wait lies between on the thread and rcl_publish
// names the publisher.
//
// A subscription with intra-process communication also takes the copy from the middleware; rclcpp
// drops it without a callback. Such a take is a *duplicate*: no message of its own, and no loss.
//
// A subscription that is made late gets what a publisher's own buffer holds: while rclcpp makes it,
// the same thread stores those messages in its new buffer, without a publish since. They are
// *replayed*.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "model/context.hpp"
#include "model/entities.hpp"
#include "model/event.hpp"
#include "model/executions.hpp"
#include "model/steps.hpp"

namespace strata {

// A few numbers, or many.
class SmallSet {
 public:
  // Whether it is new.
  bool insert(int32_t number) {
    if (!many_.empty()) return many_.insert(number).second;
    if (std::ranges::find(few_, number) != few_.end()) return false;
    few_.push_back(number);
    if (few_.size() > kFew) many_.insert(few_.begin(), few_.end());
    return true;
  }
  void clear() {
    few_.clear();
    if (!many_.empty()) many_ = {};
  }

 private:
  static constexpr size_t kFew = 16;
  std::vector<int32_t> few_;
  std::unordered_set<int32_t> many_;
};

// Without any, all messages are those of the middleware.
inline bool has_ring_buffers(const Rows& rows) {
  return rows.intra_publishes.size() > 0 || rows.dequeues.size() > 0;
}

class IntraProcess {
 public:
  IntraProcess(Context& context, const Entities& entities, Executions& executions)
      : context_(context), entities_(entities), executions_(executions) {}

  // After the machines of publications, takes and ring buffers, whose rows it goes on with.
  static constexpr bool wants(EventType type) {
    return type == EventType::rclcpp_intra_publish || type == EventType::rcl_publish ||
           type == EventType::rmw_publish || type == EventType::rclcpp_ring_buffer_enqueue ||
           is_work_step(type) || ends_wait_for_callback(type);
  }
  void on(const Event& event);
  // Whole-run rule: after matching, and the rules of ring buffers.
  void finish();

 private:
  struct State {
    int32_t call = -1;  // row of the last intra-process publish
    int64_t call_at = kNone;
    int64_t call_ns = kNone;
    int64_t named = kNone;  // by the rcl_publish after it
    bool has_rcl = false;
    bool waits_for_rmw = false;  // its rmw_publish may come yet
    int32_t dequeue = -1;        // that waits for its callback
    SmallSet stored;             // buffers that the call stored its message in
  };

  void on_call(const Event& event, State& state);
  void on_rmw_publish(const Event& event, State& state);
  void on_enqueue(const Event& event, State& state);
  void on_callback_start(const Event& event, State& state);

  void finish_calls();
  void finish_dequeues();
  void finish_enqueues();
  void number_publications();
  void number_takes();
  Column<uint8_t> find_duplicates() const;
  void count_copy(size_t take) const;
  void match();
  void count_messages() const;
  bool is_of_one_topic(int64_t call, int64_t subscription) const;
  int64_t publisher_of(size_t call) const;

  Context& context_;
  const Entities& entities_;
  Executions& executions_;
  PerThread<State> states_;
  // From finish() on: the published message of each publish, and of each call.
  Column<int32_t> of_publish_;
  Column<int32_t> of_call_;
};

}  // namespace strata
