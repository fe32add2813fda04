// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/intra_process.hpp"

#include <algorithm>

#include "model/matching.hpp"
#include "model/steps.hpp"

namespace strata {
namespace {

constexpr int32_t kNoRow = -1;

// Work other than publishing, in the midst of which no call of publish() goes on.
constexpr bool is_work_beside_publishing(EventType type) {
  return is_work_step(type) && type != EventType::rclcpp_executor_execute;
}

// In buffers of which subscriptions the calls of each publish stored their message.
class StoredBy {
 public:
  explicit StoredBy(const Rows& all) : all_(all) {
    const auto& enqueues = all.enqueues;
    count_.resize(all.publishes.size(), 0);
    last_.resize(all.publishes.size(), kNoRow);
    before_.resize(enqueues.size(), kNoRow);
    for (size_t row = 0; row < enqueues.size(); ++row) {
      const int64_t publish = publish_of(row);
      if (publish == kNone) continue;
      const auto own = static_cast<size_t>(publish);
      before_[row] = last_[own];
      last_[own] = static_cast<int32_t>(row);
      if (count_[own] <= kFew) ++count_[own];
    }
    for (size_t row = 0; row < enqueues.size(); ++row) {
      const int64_t publish = publish_of(row);
      if (publish == kNone || count_[static_cast<size_t>(publish)] <= kFew) continue;
      many_.insert({publish, subscription_of(row)});
    }
  }

  // `kNone`: in one whose subscription is not known.
  bool has(size_t publish, int64_t subscription) const {
    if (count_[publish] > kFew) {
      return many_.contains({static_cast<int64_t>(publish), subscription});
    }
    for (int32_t row = last_[publish]; row != kNoRow; row = before_[static_cast<size_t>(row)]) {
      if (subscription_of(static_cast<size_t>(row)) == subscription) return true;
    }
    return false;
  }

 private:
  static constexpr uint8_t kFew = 16;

  int64_t publish_of(size_t enqueue) const {
    if (all_.enqueues.stored[enqueue] == 0) return kNone;
    return pick(all_.intra_publishes.publish, all_.enqueues.call[enqueue]);
  }
  int64_t subscription_of(size_t enqueue) const {
    return pick(all_.ring_buffers.subscription, all_.enqueues.buffer[enqueue]);
  }

