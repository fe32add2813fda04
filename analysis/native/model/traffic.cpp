// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/traffic.hpp"

#include <algorithm>
#include <utility>

#include "model/arrange.hpp"
#include "model/steps.hpp"

namespace strata {

void Traffic::on_publish(const Event& event, State& state) {
  namespace f = field::rmw_publish;
  using enum EventType;
  const int64_t barrier = context_.last[event.thread].latest(
      {rmw_publish, rmw_take, rclcpp_ring_buffer_dequeue, callback_start, callback_end,
       rclcpp_executor_wait_for_work, rclcpp_executor_get_next_ready, rclcpp_executor_execute});
  const auto of_call = [&](const Call& call) {
    return call.at > barrier && call.message == event[f::message];
  };
  const Call* rclcpp = of_call(state.rclcpp) ? &state.rclcpp : nullptr;
  const Call* rcl = of_call(state.rcl) ? &state.rcl : nullptr;
  const int64_t handle = event[f::rmw_publisher_handle];
  int64_t publisher = kNone;
  if (handle != kNone) {
    publisher = entities_.publisher_by_rmw(event.process, handle);
  } else if (rcl != nullptr) {
    publisher = entities_.publisher(event.process, rcl->publisher);
  }
  const int64_t entered = entered_ns(event, state, rcl, publisher);
  const int64_t rclcpp_ns = rclcpp != nullptr ? rclcpp->ns : entered;
  const int64_t rcl_ns = rcl != nullptr ? rcl->ns : kNone;

  auto& rows = context_.rows.publishes;
  const auto row = static_cast<size_t>(rows.add());
  rows.thread[row] = static_cast<int32_t>(event.thread);
  rows.ns[row] = event.ns;
  rows.at[row] = static_cast<int64_t>(event.at);
  rows.publisher[row] = static_cast<int32_t>(publisher);
  rows.procname[row] = event.procname;
  rows.rmw_handle[row] = handle;
  rows.stamp[row] = event[f::source_timestamp];
  rows.open_execution[row] = static_cast<int32_t>(executions_.innermost_open(event.thread));
  rows.has_client[row] = rclcpp_ns != kNone || rcl_ns != kNone ? 1 : 0;
  if (rclcpp_ns != kNone && is_near(rclcpp_ns, event.ns)) {
    rows.client_ns[row] = rclcpp_ns;
  } else if (rcl_ns != kNone && is_near(rcl_ns, event.ns)) {
    rows.client_ns[row] = rcl_ns;
  }
}

// When rclpy emitted its rclcpp_publish of this call; kNone for none.
int64_t Traffic::entered_ns(const Event& event, State& state, const Call* rcl, int64_t publisher) {
  entered_ = kNone;
  int64_t handle = rcl != nullptr ? rcl->publisher : kNone;
  if (handle == kNone) handle = pick(context_.rows.publishers.handle, publisher);
  if (handle == kNone) return kNone;
  const Call* call = state.entered.find(handle);
  const auto [before, fresh] = state.published_at.try_emplace(handle, kNone);
  const int64_t previous = std::exchange(*before, static_cast<int64_t>(event.at));
  // What comes before other work was forgotten with it.
  if (call == nullptr || call->at <= previous) return kNone;
  entered_ = handle;
  return call->ns;
}

int64_t Traffic::picked_ns(const Event& event, const State& state, int64_t subscription) const {
  using enum EventType;
  const LastEvents& last = context_.last[event.thread];
  const auto& execute = last.of(rclcpp_executor_execute);
  const int64_t barrier =
      last.latest({rmw_take, callback_start, callback_end, rclcpp_executor_wait_for_work,
                   rclcpp_executor_get_next_ready});
  if (execute.at == kNone || execute.at < barrier) return kNone;
  const bool same = subscription == kNone ||
                    state.picked_handle == pick(context_.rows.subscriptions.handle, subscription);
  return same && is_near(execute.ns, event.ns) ? execute.ns : kNone;
}

void Traffic::on_take(const Event& event, State& state) {
  namespace f = field::rmw_take;
  has_takes_ = true;
  state.take = kNone;
  if (event[f::taken] != 1) {
    context_.ledger.add(Finding::empty_takes);
    return;
  }
  if (event[f::source_timestamp] <= 0) {
    context_.ledger.add(Finding::takes_without_source_timestamp);
    return;
  }
  auto& rows = context_.rows.takes;
  state.take = rows.add();
  const auto row = static_cast<size_t>(state.take);
  const int64_t handle = event[f::rmw_subscription_handle];
  rows.thread[row] = static_cast<int32_t>(event.thread);
  rows.ns[row] = event.ns;
  rows.at[row] = static_cast<int64_t>(event.at);
  rows.subscription[row] =
      static_cast<int32_t>(entities_.subscription_by_rmw(event.process, handle));
  rows.rmw_handle[row] = handle;
  rows.stamp[row] = event[f::source_timestamp];
  rows.picked_ns[row] = picked_ns(event, state, rows.subscription[row]);
}

void Traffic::on_take_end(const Event& event, State& state) {
  namespace f = field::take_end;
  if (event[f::taken] <= 0 || event[f::source_timestamp] <= 0) return;
  auto& rows = context_.rows.loans;
  state.loan = rows.add();
  const auto row = static_cast<size_t>(state.loan);
  rows.thread[row] = static_cast<int32_t>(event.thread);
  rows.ns[row] = event.ns;
  rows.at[row] = static_cast<int64_t>(event.at);
  rows.stamp[row] = event[f::source_timestamp];
  rows.since_ns[row] = state.last_step_ns != kNone ? state.last_step_ns : event.ns;
  if (state.last_step == EventType::rclcpp_executor_execute) {
    rows.picked[row] = static_cast<int32_t>(state.picked_subscription);
    rows.picked_ns[row] = picked_ns(event, state, state.picked_subscription);
  }
}

// The next step of the thread, or its next take within the middleware, decides whether it may have
// been the take of a loan.
void Traffic::resolve_loan(const Event& event, State& state) {
  auto& rows = context_.rows.loans;
  const auto row = static_cast<size_t>(state.loan);
  state.loan = kNone;
  if (!is_work_step(event.type)) return;
  rows.until_ns[row] = event.ns;
  if (event.type == EventType::callback_start) {
    rows.execution[row] = static_cast<int32_t>(bare_start_.size());
  }
}

void Traffic::on_callback_start(const Event& event, State& state) {
  const auto execution = static_cast<int64_t>(bare_start_.size());
  const bool bare = is_work_step(state.last_step) && is_near(state.last_step_ns, event.ns);
  bare_start_.push_back(bare ? 1 : 0);
  if (state.take == kNone) return;
  const auto row = static_cast<size_t>(state.take);
  state.take = kNone;
  auto& rows = context_.rows.takes;
  if (is_near(rows.ns[row], event.ns)) rows.execution[row] = static_cast<int32_t>(execution);
}

void Traffic::finish() {
  if (has_takes_) add_loans();
  drop_foreign_executions();
  if (has_takes_) count_unseen_takes();
  find_published();
}

// The subscription whose callback an execution is, of messages of the middleware; kNone for none.
int64_t Traffic::subscription_of(int64_t execution) const {
  if (execution == kNone) return kNone;
  const auto& executions = context_.rows.executions;
  const auto row = static_cast<size_t>(execution);
  if (executions.is_intra_process[row] != 0) return kNone;
  return pick(context_.rows.callbacks.subscription, executions.callback[row]);
}

void Traffic::add_loans() {
  const auto& loans = context_.rows.loans;
  int64_t added = 0;
  for (size_t row = 0; row < loans.size(); ++row) {
    if (loans.until_ns[row] == kNone || !is_near(loans.since_ns[row], loans.until_ns[row]))
      continue;
    const int64_t picked = loans.picked[row];
    const int64_t started = subscription_of(loans.execution[row]);
    if (picked != kNone && started != kNone && picked != started) continue;
    const int64_t subscription = picked != kNone ? picked : started;
    if (subscription == kNone) continue;
    add_loan(row, subscription);
    ++added;
  }
  if (added > 0) sort_takes();
  context_.ledger.add(Finding::loaned_takes, added);
}

void Traffic::add_loan(size_t loan, int64_t subscription) {
  const auto& loans = context_.rows.loans;
  auto& takes = context_.rows.takes;
  const auto row = static_cast<size_t>(takes.add());
  takes.thread[row] = loans.thread[loan];
  takes.ns[row] = loans.ns[loan];
  takes.at[row] = loans.at[loan];
  takes.subscription[row] = static_cast<int32_t>(subscription);
  takes.rmw_handle[row] = pick(context_.rows.subscriptions.rmw_handle, subscription);
  takes.stamp[row] = loans.stamp[loan];
  if (loans.picked[loan] == subscription) takes.picked_ns[row] = loans.picked_ns[loan];
  if (loans.execution[loan] != kNone && is_near(loans.ns[loan], loans.until_ns[loan])) {
    takes.execution[row] = loans.execution[loan];
  }
  takes.loaned[row] = 1;
}

void Traffic::sort_takes() {
  auto& takes = context_.rows.takes;
  std::vector<size_t> order(takes.size());
  for (size_t row = 0; row < order.size(); ++row) order[row] = row;
  std::ranges::stable_sort(order, {}, [&](size_t row) { return takes.at[row]; });
  arrange(takes, order);
}

void Traffic::drop_foreign_executions() {
  auto& takes = context_.rows.takes;
  const auto& executions = context_.rows.executions;
  for (size_t row = 0; row < takes.size(); ++row) {
    const int64_t execution = takes.execution[row];
    if (execution == kNone) continue;
    const auto at = static_cast<size_t>(execution);
    const int64_t owner = pick(context_.rows.callbacks.subscription, executions.callback[at]);
    const bool foreign =
        owner != kNone && takes.subscription[row] != kNone && owner != takes.subscription[row];
    // What goes on with an earlier execution was not started by a take.
    if (foreign || executions.is_intra_process[at] == 1 || executions.is_resumed[at] != 0) {
      takes.execution[row] = kNone;
    }
  }
}

// Subscriptions' callbacks that no event of a take comes before: of loaned messages, where the
// middleware's own events are not there.
void Traffic::count_unseen_takes() {
  constexpr int64_t kFirstRclpyId = int64_t{1} << 52U;
  const auto& takes = context_.rows.takes;
  const auto& executions = context_.rows.executions;
  std::vector<bool> taken(executions.size(), false);
  for (size_t row = 0; row < takes.size(); ++row) {
    if (takes.execution[row] != kNone) taken[static_cast<size_t>(takes.execution[row])] = true;
  }
  int64_t unseen = 0;
  for (size_t row = 0; row < executions.size(); ++row) {
    if (bare_start_[row] == 0 || taken[row] || executions.is_resumed[row] != 0) continue;
    // rclpy borrows no messages: what starts without a take goes on with a suspended callback.
    if (executions.address[row] >= kFirstRclpyId) continue;
    if (subscription_of(static_cast<int64_t>(row)) != kNone) ++unseen;
  }
  context_.ledger.add(Finding::unseen_takes, unseen);
}

// Graph topics (ros_discovery_info) have an rmw publisher only: no rcl init event, no rcl_publish.
// Without init events, an rcl_publish tells the application's messages. Graph topics are taken
// without a stamp: what was taken by its stamp is the application's.
void Traffic::find_published() {
  auto& rows = context_.rows.publishes;
  const auto& takes = context_.rows.takes;
  const auto is_nameless = [&](size_t row) {
    return rows.publisher[row] == kNone && rows.has_client[row] == 0;
  };
  std::unordered_map<int64_t, bool> taken;  // by stamp of nameless ones
  for (size_t row = 0; row < rows.size(); ++row) {
    if (is_nameless(row) && rows.stamp[row] > 0) taken[rows.stamp[row]] = false;
  }
  for (size_t row = 0; row < takes.size() && !taken.empty(); ++row) {
    const auto known = taken.find(takes.stamp[row]);
    if (known != taken.end() && takes.loaned[row] == 0) known->second = true;
  }
  Ledger& ledger = context_.ledger;
  for (size_t row = 0; row < rows.size(); ++row) {
    const bool graph = is_nameless(row) && !(rows.stamp[row] > 0 && taken[rows.stamp[row]]);
    rows.of_application[row] = graph ? 0 : 1;
    if (graph) {
      ledger.add(Finding::graph_publications);
      continue;
    }
    if (rows.stamp[row] == kNone) ledger.add(Finding::publications_without_timestamp);
    if (rows.has_client[row] == 0) ledger.add(Finding::publications_without_client_event);
    rows.execution[row] = static_cast<int32_t>(
        executions_.enclosing(rows.open_execution[row], rows.at[row], rows.ns[row]));
  }
}

}  // namespace strata
