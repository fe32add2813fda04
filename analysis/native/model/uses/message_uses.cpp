// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/uses/message_uses.hpp"

#include <algorithm>
#include <utility>

#include "model/steps.hpp"

namespace strata {

void MessageUses::on_rcl_publish(const Event& event, State& state) {
  namespace f = field::rcl_publish;
  end_rcl(state, event.ns, false);
  state.rcl = {.at = static_cast<int64_t>(event.at),
               .ns = event.ns,
               .message = event[f::message],
               .thread = event.thread,
               .process = event.process,
               .is_open = true};
  if (state.has_open) state.entered[state.open].has_rcl = true;
  const HandleKey publisher{event.process, event[f::publisher_handle]};
  HandleKey& said = said_last_[HandleHash{}(publisher) % said_last_.size()];
  if (said != publisher) {
    said_.insert(publisher);
    said = publisher;
  }
}

void MessageUses::on_rclcpp_publish(const Event& event, State& state) {
  const int64_t message = event[field::rclcpp_publish::message];
  end_rclcpp(state, event.ns);
  const Call call{.at = static_cast<int64_t>(event.at),
                  .ns = event.ns,
                  .message = message,
                  .thread = event.thread,
                  .process = event.process,
                  .is_open = true};
  const auto [known, fresh] = state.entered.try_emplace(message, call);
  if (!fresh) {
    give_up(*known);
    *known = call;
  }
  state.open = message;
  state.has_open = true;
}

void MessageUses::on_rmw_publish(const Event& event, State& state) {
  namespace f = field::rmw_publish;
  const int64_t message = event[f::message];
  EventUses& uses = context_.uses;
  const int64_t row = static_cast<int64_t>(context_.rows.publishes.size()) - 1;
  const bool called =
      (state.before == EventType::rclcpp_publish || state.before == EventType::rcl_publish) &&
      state.before_message == message;
  if (!called && context_.rows.publishes.publisher[static_cast<size_t>(row)] == kNone) {
    nameless_.push_back(row);
  }
  if (state.rcl.is_open && !state.rcl.has_rmw) {
    state.rcl.has_rmw = true;
    if (state.rcl.message == message) {
      uses.count(EventType::rcl_publish, Use::publication_begin);
      state.rcl.is_open = false;
    }
  }
  const auto use = [&](int64_t named) {
    uses.count(EventType::rclcpp_publish, Use::publication_begin);
    state.entered.erase(named);
    if (state.open == named) state.has_open = false;
  };
  if (state.has_open) {
    Call& call = state.entered[state.open];
    const bool is_first = !call.has_rmw;
    call.has_rmw = true;
    if (is_first && call.message == message) use(message);
  }
  const int64_t entered = traffic_.entered();
  if (entered != kNone && state.entered.contains(entered)) use(entered);
  go_on(event, state);
}

// What no call of publish() reaches over.
void MessageUses::on_other_work(const Event& event, State& state) {
  const bool is_work = is_work_step(event.type);
  end_rcl(state, event.ns, is_work);
  end_rclcpp(state, event.ns);
  if (!state.entered.empty()) {
    state.entered.each([this](const Call& call) { give_up(call); });
    state.entered.clear();
  }
  if (is_work) go_on(event, state);
}

void MessageUses::end_rcl(State& state, int64_t until_ns, bool goes_on) {
  Call& call = state.rcl;
  if (!call.is_open) return;
  call.is_open = false;
  if (lost(call.ns, until_ns)) {
    context_.uses.count(EventType::rcl_publish, Use::partner_lost);
  } else if (call.has_rmw || goes_on) {
    context_.uses.count(EventType::rcl_publish, Use::unexplained);
  } else {
    ++state.unfinished;
  }
}

void MessageUses::end_rclcpp(State& state, int64_t until_ns) {
  if (!state.has_open) return;
  state.has_open = false;
  Call& call = state.entered[state.open];
  call.is_open = false;
  call.until_ns = until_ns;
}

void MessageUses::give_up(const Call& call) {
  if (lost(call.ns, call.until_ns)) {
    context_.uses.count(EventType::rclcpp_publish, Use::partner_lost);
  } else {
    unused_.push_back(call);
  }
}

void MessageUses::go_on(const Event& event, State& state) {
  state.went_on = static_cast<int64_t>(event.at);
  if (state.unfinished == 0) return;
  context_.uses.count(EventType::rcl_publish, Use::unexplained,
                      static_cast<uint64_t>(state.unfinished));
  state.unfinished = 0;
}

void MessageUses::on_intra_publish(const Event& event) {
  const int64_t handle = event[field::rclcpp_intra_publish::publisher_handle];
  EventUses& uses = context_.uses;
  if (entities_.publisher(event.process, handle) != kNone) {
    uses.count(event.type, Use::publication_begin);
  } else if (lost(0, event.ns)) {
    uses.count(event.type, Use::publication_begin_unannounced);
  } else {
    uses.count_by_age(event.type, event.process, Use::publication_begin_older, Use::unexplained);
  }
}

void MessageUses::on_take(const Event& event, State& state) {
  namespace f = field::rmw_take;
  EventUses& uses = context_.uses;
  state.taken_message = event[f::message];
  const int64_t handle = event[f::rmw_subscription_handle];
  const int64_t taken = event[f::taken];
  const bool stamped = event[f::source_timestamp] > 0;
  if (taken != 0 && taken != 1) {
    uses.count(event.type, Use::unexplained);
  } else if (entities_.subscription_by_rmw(event.process, handle) != kNone) {
    const Use full = stamped ? Use::take : Use::take_without_stamp;
    uses.count(event.type, taken == 1 ? full : Use::nothing_taken);
  } else if (taken == 1 && !stamped) {
    // Only the middleware takes without a stamp: it asks for none.
    graph_takers_.insert({event.process, handle});
    uses.count(event.type, Use::take_of_middleware);
  } else if (lost(0, event.ns)) {
    uses.count(event.type, taken == 1 ? Use::take_unannounced : Use::nothing_taken);
  } else if (taken == 1) {
    uses.count_by_age(event.type, event.process, Use::take_older, Use::unexplained);
  } else {
    const uint32_t made = event.process < made_.size() ? made_[event.process] : 0;
    Empty& known = empty_takes_[{event.process, handle, made}];
    ++known.events;
    known.ns = event.ns;
  }
}

void MessageUses::on_repeated(const Event& event, const State& state, int64_t message) {
  using enum EventType;
  EventUses& uses = context_.uses;
  const LastEvents& last = context_.last[event.thread];
  LastEvents::Last work;
  for (const EventType type :
       {event.type, callback_start, callback_end, rclcpp_executor_wait_for_work,
        rclcpp_executor_get_next_ready, rclcpp_executor_execute}) {
    if (last.of(type).at > work.at) work = last.of(type);
  }
  const int64_t take = last.of(rmw_take).at;
  const bool is_alone =
      take == kNone &&
      last.latest({callback_start, callback_end, rclcpp_executor_wait_for_work,
                   rclcpp_executor_get_next_ready, rclcpp_executor_execute}) == kNone;
  if (take > work.at && state.taken_message == message) {
    uses.count(event.type, Use::repeats_take);
  } else if (lost(work.at == kNone ? 0 : work.ns, event.ns)) {
    uses.count(event.type, Use::partner_lost);
  } else if (is_alone) {
    uses.count_by_age(event.type, event.process, Use::partner_earlier, Use::unexplained);
  } else {
    uses.count(event.type, Use::unexplained);
  }
}

void MessageUses::finish(const Announcements& announcements) {
  count_open();
  count_publishes(announcements);
  count_unused();
  count_empty_takes(announcements);
}

void MessageUses::count_open() {
  for (uint32_t thread = 0; thread < states_.size(); ++thread) {
    State& state = states_.at(thread);
    end_rcl(state, INT64_MAX, false);
    const auto unfinished = static_cast<uint64_t>(state.unfinished);
    context_.uses.count(EventType::rcl_publish, Use::publish_unfinished, unfinished);
    state.entered.each([this](const Call& call) { give_up(call); });
  }
}

// The middleware's own publishers: those that it announced, and rcl never did; those that published
// when it made a node (Cyclone DDS announces none); and where the event names no publisher (Iron
// and older), those of no client.
void MessageUses::count_publishes(const Announcements& announcements) {
  const auto& rows = context_.rows.publishes;
  const auto& publishers = context_.rows.publishers;
  EventUses& uses = context_.uses;
  Lifetimes known;
  for (size_t row = 0; row < publishers.size(); ++row) {
    known.add(publishers.process[row], publishers.rmw_handle[row], publishers.begin_ns[row]);
  }
  known.sort();
  std::unordered_set<HandleKey, HandleHash> early;
  for (const int64_t row : nameless_) {
    const auto at = static_cast<size_t>(row);
    if (rows.rmw_handle[at] == kNone) continue;
    if (announcements.is_before_node(static_cast<uint32_t>(rows.thread[at]), rows.ns[at])) {
      early.insert({process_of(rows.thread[at]), rows.rmw_handle[at]});
    }
  }
  for (size_t row = 0; row < rows.size(); ++row) {
    const bool is_lost = lost(0, rows.ns[row]);
    const int64_t process = process_of(rows.thread[row]);
    if (rows.of_application[row] != 0) {
      Use use = Use::publication;
      if (rows.publisher[row] == kNone) {
        const Use other = uses.is_older(process) ? Use::publication_older : Use::unexplained;
        use = is_lost ? Use::publication_unannounced : other;
      }
      uses.count(EventType::rmw_publish, use);
      continue;
    }
    const int64_t handle = rows.rmw_handle[row];
    const bool own = known.find(process, handle, rows.ns[row]) == kNone &&
                     (handle == kNone || early.contains({process, handle}) ||
                      announcements.publishers().own.find(process, handle, rows.ns[row]) != kNone);
    const Use other = context_.settings.losses.none() ? Use::unexplained : Use::unannounced;
    uses.count(EventType::rmw_publish, own || uses.is_older(process) ? Use::of_middleware : other);
  }
}

// Calls of publish() that nothing was sent by. rclcpp's, when its context was shut down: rcl
// returns before its event (rclcpp's publisher.hpp: do_inter_process_publish passes over
// RCL_RET_PUBLISHER_INVALID then). Nothing that began later in the process was published: else its
// context still was there. Of several contexts in a process no event tells which one a publisher is
// of.
void MessageUses::count_unused() {
  const auto& publishers = context_.rows.publishers;
  const auto& rows = context_.rows.publishes;
  EventUses& uses = context_.uses;
  if (unused_.empty()) return;
  Lifetimes lives;
  for (size_t row = 0; row < publishers.size(); ++row) {
    lives.add(publishers.process[row], publishers.handle[row], publishers.begin_ns[row]);
  }
  lives.sort();
  std::vector<int64_t> last_ns(context_.rows.processes.size(), kNone);
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows.of_application[row] == 0) continue;
    int64_t& last = last_ns[static_cast<size_t>(process_of(rows.thread[row]))];
    last = std::max(last, rows.client_ns[row]);
  }
  for (const Call& call : unused_) {
    const bool goes_on = states_.at(call.thread).went_on > call.at;
    const bool gone = call.until_ns == INT64_MAX || call.until_ns > last_ns[call.process] ||
                      uses.has_several_contexts(call.process) || uses.is_older(call.process);
    Use use = Use::unexplained;
    if (!goes_on) {
      use = Use::publish_unfinished;
    } else if (lives.find(call.process, call.message, call.ns) != kNone ||
               said_.contains({call.process, call.message})) {
      use = Use::publish_raised;
    } else if (!call.has_rcl && gone) {
      use = Use::publish_refused;
    }
    uses.count(EventType::rclcpp_publish, use);
  }
}

void MessageUses::count_empty_takes(const Announcements& announcements) {
  const Lifetimes& own = announcements.subscriptions().own;
  for (const auto& [taker, known] : empty_takes_) {
    const auto& [process, handle, made] = taker;
    const bool is_somebody = context_.uses.is_older(process) ||
                             graph_takers_.contains({process, handle}) ||
                             own.find(process, handle, known.ns) != kNone;
    context_.uses.count(EventType::rmw_take, is_somebody ? Use::nothing_taken : Use::unexplained,
                        known.events);
  }
}

}  // namespace strata