  const Rows& all_;
  Column<uint8_t> count_;                           // by publish: enqueues, up to one more than few
  Column<int32_t> last_;                            // by publish: its last enqueue
  Column<int32_t> before_;                          // by enqueue: the one before of its publish
  std::unordered_set<HandleKey, HandleHash> many_;  // publish and subscription
};

}  // namespace

void IntraProcess::on(const Event& event) {
  const EventType type = event.type;
  switch (type) {
    case EventType::rclcpp_intra_publish:
      return on_call(event, states_[event.thread]);
    case EventType::rcl_publish: {
      State& state = states_[event.thread];
      if (!state.waits_for_rmw || state.has_rcl) return;
      state.has_rcl = true;
      state.named = event[field::rcl_publish::publisher_handle];
      return;
    }
    case EventType::rmw_publish:
      return on_rmw_publish(event, states_[event.thread]);
    case EventType::rclcpp_ring_buffer_enqueue:
      return on_enqueue(event, states_[event.thread]);
    case EventType::rclcpp_ring_buffer_dequeue:
      states_[event.thread].dequeue = static_cast<int32_t>(context_.rows.dequeues.size() - 1);
      return;
    default:
      break;
  }
  if (!is_work_step(type) && !ends_wait_for_callback(type)) return;
  State& state = states_[event.thread];
  if (is_work_beside_publishing(type)) state.waits_for_rmw = false;
  if (type == EventType::callback_start) {
    on_callback_start(event, state);
  } else if (ends_wait_for_callback(type)) {
    state.dequeue = kNoRow;
  }
}

void IntraProcess::on_call(const Event& event, State& state) {
  namespace f = field::rclcpp_intra_publish;
  auto& rows = context_.rows.intra_publishes;
  const int64_t number = rows.add();
  const auto row = static_cast<size_t>(number);
  rows.thread[row] = static_cast<int32_t>(event.thread);
  rows.ns[row] = event.ns;
  rows.at[row] = static_cast<int64_t>(event.at);
  rows.handle[row] = event[f::publisher_handle];
  rows.publisher[row] = static_cast<int32_t>(entities_.publisher(event.process, rows.handle[row]));
  rows.procname[row] = event.procname;
  rows.open_execution[row] = static_cast<int32_t>(executions_.innermost_open(event.thread));
  state.call = static_cast<int32_t>(number);
  state.call_at = static_cast<int64_t>(event.at);
  state.call_ns = event.ns;
  state.has_rcl = false;
  state.waits_for_rmw = true;
  state.stored.clear();
}

void IntraProcess::on_rmw_publish(const Event& event, State& state) {
  if (!state.waits_for_rmw) return;
  state.waits_for_rmw = false;
  auto& rows = context_.rows.intra_publishes;
  const auto call = static_cast<size_t>(state.call);
  if (!state.has_rcl || state.named != rows.handle[call]) return;
  if (context_.settings.losses.touch(state.call_ns, event.ns)) return;
  rows.publish[call] = static_cast<int32_t>(context_.rows.publishes.size() - 1);
}

void IntraProcess::on_enqueue(const Event& event, State& state) {
  using enum EventType;
  auto& rows = context_.rows.enqueues;
  const size_t row = rows.size() - 1;
  const auto buffer = static_cast<size_t>(rows.buffer[row]);
  const auto& buffers = context_.rows.ring_buffers;
  const Losses& losses = context_.settings.losses;
  const LastEvents& last = context_.last[event.thread];
  const int64_t made_ns = buffers.begin_ns[buffer];
  int64_t worked_ns = kNone;
  int64_t worked_at = kNone;
  for (const EventType type : {callback_start, callback_end, rclcpp_executor_wait_for_work,
                               rclcpp_executor_get_next_ready}) {
    if (last.of(type).at > worked_at) {
      worked_at = last.of(type).at;
      worked_ns = last.of(type).ns;
    }
  }
  const int64_t barrier = std::max(worked_at, last.of(rmw_publish).at);
  // A call stores one message in a buffer, of a second one the call was lost; and nothing in a
  // buffer that was made after it.
  const bool is_open = state.call != kNoRow && state.call_at > barrier;
  const bool own = is_open && state.stored.insert(rows.buffer[row]) && state.call_ns >= made_ns &&
                   !losses.touch(state.call_ns, event.ns);
  if (own) rows.call[row] = state.call;
  // It goes on from the making of the subscription: nothing is run or waited for in between. Where
  // events were lost meanwhile, it may be of a publish that the trace does not have.
  const bool replayed =
      made_ns != kNone && buffers.thread[buffer] == static_cast<int32_t>(event.thread) &&
      state.call_ns < made_ns && worked_ns < made_ns && !losses.touch(made_ns, event.ns);
  rows.replayed[row] = replayed ? 1 : 0;
}

void IntraProcess::on_callback_start(const Event& event, State& state) {
  if (state.dequeue == kNoRow) return;
  const auto row = static_cast<size_t>(state.dequeue);
  state.dequeue = kNoRow;
  auto& rows = context_.rows.dequeues;
  if (context_.settings.losses.touch(rows.ns[row], event.ns)) return;
  rows.execution[row] = static_cast<int32_t>(executions_.begun());
}

void IntraProcess::finish() {
  finish_calls();
  finish_dequeues();
  finish_enqueues();
  if (!has_ring_buffers(context_.rows)) return count_messages();
  number_publications();
  number_takes();
  match();
  of_publish_.clear();
  of_call_.clear();
}

void IntraProcess::finish_calls() {
  auto& calls = context_.rows.intra_publishes;
  auto& publishes = context_.rows.publishes;
  for (size_t row = 0; row < calls.size(); ++row) {
    calls.execution[row] = static_cast<int32_t>(
        executions_.enclosing(calls.open_execution[row], calls.at[row], calls.ns[row]));
    if (calls.publish[row] == kNoRow) continue;
    const auto publish = static_cast<size_t>(calls.publish[row]);
    if (publishes.of_application[publish] == 0) {
      calls.publish[row] = kNoRow;
      continue;
    }
    publishes.client_ns[publish] = calls.ns[row];
  }
}

void IntraProcess::finish_dequeues() {
  const auto& executions = context_.rows.executions;
  const auto& buffers = context_.rows.ring_buffers;
  auto& rows = context_.rows.dequeues;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows.execution[row] == kNoRow) continue;
    const auto at = static_cast<size_t>(rows.execution[row]);
    const int64_t taker = buffers.subscription[static_cast<size_t>(rows.buffer[row])];
    const int64_t owner = pick(context_.rows.callbacks.subscription, executions.callback[at]);
    const bool foreign = owner != kNone && taker != kNone && owner != taker;
    // What goes on with an earlier execution was not started by a take.
    if (foreign || executions.is_intra_process[at] != 1 || executions.is_resumed[at] != 0) {
      rows.execution[row] = kNoRow;
    }
  }
}

