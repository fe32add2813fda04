// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Publications and takes: what a thread did around each rmw_publish and rmw_take.
//
// On the publishing thread: [rclcpp_publish] -> [rcl_publish] -> rmw_publish of one call, with no
// events lost in between: of which call those before are is not known then. On the taking thread:
// [execute] -> rmw_take -> [callback_start]. An execute belongs to a take when no other take,
// callback or wait lies between them and it names the take's subscription; a callback_start when no
// other take, execute or wait lies between, and the callback is not another subscription's.
//
// rclpy emits rclcpp_publish on entry of publish(), before the message's C form exists, with the
// rcl publisher's address in place of the message; other publishers may publish in between. Of one
// call are the last such event of the publisher on its thread and the publisher's next rmw_publish
// there, with no callback, take or wait in between.
//
// The middleware emits no rmw_take of a loaned message: a DDS take that took something, and that no
// event of a take follows, is of the subscription that was picked just before; where none was, of
// that whose callback starts just after. When both are known they are one.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/context.hpp"
#include "model/entities.hpp"
#include "model/event.hpp"
#include "model/executions.hpp"
#include "model/few_by_key.hpp"
#include "model/steps.hpp"

namespace strata {

class Traffic {
 public:
  Traffic(Context& context, const Entities& entities, Executions& executions)
      : context_(context), entities_(entities), executions_(executions) {}

  static constexpr bool wants(EventType type) {
    if (is_take_step(type) || is_work_step(type)) return true;
    switch (type) {
      case EventType::rclcpp_publish:
      case EventType::rcl_publish:
      case EventType::rmw_publish:
      case EventType::rmw_send_response:
      case EventType::take_begin:
      case EventType::take_end:
        return true;
      default:
        return false;
    }
  }
  [[gnu::always_inline]] void on(const Event& event);
  // The rcl publisher by which rclpy's rclcpp_publish was found of the rmw_publish that is looked
  // at; kNone for none.
  int64_t entered() const { return entered_; }
  // Which takes were loans, what each started, which publishes are the middleware's own.
  void finish();

 private:
  struct Call {
    int64_t at = kNone;
    int64_t ns = kNone;
    int64_t message = kNone;
    int64_t publisher = kNone;  // handle
  };
  struct State {
    Call rclcpp;
    Call rcl;
    int64_t picked_handle = kNone;           // of the last execute
    int64_t picked_subscription = kNone;     // row
    int64_t take = kNone;                    // that waits for its callback
    int64_t loan = kNone;                    // a row of `loans` that waits for the next event
    EventType last_step = EventType::other;  // of a take or of work
    int64_t last_step_ns = kNone;
    // By what rclcpp_publish named, since the last other work: rclpy names publishers.
    FewByKey<Call> entered;
    FewByKey<int64_t> published_at;  // by rcl handle
  };

  void on_publish(const Event& event, State& state);
  int64_t entered_ns(const Event& event, State& state, const Call* rcl, int64_t publisher);
  void on_take(const Event& event, State& state);
  void on_take_end(const Event& event, State& state);
  void on_callback_start(const Event& event, State& state);
  void resolve_loan(const Event& event, State& state);
  int64_t picked_ns(const Event& event, const State& state, int64_t subscription) const;
  bool is_near(int64_t begin_ns, int64_t end_ns) const {
    return !context_.settings.losses.touch(begin_ns, end_ns);
  }

  void add_loans();
  void add_loan(size_t loan, int64_t subscription);
  void sort_takes();
  void drop_foreign_executions();
  void find_published();
  void count_unseen_takes();
  int64_t subscription_of(int64_t execution) const;

  Context& context_;
  const Entities& entities_;
  Executions& executions_;
  PerThread<State> states_;
  int64_t entered_ = kNone;
  bool has_takes_ = false;  // any rmw_take
  // By execution: it began after work, and no take: 1.
  Column<uint8_t> bare_start_;
};

// In place, so that it is compiled for each type of event by itself.
inline void Traffic::on(const Event& event) {
  const EventType type = event.type;
  if (!wants(type)) return;
  const bool is_step = is_take_step(type) || is_work_step(type);
  State& state = states_[event.thread];
  if (state.loan != kNone && (is_step || type == EventType::take_begin)) {
    resolve_loan(event, state);
  }
  switch (type) {
    case EventType::rclcpp_publish: {
      const int64_t message = event[field::rclcpp_publish::message];
      state.rclcpp = {static_cast<int64_t>(event.at), event.ns, message, kNone};
      state.entered[message] = state.rclcpp;
      break;
    }
    case EventType::rcl_publish:
      state.rcl = {static_cast<int64_t>(event.at), event.ns, event[field::rcl_publish::message],
                   event[field::rcl_publish::publisher_handle]};
      break;
    case EventType::rmw_publish:
      on_publish(event, state);
      break;
    case EventType::rmw_take:
      on_take(event, state);
      break;
    case EventType::take_end:
      on_take_end(event, state);
      break;
    case EventType::callback_start:
      on_callback_start(event, state);
      break;
    case EventType::rclcpp_executor_execute: {
      const int64_t handle = event[field::rclcpp_executor_execute::handle];
      state.picked_handle = handle;
      state.picked_subscription = entities_.subscription(event.process, handle);
      break;
    }
    default:
      break;
  }
  if (ends_wait_for_callback(type) && type != EventType::rmw_take) state.take = kNone;
  if (is_other_work(type)) {
    state.entered.clear();
    state.published_at.clear();
  }
  if (is_step) {
    state.last_step = type;
    state.last_step_ns = event.ns;
  }
}

}  // namespace strata
