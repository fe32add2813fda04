// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/uses/picks.hpp"

#include <algorithm>
#include <utility>

#include "model/steps.hpp"

namespace strata {

void Picks::begin(const Event& event, OpenPick& pick) {
  const int64_t handle = event[field::rclcpp_executor_execute::handle];
  const Recent own{event.process, made(event.process), handle};
  Recent& recent = recent_[HandleHash{}({event.process, handle}) % recent_.size()];
  if (recent != own) {
    recent = own;
    const int64_t timer = timers_.find(event.process, handle);
    if (timer != kNone) picked_timers_[static_cast<size_t>(timer)] = true;
  }
  pick = {.is_open = true,
          .process = event.process,
          .made = made(event.process),
          .handle = handle,
          .subscription = entities_.subscription(event.process, handle),
          .ns = event.ns,
          .at = static_cast<int64_t>(event.at)};
}

void Picks::follow(const Event& event, OpenPick& pick, int64_t begun) {
  using enum EventType;
  if (!pick.has_next && is_of_ros2(event.type)) {
    pick.has_next = true;
    pick.is_lost = context_.settings.losses.touch(pick.ns, event.ns);
  }
  switch (event.type) {
    case take_end:
      pick.has_loan |=
          event[field::take_end::taken] > 0 && event[field::take_end::source_timestamp] > 0;
      return;
    case rcl_take:
    case rclcpp_take:
      pick.is_repeated = true;
      return;
    case rmw_take:
      if (strata::pick(context_.rows.subscriptions.rmw_handle, pick.subscription) ==
              event[field::rmw_take::rmw_subscription_handle] &&
          pick.subscription != kNone) {
        context_.uses.count(rclcpp_executor_execute, Use::subscription_picked);
        pick.is_open = false;
        return;
      }
      break;
    case rmw_take_request:
    case rmw_take_response:
    case rclcpp_ring_buffer_dequeue:
      break;
    default:
      if (!is_work_step(event.type)) return;
      break;
  }
  close(&event, pick, begun);
}

void Picks::end(OpenPick& pick) {
  if (!pick.has_next) pick.is_lost = context_.settings.losses.touch(pick.ns, INT64_MAX);
  close(nullptr, pick, kNone);
}

void Picks::close(const Event* event, OpenPick& pick, int64_t begun) {
  using enum EventType;
  pick.is_open = false;
  const Losses& losses = context_.settings.losses;
  Key key{.process = pick.process,
          .made = pick.made,
          .made_next = made(pick.process),
          .next = other,
          .flags = 0,
          .handle = pick.handle,
          .value = kNone};
  Picked picked{1, pick.ns, pick.subscription, kNone};
  bool lost_before_next = false;
  if (event != nullptr) {
    key.next = event->type;
    lost_before_next = losses.touch(0, event->ns);
    if (event->type == rmw_take) {
      key.value = (*event)[field::rmw_take::rmw_subscription_handle];
    } else if (event->type == rmw_take_request) {
      key.value = (*event)[field::rmw_take_request::rmw_service_handle];
    } else if (event->type == rmw_take_response) {
      key.value = (*event)[field::rmw_take_response::rmw_client_handle];
    } else if (event->type == callback_start) {
      key.value = (*event)[field::callback_start::callback];
      picked.execution = begun;
    }
  }
  key.flags = static_cast<uint8_t>((pick.is_lost ? kLost : 0) | (pick.is_repeated ? kRepeated : 0) |
                                   (losses.touch(0, pick.ns) ? kLostBefore : 0) |
                                   (lost_before_next ? kLostBeforeNext : 0));
  if (pick.has_loan && event != nullptr) {
    lent_.push_back({key, picked, event->thread, pick.at, static_cast<int64_t>(event->at)});
    return;
  }
  const auto [known, fresh] = picked_.try_emplace(key, picked);
  if (!fresh) ++known->second.events;
}

void Picks::finish() {
  find_services();
  find_clients();
  for (const auto& [key, picked] : picked_) {
    context_.uses.count(EventType::rclcpp_executor_execute, use_of(key, picked, false),
                        picked.events);
  }
  std::vector<std::pair<int64_t, int64_t>> loans;  // thread, place
  const auto& takes = context_.rows.takes;
  for (size_t row = 0; row < takes.size() && !lent_.empty(); ++row) {
    if (takes.loaned[row] == 1) loans.emplace_back(takes.thread[row], takes.at[row]);
  }
  std::ranges::sort(loans);
  for (const Lent& one : lent_) {
    const auto next = std::ranges::lower_bound(loans, std::make_pair(int64_t{one.thread}, one.at));
    const bool is_lent =
        next != loans.end() && next->first == one.thread && next->second < one.until_at;
    context_.uses.count(EventType::rclcpp_executor_execute, use_of(one.key, one.picked, is_lent));
  }
}

void Picks::find_services() {
  for (const Event& event : entities_.inits(EventType::rcl_service_init)) {
    namespace f = field::rcl_service_init;
    service_lives_.add(event.process, event[f::service_handle], event.ns);
    service_rmw_.push_back(event[f::rmw_service_handle]);
  }
  service_lives_.sort();
  for (const Event& event : entities_.inits(EventType::rclcpp_service_callback_added)) {
    namespace f = field::rclcpp_service_callback_added;
    service_links_.add(event.process, event[f::callback], event.ns);
    service_of_link_.push_back(
        service_lives_.find(event.process, event[f::service_handle], event.ns));
  }
  service_links_.sort();
}

// A client has two init events; it lives from the first of the two that was recorded. One rmw
// client is one rcl client: of a second one with its handle the rmw's init event is missing.
void Picks::find_clients() {
  const auto& made = entities_.inits(EventType::rmw_client_init);
  Lifetimes of_rmw;
  for (const Event& event : made) {
    of_rmw.add(event.process, event[field::rmw_client_init::rmw_client_handle], event.ns);
  }
  of_rmw.sort();
  namespace f = field::rcl_client_init;
  std::vector<int64_t> handle(made.size(), kNone);
  std::vector<bool> announced(made.size(), false);
  std::vector<const Event*> alone;
  for (const Event& event : entities_.inits(EventType::rcl_client_init)) {
    const int64_t own = of_rmw.find(event.process, event[f::rmw_client_handle], event.ns);
    if (own == kNone || announced[static_cast<size_t>(own)]) {
      alone.push_back(&event);
      continue;
    }
    announced[static_cast<size_t>(own)] = true;
    handle[static_cast<size_t>(own)] = event[f::client_handle];
  }
  for (size_t row = 0; row < made.size(); ++row) {
    client_lives_.add(made[row].process, handle[row], made[row].ns);
    client_rmw_.push_back(made[row][field::rmw_client_init::rmw_client_handle]);
  }
  for (const Event* event : alone) {
    client_lives_.add(event->process, (*event)[f::client_handle], event->ns);
    client_rmw_.push_back((*event)[f::rmw_client_handle]);
  }
  client_lives_.sort();
}

// The service of a callback, by the link nearest to its begin.
int64_t Picks::service_of_callback(int64_t callback) {
  const auto& callbacks = context_.rows.callbacks;
  const auto row = static_cast<size_t>(callback);
  if (callbacks.kind[row] != static_cast<int64_t>(CallbackKind::service)) return kNone;
  const auto [known, fresh] = service_of_callback_.try_emplace(callback, kNone);
  if (fresh) {
    const int64_t link = service_links_.nearest(callbacks.process[row], callbacks.address[row],
                                                callbacks.begin_ns[row]);
    if (link != kNone) known->second = service_of_link_[static_cast<size_t>(link)];
  }
  return known->second;
}

Picks::Named Picks::named(const Key& key, const Picked& picked) const {
  return {entities_.timer_at(key.process, key.handle, picked.ns),
          service_lives_.find(key.process, key.handle, picked.ns),
          client_lives_.find(key.process, key.handle, picked.ns)};
}

// Whether a callback of the timer begins, or of the service, as far as is known.
bool Picks::started(const Key& key, const Picked& picked, const Named& of, bool of_service) {
  const int64_t callback = pick(context_.rows.executions.callback, picked.execution);
  const int64_t wanted = of_service ? of.service : of.timer;
  if (wanted == kNone || callback == kNone) return false;
  const auto& callbacks = context_.rows.callbacks;
  const int64_t own = of_service ? service_of_callback(callback) : pick(callbacks.timer, callback);
  const bool is_nobodys =
      callbacks.kind[static_cast<size_t>(callback)] == static_cast<int64_t>(CallbackKind::unknown);
  return own == wanted || (is_nobodys && (key.flags & kLostBeforeNext) != 0);
}

Use Picks::use_of(const Key& key, const Picked& picked, bool is_lent) {
  using enum EventType;
  const auto has = [&key](Flag flag) { return (key.flags & flag) != 0; };
  const Named of = named(key, picked);
  const bool unnamed = picked.subscription == kNone && of.timer == kNone && of.service == kNone &&
                       of.client == kNone;
  const bool before = unnamed && (context_.uses.is_older(key.process) || has(kLostBefore));
  const auto took = [&](EventType take, int64_t row, int64_t rmw_handle) {
    return key.next == take && ((row != kNone && key.value == rmw_handle) || before);
  };
  const auto handle_of = [](const std::vector<int64_t>& handles, int64_t row) {
    return row == kNone ? kNone : handles[static_cast<size_t>(row)];
  };
  const int64_t of_subscription = pick(context_.rows.subscriptions.rmw_handle, picked.subscription);
  if (is_lent || took(rmw_take, picked.subscription, of_subscription)) {
    return Use::subscription_picked;
  }
  const int64_t callback = pick(context_.rows.executions.callback, picked.execution);
  const bool listens = picked.subscription != kNone &&
                       pick(context_.rows.callbacks.subscription, callback) == picked.subscription;
  if (listens && !has(kRepeated)) return Use::loan_picked;
  const bool begins = key.next == callback_start;
  if (started(key, picked, of, false) || (begins && before)) return Use::timer_picked;
  if (took(rmw_take_request, of.service, handle_of(service_rmw_, of.service)) ||
      started(key, picked, of, true)) {
    return Use::service_picked;
  }
  if (is_of_action(key.handle)) return Use::goal_picked;
  if (took(rmw_take_response, of.client, handle_of(client_rmw_, of.client))) {
    return Use::client_picked;
  }
  if (has(kLost)) return Use::partner_lost;
  const bool idle = key.next == other || key.next == rclcpp_executor_wait_for_work ||
                    key.next == rclcpp_executor_get_next_ready ||
                    key.next == rclcpp_executor_execute;
  return idle && (!unnamed || before) ? Use::nothing_picked : Use::unexplained;
}

}  // namespace strata