int64_t IntraProcess::publisher_of(size_t call) const {
  const auto& calls = context_.rows.intra_publishes;
  const int32_t publish = calls.publish[call];
  if (publish == kNoRow) return calls.publisher[call];
  return context_.rows.publishes.publisher[static_cast<size_t>(publish)];
}

// As far as both are known.
bool IntraProcess::is_of_one_topic(int64_t call, int64_t subscription) const {
  const Rows& rows = context_.rows;
  const int64_t ours = pick(rows.publishers.topic, publisher_of(static_cast<size_t>(call)));
  const int64_t theirs = pick(rows.subscriptions.topic, subscription);
  return ours == theirs || ours == kNone || theirs == kNone;
}

void IntraProcess::finish_enqueues() {
  const auto& buffers = context_.rows.ring_buffers;
  auto& rows = context_.rows.enqueues;
  // By process: when a publisher first had something to give to late subscriptions.
  std::vector<int64_t> kept_ns(context_.rows.processes.size(), INT64_MAX);
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows.stored[row] != 0) continue;
    const auto process =
        static_cast<size_t>(buffers.process[static_cast<size_t>(rows.buffer[row])]);
    kept_ns[process] = std::min(kept_ns[process], rows.ns[row]);
  }
  int64_t replayed = 0, unknown = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    const auto buffer = static_cast<size_t>(rows.buffer[row]);
    if (rows.call[row] != kNoRow &&
        !is_of_one_topic(rows.call[row], buffers.subscription[buffer])) {
      rows.call[row] = kNoRow;
    }
    const bool kept =
        kept_ns[static_cast<size_t>(buffers.process[buffer])] < buffers.begin_ns[buffer];
    if (!kept || rows.stored[row] == 0 || rows.call[row] != kNoRow) rows.replayed[row] = 0;
    if (rows.stored[row] == 0 || rows.call[row] != kNoRow) continue;
    replayed += rows.replayed[row];
    unknown += 1 - rows.replayed[row];
  }
  context_.ledger.add(Finding::replayed_messages, replayed);
  context_.ledger.add(Finding::enqueues_without_publication, unknown);
}

