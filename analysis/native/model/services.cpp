// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/services.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>

namespace strata {
namespace {

bool is_of_client(StepKind kind) {
  return kind == StepKind::send_request || kind == StepKind::take_response;
}

// The participant is the first 12 bytes of a GUID.
bool is_same_participant(std::string_view first, std::string_view second) {
  return first.substr(0, 12) == second.substr(0, 12) &&
         first.substr(0, 8).find_first_not_of('\0') != std::string_view::npos;
}

}  // namespace

std::vector<int64_t> Services::thread_order(const Context& context) {
  const auto& threads = context.rows.threads;
  const auto& processes = context.rows.processes;
  std::vector<size_t> order(threads.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto key = [&](size_t row) {
    const auto process = static_cast<size_t>(threads.process[row]);
    const int64_t host = processes.host[process];
    return std::tuple(host == kNone ? std::string_view() : context.strings.texts[host],
                      processes.vpid[process], process, threads.vtid[row]);
  };
  std::ranges::sort(order, {}, key);
  std::vector<int64_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int64_t>(i);
  return place;
}

void Services::finish(const std::vector<dds::HookedClient>& hooked) {
  for (size_t row = 0; row < context_.rows.nodes.size(); ++row) {
    const auto& nodes = context_.rows.nodes;
    node_lives_.add(nodes.process[row], nodes.handle[row], nodes.begin_ns[row]);
  }
  node_lives_.sort();
  find_services();
  find_clients(hooked);
  find_owners_of_callbacks();
  const std::vector<uint32_t> order = ordered();
  for (const uint32_t number : order) add_row(steps_.steps()[number]);
  number_nameless();
  PerThread<Before> before;
  for (size_t row = 0; row < order.size(); ++row) {
    const ServiceStep& step = steps_.steps()[order[row]];
    look_back(row, step, before[step.thread]);
  }
  find_goals(order);
  add_feedback(order);
}

void Services::find_services() {
  namespace f = field::rcl_service_init;
  auto& rows = context_.rows.services;
  for (const Event& event : entities_.inits(EventType::rcl_service_init)) {
    const auto row = static_cast<size_t>(rows.add());
    rows.process[row] = event.process;
    rows.handle[row] = event[f::service_handle];
    rows.rmw_handle[row] = event[f::rmw_service_handle];
    rows.node[row] = node_lives_.find(event.process, event[f::node_handle], event.ns);
    rows.name[row] = event[f::service_name];
    rows.begin_ns[row] = event.ns;
    service_lives_.add(event.process, event[f::rmw_service_handle], event.ns);
  }
  service_lives_.sort();
}

void Services::find_clients(const std::vector<dds::HookedClient>& hooked) {
  namespace f = field::rcl_client_init;
  namespace g = field::rmw_client_init;
  std::vector<dds::HookedClient> made;
  for (const Event& event : entities_.inits(EventType::rmw_client_init)) {
    made.push_back(
        {event.process, event[g::rmw_client_handle], steps_.guids().guid(event[g::gid]), event.ns});
  }
  made.insert(made.end(), hooked.begin(), hooked.end());
  std::ranges::stable_sort(made, {}, &dds::HookedClient::ns);
  auto& rows = context_.rows.clients;
  Lifetimes lives;
  for (const dds::HookedClient& one : made) {
    const auto row = static_cast<size_t>(rows.add());
    rows.process[row] = one.process;
    rows.rmw_handle[row] = one.handle;
    rows.gid[row] = static_cast<int32_t>(one.gid);
    rows.begin_ns[row] = one.ns;
    lives.add(one.process, one.handle, one.ns);
  }
  lives.sort();
  std::vector<bool> announced(made.size(), false);
  for (const Event& event : entities_.inits(EventType::rcl_client_init)) {
    const int64_t handle = event[f::rmw_client_handle];
    int64_t own = lives.find(event.process, handle, event.ns);
    // One rmw client is one rcl client: a second one with its handle lacks its rmw_client_init.
    if (own != kNone && announced[static_cast<size_t>(own)]) own = kNone;
    if (own == kNone) {
      own = rows.add();
      const auto row = static_cast<size_t>(own);
      rows.process[row] = event.process;
      rows.rmw_handle[row] = handle;
      rows.begin_ns[row] = event.ns;
    } else {
      announced[static_cast<size_t>(own)] = true;
    }
    const auto row = static_cast<size_t>(own);
    rows.handle[row] = event[f::client_handle];
    rows.node[row] = node_lives_.find(event.process, event[f::node_handle], event.ns);
    rows.name[row] = event[f::service_name];
  }
  for (size_t row = 0; row < rows.size(); ++row) {
    client_lives_.add(rows.process[row], rows.rmw_handle[row], rows.begin_ns[row]);
  }
  client_lives_.sort();
}

// By the rclcpp_service_callback_added that is nearest to when the callback came to be.
void Services::find_owners_of_callbacks() {
  namespace f = field::rclcpp_service_callback_added;
  const auto& callbacks = context_.rows.callbacks;
  const auto& services = context_.rows.services;
  Lifetimes handles, links;
  for (size_t row = 0; row < services.size(); ++row) {
    handles.add(services.process[row], services.handle[row], services.begin_ns[row]);
  }
  handles.sort();
  std::vector<int64_t> service;
  for (const Event& event : entities_.inits(EventType::rclcpp_service_callback_added)) {
    links.add(event.process, event[f::callback], event.ns);
    service.push_back(handles.find(event.process, event[f::service_handle], event.ns));
  }
  links.sort();
  service_of_callback_.assign(callbacks.size(), kNone);
  for (size_t row = 0; row < callbacks.size(); ++row) {
    if (callbacks.kind[row] != static_cast<int64_t>(CallbackKind::service)) continue;
    const int64_t link =
        links.nearest(callbacks.process[row], callbacks.address[row], callbacks.begin_ns[row]);
    if (link != kNone) service_of_callback_[row] = service[static_cast<size_t>(link)];
  }
}

std::vector<uint32_t> Services::ordered() const {
  const auto& steps = steps_.steps();
  std::vector<uint32_t> order;
  for (size_t row = 0; row < steps.size(); ++row) {
    const bool hooked = steps[row].told != StepRule::event;
    const int64_t process = context_.rows.threads.process[steps[row].thread];
    // The rmw's own events are better.
    if (steps[row].counts && !(hooked && steps_.is_traced(process))) {
      order.push_back(static_cast<uint32_t>(row));
    }
  }
  const std::vector<int64_t> place = thread_order(context_);
  std::ranges::sort(order, {}, [&](uint32_t row) {
    const Position at = steps[row].position();
    return std::tuple(at.ns, place[steps[row].thread], at.rank, at.at);
  });
  return order;
}

void Services::add_row(const ServiceStep& step) {
  auto& rows = context_.rows.service_steps;
  const auto row = static_cast<size_t>(rows.add());
  rows.kind[row] = static_cast<uint8_t>(step.kind);
  rows.told[row] = static_cast<uint8_t>(step.told);
  rows.thread[row] = static_cast<int32_t>(step.thread);
  rows.gid[row] = step.gid;
  rows.ns[row] = step.ns;
  rows.at[row] = step.at;
  rows.sequence[row] = step.sequence;
  rows.stamp[row] = step.stamp;
  rows.publish[row] = static_cast<int32_t>(step.publish);
  const int64_t process = context_.rows.threads.process[step.thread];
  const bool of_client = is_of_client(step.kind);
  const Lifetimes& lives = of_client ? client_lives_ : service_lives_;
  const int64_t owner = lives.find(process, step.handle, step.ns);
  owner_key_.push_back({process, step.handle});
  rows.owner[row] = static_cast<int32_t>(owner);
  if (owner == kNone) nameless_[of_client ? 1 : 0].try_emplace({process, step.handle}, 0);
}

void Services::number_nameless() {
  auto& rows = context_.rows;
  const auto number = [](auto& table, std::map<HandleKey, int64_t>& keys, size_t known) {
    for (auto& [key, owner] : keys) {
      const int64_t row = table.add();
      table.process[static_cast<size_t>(row)] = key.process;
      table.rmw_handle[static_cast<size_t>(row)] = key.handle;
      owner = static_cast<int64_t>(known) + row;
    }
  };
  number(rows.nameless_services, nameless_[0], rows.services.size());
  number(rows.nameless_clients, nameless_[1], rows.clients.size());
  auto& steps = rows.service_steps;
  for (size_t row = 0; row < steps.size(); ++row) {
    if (steps.owner[row] != -1) continue;
    const auto& keys = nameless_[is_of_client(static_cast<StepKind>(steps.kind[row])) ? 1 : 0];
    steps.owner[row] = static_cast<int32_t>(keys.at(owner_key_[row]));
  }
}

// What the thread did of services before, and what that makes of the step before.
void Services::look_back(size_t row, const ServiceStep& step, Before& before) {
  auto& rows = context_.rows.service_steps;
  const Position at = step.position();
  const bool is_barrier = step.kind != StepKind::send_request;
  if (step.kind == StepKind::send_request) {
    const int64_t client = rows.owner[row];
    if (is_written_for(step, client, before)) rows.before_ns[row] = step.before_ns;
    rows.execution[row] =
        static_cast<int32_t>(executions_.enclosing(step.execution, step.last_at, step.ns));
  } else if (step.kind == StepKind::take_request) {
    look_at_take(row, step, before);
  }
  if (is_barrier && before.barrier_row != kNone) {
    // What came after the step before came after this one.
    const auto last = static_cast<size_t>(before.barrier_row);
    const int64_t started = rows.kind[last] == static_cast<uint8_t>(StepKind::take_request)
                                ? rows.execution[last]
                                : kNone;
    if (started != kNone) {
      const Position start{pick(context_.rows.executions.start_ns, started),
                           rank_of(EventType::callback_start), kNone};
      if (at < start) rows.execution[last] = kNone;
    }
    if (rows.publish[last] != kNone) {
      const Position published{pick(context_.rows.publishes.ns, rows.publish[last]),
                               rank_of(EventType::rmw_publish), kNone};
      if (at < published) rows.publish[last] = kNone;
    }
  }
  if (is_barrier) {
    before.barrier = at;
    before.barrier_row = static_cast<int64_t>(row);
  }
  if (step.kind == StepKind::send_request || step.kind == StepKind::send_response) before.sent = at;
  if (step.kind == StepKind::send_response) before.answer = at;
  if (step.kind == StepKind::take_request) {
    before.take = at;
    const auto& services = context_.rows.services;
    const int64_t service = rows.owner[row];
    const bool known = service < static_cast<int64_t>(services.size());
    const int64_t name = known ? pick(services.name, service) : kNone;
    before.took_goal =
        name != kNone && context_.strings.texts[name].ends_with("/_action/send_goal");
  }
}

// The sample before a request is the request's if it has its number and its client's participant,
// and was not written for a publication.
bool Services::is_written_for(const ServiceStep& step, int64_t client, const Before& before) const {
  const auto& clients = context_.rows.clients;
  // A request that the hooks tell is at its own write_begin: a sample before it is another one,
  // such as the answer to the call before in a chain of services.
  if (step.told != StepRule::event) return false;
  if (step.before_at == kNone || step.number != step.sequence || step.named == kNone) return false;
  if (client >= static_cast<int64_t>(clients.size())) return false;
  const int64_t gid = clients.gid[static_cast<size_t>(client)];
  if (gid == kNone) return false;
  const Position begin{step.before_ns, rank_of(EventType::write_begin), step.before_at};
  if (before.sent.at != kNone && !(before.sent < begin)) return false;
  const Interner& bytes = context_.strings.bytes;
  return is_same_participant(bytes[gid], bytes[step.named]) && is_near(step.before_ns, step.ns);
}

void Services::look_at_take(size_t row, const ServiceStep& step, const Before& before) {
  auto& rows = context_.rows.service_steps;
  const auto& services = context_.rows.services;
  const int64_t owner = rows.owner[row];
  const bool known = owner < static_cast<int64_t>(services.size());
  const auto service = static_cast<size_t>(owner);
  if (step.before_at != kNone && known && step.named == services.handle[service]) {
    const Position picked{step.before_ns, rank_of(EventType::rclcpp_executor_execute),
                          step.before_at};
    const bool is_last = before.barrier.at == kNone || before.barrier < picked;
    if (is_last && is_near(step.before_ns, step.ns)) rows.before_ns[row] = step.before_ns;
  }
  if (step.execution == kNone || !is_near(step.ns, step.start_ns)) return;
  if (context_.rows.executions.is_resumed[static_cast<size_t>(step.execution)] != 0) return;
  if (!may_run(step.execution, known ? owner : kNone)) return;
  const int64_t name = known ? services.name[service] : kNone;
  const std::string_view text = name == kNone ? std::string_view() : context_.strings.texts[name];
  // Results are given without a callback. And an action server takes what has come, a goal, then a
  // cancel, and then runs their callbacks: the one that follows both takes is the goal's.
  if (text.ends_with("/_action/get_result")) return;
  if (text.ends_with("/_action/cancel_goal") && before.take.at != kNone && before.took_goal) {
    const Position other{step.other_ns, 0, step.other_at};
    const bool later = step.other_at == kNone || other.ns < before.take.ns ||
                       (other.ns == before.take.ns && step.other_at < before.take.at);
    if (later && (before.answer.at == kNone || before.answer < before.take)) return;
  }
  rows.execution[row] = static_cast<int32_t>(step.execution);
}

bool Services::may_run(int64_t execution, int64_t service) const {
  const int64_t callback = pick(context_.rows.executions.callback, execution);
  if (callback == kNone) return true;
  const auto row = static_cast<size_t>(callback);
  switch (static_cast<CallbackKind>(context_.rows.callbacks.kind[row])) {
    case CallbackKind::unknown:
    case CallbackKind::action:
      return true;
    case CallbackKind::service: {
      const int64_t owner = service_of_callback_[row];
      return owner == kNone || owner == service || service == kNone;
    }
    default:
      return false;
  }
}

// Of what began after a take of feedback, that before which its thread took no request.
void Services::add_feedback(const std::vector<uint32_t>& order) {
  if (steps_.feedback().empty()) return;
  std::vector<std::vector<Position>> took(context_.rows.threads.size());
  for (const uint32_t number : order) {
    const ServiceStep& step = steps_.steps()[number];
    if (step.kind == StepKind::take_request) took[step.thread].push_back(step.position());
  }
  auto& rows = context_.rows.feedback_takes;
  for (const auto& take : steps_.feedback()) {
    const auto row = static_cast<size_t>(rows.add());
    rows.at[row] = take.at;
    if (take.execution == kNone) continue;
    const Position at{take.ns, rank_of(EventType::rmw_take), take.at};
    const Position start{take.start_ns, rank_of(EventType::callback_start), kNone};
    const auto next = std::ranges::upper_bound(took[take.thread], at);
    const bool near = next == took[take.thread].end() || start < *next;
    if (near) rows.execution[row] = static_cast<int32_t>(take.execution);
  }
}

// The execution of each goal that rclpy announced after its answer.
void Services::find_goals(const std::vector<uint32_t>& order) {
  const auto& announced = steps_.announcements();
  const auto& picks = steps_.picks();
  if (announced.empty() || picks.empty()) return;
  // Steps of each thread but sent requests, in order.
  std::vector<std::vector<std::pair<Position, size_t>>> work(context_.rows.threads.size());
  for (size_t row = 0; row < order.size(); ++row) {
    const ServiceStep& step = steps_.steps()[order[row]];
    if (step.kind != StepKind::send_request) work[step.thread].emplace_back(step.position(), row);
  }
  Lifetimes lives;
  for (const auto& one : announced) lives.add(one.process, one.goal, one.ns);
  lives.sort();
  const std::vector<int64_t> place = thread_order(context_);
  std::vector<size_t> by_thread(picks.size());
  std::iota(by_thread.begin(), by_thread.end(), size_t{0});
  std::ranges::stable_sort(by_thread, {}, [&](size_t row) { return place[picks[row].thread]; });
  std::vector<int64_t> execution(announced.size(), kNone);
  for (const size_t i : by_thread) {
    const auto& one = picks[i];
    const int64_t goal = lives.find(one.process, one.goal, one.ns);
    if (goal == kNone) continue;
    int64_t& ran = execution[static_cast<size_t>(goal)];
    ran = kNone;
    if (one.execution == kNone || !is_near(one.ns, one.start_ns)) continue;
    if (context_.rows.executions.is_resumed[static_cast<size_t>(one.execution)] != 0) continue;
    const Position picked{one.ns, rank_of(EventType::rclcpp_executor_execute), one.at};
    const Position start{one.start_ns, rank_of(EventType::callback_start), kNone};
    const auto& own = work[one.thread];
    const auto next =
        std::ranges::upper_bound(own, picked, {}, &std::pair<Position, size_t>::first);
    if (next == own.end() || start < next->first) ran = one.execution;
  }
  auto& rows = context_.rows.service_steps;
  for (size_t i = 0; i < announced.size(); ++i) {
    if (execution[i] == kNone) continue;
    const auto& own = work[announced[i].thread];
    const Position until{announced[i].ns, UINT8_MAX, INT64_MAX};
    const auto after =
        std::ranges::upper_bound(own, until, {}, &std::pair<Position, size_t>::first);
    if (after == own.begin()) continue;
    const auto& [at, row] = *(after - 1);
    const bool answers = rows.kind[row] == static_cast<uint8_t>(StepKind::send_response);
    if (answers && !(at < announced[i].work))
      rows.goal_execution[row] = static_cast<int32_t>(execution[i]);
  }
}

}  // namespace strata
