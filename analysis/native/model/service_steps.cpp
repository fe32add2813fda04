// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/service_steps.hpp"

#include <algorithm>
#include <string>

namespace strata {
namespace {

// What rclpy_tracepoints gives where rclcpp has addresses (strata.schema.rclpy_events.RCLPY_IDS).
constexpr bool is_goal(int64_t handle) { return handle >> 52U == 1; }

constexpr std::array<EventType, 4> kEventOf = {
    EventType::rmw_send_request, EventType::rmw_take_request, EventType::rmw_send_response,
    EventType::rmw_take_response};

// What a thread does not do between a take and its callback, between a response and what is
// published after it, but for steps of services.
constexpr bool is_other_work(EventType type) {
  switch (type) {
    case EventType::rmw_take:
    case EventType::rclcpp_ring_buffer_dequeue:
    case EventType::rclcpp_executor_execute:
    case EventType::callback_start:
    case EventType::callback_end:
    case EventType::rclcpp_executor_wait_for_work:
    case EventType::rclcpp_executor_get_next_ready:
      return true;
    default:
      return false;
  }
}

}  // namespace

int64_t Guids::guid(int64_t bytes) {
  if (bytes < 0) return kNone;
  const auto number = static_cast<size_t>(bytes);
  if (number >= is_guid_.size()) is_guid_.resize(number + 1, -1);
  if (is_guid_[number] < 0) {
    const std::string_view content = bytes_[bytes];
    const bool is_zeros = content.find_first_not_of('\0') == std::string_view::npos;
    is_guid_[number] = content.size() == 16 && !is_zeros ? 1 : 0;
  }
  return is_guid_[number] == 1 ? bytes : kNone;
}

Position ServiceStep::position() const {
  return {ns, rank_of(kEventOf[static_cast<size_t>(kind)]), at};
}

void ServiceSteps::on(const Event& event) {
  using enum EventType;
  if (!wants(event.type)) return;
  switch (event.type) {
    case create_writer:
      return create(event, true);
    case create_reader:
      return create(event, false);
    case rmw_client_init:
      return set(traced_, event.process);
    default:
      break;
  }
  State& state = states_[event.thread];
  if (!state.requests.empty() || !state.announced.empty()) pass_instant(event, state);
  switch (event.type) {
    case rclcpp_service_callback_added: {
      const int64_t goal = event[field::rclcpp_service_callback_added::service_handle];
      // The response to one that was accepted before the trace is not in it.
      if (!is_goal(goal) || event.is_step) return;
      state.announced.push_back(static_cast<uint32_t>(announcements_.size()));
      announcements_.push_back({event.process, event.thread, goal, event.ns,
                                static_cast<int64_t>(event.at), state.work});
      return;
    }
    case rmw_send_request:
    case rmw_take_request:
    case rmw_send_response:
    case rmw_take_response:
      return add_step(event, state);
    case write_begin: {
      has_samples_ = true;
      const auto at = static_cast<int64_t>(event.at);
      const int64_t published = context_.last[event.thread].of(rmw_publish).at;
      state.write = {at, event.ns, published > state.write.at};
      return add_hooked(event, state, writers_, event[field::write_begin::writer]);
    }
    case take_end:
      has_samples_ = true;
      if (event[field::take_end::taken] <= 0) return;
      return add_hooked(event, state, readers_, event[field::take_end::reader]);
    case write_related:
      return relate_write(event, state);
    case take_related:
      return relate_take(event, state);
    case writer_history_add: {
      namespace f = field::writer_history_add;
      const int64_t writer = guids_.guid(event[f::writer_guid]);
      state.added = {static_cast<int64_t>(event.at), state.write, writer,
                     event[f::sequence_number]};
      return name_sample(event, state, true, writer, event[f::sequence_number],
                         event[f::source_timestamp]);
    }
    case send_begin: {
      namespace f = field::send_begin;
      if (state.unnumbered.empty()) return;
      return name_sample(event, state, false, guids_.guid(event[f::writer_guid]),
                         event[f::sequence_number], event[f::source_timestamp]);
    }
    case rmw_publish:
      return publish(event, state);
    default:
      return work(event, state);
  }
}

void ServiceSteps::create(const Event& event, bool writes) {
  static_assert(field::create_writer::writer == field::create_reader::reader &&
                field::create_writer::topic_name == field::create_reader::topic_name &&
                field::create_writer::gid_prefix == field::create_reader::gid_prefix &&
                field::create_writer::gid_entity == field::create_reader::gid_entity);
  namespace f = field::create_writer;
  Living& living = writes ? writers_ : readers_;
  const int64_t handle = event[f::writer], topic = event[f::topic_name];
  const std::string_view name = topic == kNone ? "" : context_.strings.texts[topic];
  const bool request = name.starts_with("rq") && name.ends_with("Request");
  const bool reply = name.starts_with("rr") && name.ends_with("Reply");
  if (!request && !reply) return living.begin(event.process, handle, kNone);
  Interner& bytes = context_.strings.bytes;
  std::string guid;
  for (const int part : {f::gid_prefix, f::gid_entity}) {
    if (event[part] != kNone) guid += bytes[event[part]];
  }
  living.begin(event.process, handle, static_cast<int64_t>(ends_.size()));
  ends_.push_back({event.process, event.thread, event.ns, static_cast<int64_t>(event.at), handle,
                   topic, static_cast<int32_t>(guids_.guid(bytes.number(guid))), writes,
                   writes == reply});
}

uint32_t ServiceSteps::add(const Event& event, StepKind kind, State& state) {
  const auto number = static_cast<uint32_t>(steps_.size());
  ServiceStep step{
      .ns = event.ns, .at = static_cast<int64_t>(event.at), .thread = event.thread, .kind = kind};
  if (kind == StepKind::take_request) {
    observe_take(step, state, event);
    state.taken.push_back(number);
  }
  steps_.push_back(step);
  return number;
}

void ServiceSteps::count_empty(const Event& event, int64_t taken) {
  if (taken == 0) {
    context_.uses.count(event.type, Use::nothing_taken);
  } else if (context_.settings.losses.touch(0, event.ns)) {
    context_.uses.count(event.type, Use::partner_lost);
  } else {
    context_.uses.count_by_age(event.type, event.process, Use::partner_earlier, Use::unexplained);
  }
}

void ServiceSteps::add_step(const Event& event, State& state) {
  namespace take = field::rmw_take_request;
  namespace send = field::rmw_send_response;
  namespace got = field::rmw_take_response;
  set(traced_, event.process);
  const bool asks = event.type == EventType::rmw_send_request;
  const bool takes = event.type == EventType::rmw_take_request;
  if (takes) {
    set(takes_requests_, event.process);
    state.feedback = kNone;
  }
  // A thread that goes on to something else of services waits for nothing any more.
  if (!asks) {
    state.taken.clear();
    state.picks.clear();
    state.answered.clear();
    state.work = {event.ns, rank_of(event.type), static_cast<int64_t>(event.at)};
  }
  const bool empty = (takes && event[take::taken] != 1) ||
                     (event.type == EventType::rmw_take_response && event[got::taken] != 1);
  if (empty) {
    if (takes) {
      state.empty_at = static_cast<int64_t>(event.at);
      state.empty_ns = event.ns;
    }
    context_.ledger.add(Finding::empty_service_takes);
    return count_empty(event, event[takes ? take::taken : got::taken]);
  }
  switch (event.type) {
    case EventType::rmw_send_request: {
      namespace f = field::rmw_send_request;
      ServiceStep& step = steps_[add(event, StepKind::send_request, state)];
      step.handle = event[f::rmw_client_handle];
      step.sequence = event[f::sequence_number];
      step.execution = executions_.innermost_open(event.thread);
      step.last_at = step.at;
      return observe_request(step, state);
    }
    case EventType::rmw_take_request: {
      ServiceStep& step = steps_[add(event, StepKind::take_request, state)];
      step.handle = event[take::rmw_service_handle];
      step.gid = static_cast<int32_t>(guids_.guid(event[take::client_gid]));
      step.sequence = event[take::sequence_number];
      return;
    }
    case EventType::rmw_send_response: {
      const uint32_t number = add(event, StepKind::send_response, state);
      ServiceStep& step = steps_[number];
      step.handle = event[send::rmw_service_handle];
      step.gid = static_cast<int32_t>(guids_.guid(event[send::client_gid]));
      step.sequence = event[send::sequence_number];
      step.stamp = event[send::source_timestamp];
      state.answered.push_back(number);
      return;
    }
    default: {
      ServiceStep& step = steps_[add(event, StepKind::take_response, state)];
      step.handle = event[got::rmw_client_handle];
      step.sequence = event[got::sequence_number];
      step.stamp = event[got::source_timestamp];
    }
  }
}

// The last sample that the thread added to a history may be the request's.
void ServiceSteps::observe_request(ServiceStep& step, const State& state) const {
  using enum EventType;
  const LastEvents& last = context_.last[step.thread];
  const Added& added = state.added;
  if (added.at == kNone || added.write.is_of_publication ||
      added.write.at <= last.latest({rmw_send_request, rmw_send_response, rmw_publish})) {
    return;
  }
  step.before_ns = added.write.ns;
  step.before_at = added.write.at;
  step.named = added.writer;
  step.number = added.number;
}

// A request that the hooks tell comes after all else of its instant.
int64_t ServiceSteps::last_of_instant(const ServiceStep& step) const {
  int64_t at = step.at;
  const LastEvents& last = context_.last.at(step.thread);
  for (size_t i = 0; i < kEventTypes; ++i) {
    const auto& event = last.of(static_cast<EventType>(i));
    if (kEvents[i].is_step && event.ns == step.ns) at = std::max(at, event.at);
  }
  return at;
}

void ServiceSteps::observe_take(ServiceStep& step, State& state, const Event& event) {
  using enum EventType;
  const LastEvents& last = context_.last[event.thread];
  const auto& execute = last.of(rclcpp_executor_execute);
  if (execute.at >
      last.latest({rmw_take, rmw_take_request, rmw_take_response, rmw_send_response, callback_start,
                   callback_end, rclcpp_executor_wait_for_work, rclcpp_executor_get_next_ready})) {
    step.before_ns = execute.ns;
    step.before_at = execute.at;
    step.named = state.picked;
  }
  for (const EventType type :
       {callback_start, rclcpp_executor_wait_for_work, rclcpp_executor_get_next_ready}) {
    const auto& other = last.of(type);
    if (other.at <= step.other_at) continue;
    step.other_at = other.at;
    step.other_ns = other.ns;
  }
  // Of a take of nothing no step tells.
  if (state.empty_at > step.other_at) {
    step.other_at = state.empty_at;
    step.other_ns = state.empty_ns;
  }
}

template <typename Replaces>
void ServiceSteps::wait(std::vector<uint32_t>& waiting, uint32_t hooked, Replaces replaces) {
  const HookedStep& one = hooked_[hooked];
  for (uint32_t& before : waiting) {
    const HookedStep& other = hooked_[before];
    if (other.end != one.end) continue;
    // Of one instant the first is the nearest.
    if (replaces(steps_[other.step], steps_[one.step])) before = hooked;
    return;
  }
  waiting.push_back(hooked);
}

void ServiceSteps::add_hooked(const Event& event, State& state, const Living& living,
                              int64_t handle) {
  if (ends_.empty() || is_traced(event.process)) return;
  const int64_t number = living.find(event.process, handle);
  if (number == kNone) return;
  const ServiceEnd& end = ends_[static_cast<size_t>(number)];
  const StepKind kind = end.writes
                            ? end.is_of_service ? StepKind::send_response : StepKind::send_request
                        : end.is_of_service ? StepKind::take_request
                                            : StepKind::take_response;
  const uint32_t row = add(event, kind, state);
  ServiceStep& step = steps_[row];
  step.told = StepRule::identity;
  step.counts = false;
  HookedStep hooked{.step = row, .end = static_cast<uint32_t>(number)};
  const auto later = [](const ServiceStep& before, const ServiceStep& now) {
    return now.ns > before.ns;
  };
  if (end.writes) {
    if (state.related.at != kNone && state.related.handle == handle) {
      hooked.related_at = state.related.at;
      hooked.related_guid = static_cast<int32_t>(state.related.guid);
      hooked.related_sequence = state.related.sequence;
    }
    hooked.by = end.guid;
    hooked_.push_back(hooked);
    if (end.guid != kNone) {
      wait(state.unnumbered, static_cast<uint32_t>(hooked_.size() - 1), later);
    }
  } else {
    namespace f = field::take_end;
    hooked.by = static_cast<int32_t>(guids_.guid(event[f::writer_guid]));
    hooked.sample = event[f::sequence_number];
    step.stamp = event[f::source_timestamp];
    hooked_.push_back(hooked);
    wait(state.unrelated, static_cast<uint32_t>(hooked_.size() - 1), later);
  }
  if (kind == StepKind::send_request) {
    step.execution = executions_.innermost_open(event.thread);
    // What is written of this instant is its own.
    state.requests.push_back(row);
  } else if (kind == StepKind::send_response) {
    // It comes before most of its instant, which was looked at already.
    using enum EventType;
    const LastEvents& last = context_.last[event.thread];
    for (const EventType type :
         {rclcpp_executor_wait_for_work, rclcpp_executor_get_next_ready, rclcpp_executor_execute,
          rmw_take, rclcpp_ring_buffer_dequeue, callback_start}) {
      if (last.of(type).at != kNone && last.of(type).ns == event.ns) return;
    }
    if (state.publish != kNone && state.publish_ns == event.ns) {
      step.publish = state.publish;
      step.publish_ns = event.ns;
      return;
    }
    state.answered.push_back(row);
  }
}

void ServiceSteps::relate_write(const Event& event, State& state) {
  namespace f = field::write_related;
  has_relations_ = true;
  state.related = {static_cast<int64_t>(event.at), event[f::writer],
                   guids_.guid(event[f::related_guid]), event[f::related_sequence]};
}

void ServiceSteps::relate_take(const Event& event, State& state) {
  namespace f = field::take_related;
  has_relations_ = true;
  set(relates_takes_, event.process);
  for (const uint32_t number : state.unrelated) {
    HookedStep& one = hooked_[number];
    if (ends_[one.end].handle != event[f::reader]) continue;
    one.related_at = static_cast<int64_t>(event.at);
    one.related_guid = static_cast<int32_t>(guids_.guid(event[f::related_guid]));
    one.related_sequence = event[f::related_sequence];
  }
  state.unrelated.clear();
}

// An event names the sample that a write of its writer made.
void ServiceSteps::name_sample(const Event& event, State& state, bool added, int64_t writer,
                               int64_t number, int64_t stamp) {
  if (writer == kNone || state.unnumbered.empty()) return;
  std::erase_if(state.unnumbered, [&](uint32_t waiting) {
    HookedStep& one = hooked_[waiting];
    if (one.by != writer) return false;
    const auto at = static_cast<int64_t>(event.at);
    if (added && one.added_at == kNone) {
      one.added_at = at;
      one.added_number = number;
      one.added_stamp = stamp;
    } else if (!added && one.sent_at == kNone) {
      one.sent_at = at;
      one.sent_number = number;
      one.sent_stamp = stamp;
    }
    return one.added_at != kNone && one.sent_at != kNone;
  });
}

void ServiceSteps::publish(const Event& event, State& state) {
  const auto row = static_cast<int64_t>(context_.rows.publishes.size()) - 1;
  if (state.publish_ns != event.ns) {
    state.publish_ns = event.ns;
    state.publish = row;
  }
  for (const uint32_t number : state.answered) {
    steps_[number].publish = row;
    steps_[number].publish_ns = event.ns;
  }
  state.answered.clear();
}

void ServiceSteps::work(const Event& event, State& state) {
  using enum EventType;
  if (event.type == rmw_take) {
    // It comes before what is told by a take_end of its instant.
    std::erase_if(state.taken, [&](uint32_t number) {
      ServiceStep& step = steps_[number];
      if (step.told == StepRule::event || step.ns != event.ns) return true;
      step.before_ns = step.before_at = step.named = kNone;
      return false;
    });
  } else {
    if (event.type == callback_start) {
      for (const uint32_t number : state.taken) {
        steps_[number].execution = executions_.begun();
        steps_[number].start_ns = event.ns;
      }
      for (const uint32_t number : state.picks) {
        picks_[number].execution = executions_.begun();
        picks_[number].start_ns = event.ns;
      }
    }
    state.taken.clear();
  }
  state.picks.clear();
  state.answered.clear();
  switch (event.type) {
    case callback_start:
      if (state.feedback == kNone) break;
      feedback_[static_cast<size_t>(state.feedback)].execution = executions_.begun();
      feedback_[static_cast<size_t>(state.feedback)].start_ns = event.ns;
      state.feedback = kNone;
      break;
    case rclcpp_executor_execute:
    case rclcpp_executor_wait_for_work:
    case rclcpp_executor_get_next_ready:
      state.feedback = kNone;
      break;
    case rmw_take:
      if (!takes_feedback(event)) break;
      state.feedback = static_cast<int64_t>(feedback_.size());
      feedback_.push_back({event.thread, event.ns, static_cast<int64_t>(event.at)});
      break;
    default:
      break;
  }
  if (event.type == rclcpp_executor_execute) {
    state.picked = event[field::rclcpp_executor_execute::handle];
    if (is_goal(state.picked)) {
      state.picks.push_back(static_cast<uint32_t>(picks_.size()));
      picks_.push_back(
          {event.process, event.thread, state.picked, event.ns, static_cast<int64_t>(event.at)});
    }
  }
  state.work = {event.ns, rank_of(event.type), static_cast<int64_t>(event.at)};
}

// Of a take that has a row, by its topic.
bool ServiceSteps::takes_feedback(const Event& event) {
  const auto& takes = context_.rows.takes;
  if (takes.size() == 0 || takes.at[takes.size() - 1] != static_cast<int64_t>(event.at))
    return false;
  const int64_t subscription = takes.subscription[takes.size() - 1];
  if (subscription == kNone) return false;
  const auto row = static_cast<size_t>(subscription);
  if (row >= is_feedback_.size()) is_feedback_.resize(row + 1, -1);
  if (is_feedback_[row] < 0) {
    const int64_t topic = context_.rows.subscriptions.topic[row];
    const bool is = topic != kNone && context_.strings.texts[topic].ends_with("/_action/feedback");
    is_feedback_[row] = is ? 1 : 0;
  }
  return is_feedback_[row] == 1;
}

// What belongs to an instant is known when a later one comes.
void ServiceSteps::pass_instant(const Event& event, State& state) {
  if (!state.requests.empty() && steps_[state.requests.front()].ns != event.ns) {
    for (const uint32_t number : state.requests) {
      observe_request(steps_[number], state);
      steps_[number].last_at = last_of_instant(steps_[number]);
    }
    state.requests.clear();
  }
  if (state.announced.empty() || announcements_[state.announced.front()].ns == event.ns) return;
  for (const uint32_t number : state.announced) announcements_[number].work = state.work;
  state.announced.clear();
}

void ServiceSteps::close() {
  Event end;
  end.ns = INT64_MAX;
  for (uint32_t thread = 0; thread < states_.size(); ++thread) {
    pass_instant(end, states_.at(thread));
  }
}

}  // namespace strata