// Where all messages are those of the middleware.
void IntraProcess::count_messages() const {
  const Rows& rows = context_.rows;
  int64_t without_callback = 0, untaken = 0;
  for (size_t take = 0; take < rows.takes.size(); ++take) {
    without_callback += rows.takes.execution[take] == kNone ? 1 : 0;
  }
  std::vector<bool> is_taken(rows.publishes.size(), false);
  for (size_t match = 0; match < rows.matches.size(); ++match) {
    is_taken[static_cast<size_t>(rows.matches.publish[match])] = true;
  }
  for (size_t publish = 0; publish < is_taken.size(); ++publish) {
    untaken += rows.publishes.of_application[publish] != 0 && !is_taken[publish] ? 1 : 0;
  }
  context_.ledger.add(Finding::takes_without_callback, without_callback);
  context_.ledger.add(Finding::untaken_publications, untaken);
}

// Of one instant those of the middleware come first.
void IntraProcess::number_publications() {
  const auto& publishes = context_.rows.publishes;
  const auto& calls = context_.rows.intra_publishes;
  auto& rows = context_.rows.published_messages;
  of_publish_.resize(publishes.size(), kNoRow);
  of_call_.resize(calls.size(), kNoRow);
  size_t call = 0;
  // Of those before a time, or at it, too.
  const auto add_calls = [&](int64_t until_ns, bool with_equal) {
    for (; call < calls.size(); ++call) {
      if (calls.ns[call] > until_ns || (calls.ns[call] == until_ns && !with_equal)) return;
      if (calls.publish[call] != kNoRow) continue;
      const int64_t row = rows.add();
      rows.call[static_cast<size_t>(row)] = static_cast<int32_t>(call);
      of_call_[call] = static_cast<int32_t>(row);
    }
  };
  for (size_t publish = 0; publish < publishes.size(); ++publish) {
    if (publishes.of_application[publish] == 0) continue;
    add_calls(publishes.ns[publish], false);
    const int64_t row = rows.add();
    rows.publish[static_cast<size_t>(row)] = static_cast<int32_t>(publish);
    of_publish_[publish] = static_cast<int32_t>(row);
  }
  add_calls(INT64_MAX, true);
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.publish[row] == kNoRow) continue;
    of_call_[row] = of_publish_[static_cast<size_t>(calls.publish[row])];
    rows.call[static_cast<size_t>(of_call_[row])] = static_cast<int32_t>(row);
  }
}

// Of one instant those of the middleware come first.
void IntraProcess::number_takes() {
  const auto& takes = context_.rows.takes;
  const auto& dequeues = context_.rows.dequeues;
  auto& rows = context_.rows.taken_messages;
  const Column<uint8_t> duplicate = find_duplicates();
  int64_t without_callback = 0;
  size_t dequeue = 0;
  const auto add_dequeues = [&](int64_t until_ns, bool with_equal) {
    for (; dequeue < dequeues.size(); ++dequeue) {
      const int64_t ns = dequeues.ns[dequeue];
      if (ns > until_ns || (ns == until_ns && !with_equal)) return;
      rows.dequeue[static_cast<size_t>(rows.add())] = static_cast<int32_t>(dequeue);
      without_callback += dequeues.execution[dequeue] == kNoRow ? 1 : 0;
    }
  };
  for (size_t take = 0; take < takes.size(); ++take) {
    add_dequeues(takes.ns[take], false);
    const auto row = static_cast<size_t>(rows.add());
    rows.take[row] = static_cast<int32_t>(take);
    rows.duplicate[row] = duplicate.empty() ? 0 : duplicate[take];
    without_callback += rows.duplicate[row] == 0 && takes.execution[take] == kNone ? 1 : 0;
  }
  add_dequeues(INT64_MAX, true);
  context_.ledger.add(Finding::takes_without_callback, without_callback);
}

// Takes of copies of messages that their subscription got within the process; empty for none.
Column<uint8_t> IntraProcess::find_duplicates() const {
  const Rows& all = context_.rows;
  Column<uint8_t> duplicate;
  if (all.matches.size() == 0 || all.intra_publishes.size() == 0) return duplicate;
  const StoredBy stored(all);
  duplicate.resize(all.takes.size(), 0);
  int64_t count = 0;
  for (size_t match = 0; match < all.matches.size(); ++match) {
    const auto publish = static_cast<size_t>(all.matches.publish[match]);
    const auto take = static_cast<size_t>(all.matches.take[match]);
    const int64_t process = all.threads.process[static_cast<size_t>(all.takes.thread[take])];
    const int64_t sender = all.threads.process[static_cast<size_t>(all.publishes.thread[publish])];
    // Without init events the buffer's subscription is unknown: the missing callback tells.
    const bool is_dropped = sender == process && all.takes.execution[take] == kNone;
    const int64_t taker = all.takes.subscription[take];
    const bool is_own = (taker != kNone && stored.has(publish, taker)) ||
                        (is_dropped && stored.has(publish, kNone));
    if (!is_own) continue;
    duplicate[take] = 1;
    ++count;
    count_copy(take);
  }
  context_.ledger.add(Finding::intra_process_duplicates, count);
  return duplicate;
}

// It was counted as a take.
void IntraProcess::count_copy(size_t take) const {
  const auto& rows = context_.rows.takes;
  if (rows.loaned[take] != 0) return;
  const int64_t process = context_.rows.threads.process[static_cast<size_t>(rows.thread[take])];
  EventUses& uses = context_.uses;
  if (rows.subscription[take] != kNone) {
    uses.move(EventType::rmw_take, Use::take, Use::intra_process_copy);
  } else if (context_.settings.losses.touch(0, rows.ns[take])) {
    uses.move(EventType::rmw_take, Use::take_unannounced, Use::intra_process_copy);
  } else if (uses.is_older(process)) {
    uses.move(EventType::rmw_take, Use::take_older, Use::intra_process_copy);
  }
}

void IntraProcess::match() {
  const Rows& all = context_.rows;
  const auto& taken = all.taken_messages;
  auto& rows = context_.rows.matched_messages;
  std::vector<bool> is_taken(all.published_messages.size(), false);
  int64_t with_losses = 0;
  size_t match = 0;
  const auto add = [&](size_t message, int32_t published, MatchMethod method, int32_t enqueue) {
    const auto row = static_cast<size_t>(rows.add());
    rows.taken[row] = static_cast<int32_t>(message);
    rows.published[row] = published;
    rows.method[row] = static_cast<uint8_t>(method);
    rows.enqueue[row] = enqueue;
    is_taken[static_cast<size_t>(published)] = true;
  };
  for (size_t message = 0; message < taken.size(); ++message) {
    const int32_t take = taken.take[message];
    if (take != kNoRow) {
      if (match == all.matches.size() || all.matches.take[match] != take) continue;
      const size_t own = match++;
      if (taken.duplicate[message] != 0) continue;
      add(message, of_publish_[static_cast<size_t>(all.matches.publish[own])],
          static_cast<MatchMethod>(all.matches.method[own]), kNoRow);
      continue;
    }
    const auto dequeue = static_cast<size_t>(taken.dequeue[message]);
    const int32_t enqueue = all.dequeues.enqueue[dequeue];
    if (enqueue == kNoRow) continue;
    const int32_t call = all.enqueues.call[static_cast<size_t>(enqueue)];
    if (call == kNoRow) continue;
    const bool is_lossy = context_.settings.losses.touch(
        all.intra_publishes.ns[static_cast<size_t>(call)], all.dequeues.ns[dequeue]);
    with_losses += is_lossy ? 1 : 0;
    add(message, of_call_[static_cast<size_t>(call)],
        is_lossy ? MatchMethod::ring_buffer_losses : MatchMethod::ring_buffer, enqueue);
  }
  context_.ledger.add(Finding::ring_buffers_with_losses, with_losses);
  context_.ledger.add(Finding::untaken_publications,
                      static_cast<int64_t>(std::ranges::count(is_taken, false)));
}

}  // namespace strata
