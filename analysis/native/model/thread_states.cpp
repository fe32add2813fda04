// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/thread_states.hpp"

#include <algorithm>
#include <iterator>

namespace strata {
namespace {

bool is_out(const ThreadStates::Item& item) { return item.kind < SchedulerEvent::wake; }
bool is_wake(const ThreadStates::Item& item) { return item.kind == SchedulerEvent::wake; }

}  // namespace

void ThreadStates::add(const Item& item) {
  if (is_wake(item)) {
    if (item.ns != woken_ns_) {
      // What is inserted from now on lies here or later.
      resolve();
      woken_ns_ = item.ns;
      is_open_ = true;
    }
    waiting_.push_back(item);
    return;
  }
  waiting_.push_back(item);
  ++switches_;
  if (!is_open_) resolve();
}

void ThreadStates::insert(const Item& item) {
  const auto is_after = [&](const Item& other) {
    if (other.ns != item.ns) return other.ns > item.ns;
    return other.kind == SchedulerEvent::in && other.order > item.order;
  };
  auto place = waiting_.end();
  while (place != waiting_.begin() && is_after(*std::prev(place))) --place;
  waiting_.insert(place, item);
  ++switches_;
}

void ThreadStates::settle() {
  is_open_ = false;
  limit_ = kShort;
  resolve();
}

void ThreadStates::mark_broken(uint64_t id, int64_t ns) {
  // What is gone has been contradicted by the thread's own next switch: it is unknown anyway.
  for (auto item = std::ranges::lower_bound(waiting_, ns, {}, &Item::ns);
       item != waiting_.end() && item->ns == ns; ++item) {
    if (item->id == id) item->broken = true;
  }
}

void ThreadStates::resolve() {
  if (switches_ <= (has_switch_ ? 1U : 0U)) return;
  size_t begin = 0;
  while (switches_ > (has_switch_ ? 1U : 0U)) {
    size_t next = begin + (has_switch_ ? 1 : 0);
    while (is_wake(waiting_[next])) ++next;
    close(begin, next, &waiting_[next], 0);
    if (has_switch_) --switches_;
    wake_before_ = next > begin && is_wake(waiting_[next - 1]);
    has_switch_ = true;
    begin = next;
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(begin));
  limit_ = kShort;
}

void ThreadStates::finish(int64_t last_ns) {
  resolve();
  if (!waiting_.empty()) close(0, waiting_.size(), nullptr, last_ns);
  waiting_.clear();
  switches_ = 0;
}

void ThreadStates::close_first(size_t begin, size_t end, const Item* next, int64_t last_ns) {
  const bool ran = next != nullptr && is_out(*next);
  const Item& first = waiting_[begin];
  const ThreadState before = is_wake(first) ? ThreadState::blocked : ThreadState::unknown;
  leave(ran ? ThreadState::running : before, ran ? next->cpu : -1, first.ns);
  for (size_t i = begin; i < end; ++i) {
    leave(ran ? ThreadState::running : ThreadState::preempted, ran ? next->cpu : waiting_[i].cpu,
          end_of(i, last_ns));
  }
}

void ThreadStates::close(size_t begin, size_t end, const Item* next, int64_t last_ns) {
  if (!has_switch_) {
    close_first(begin, end, next, last_ns);
    return;
  }
  const Item& last = waiting_[begin];
  const bool is_woken = end > begin + 1;
  const bool came = last.kind == SchedulerEvent::in;
  const bool is_wrong =
      next != nullptr && (is_out(last) == is_out(*next) || (came && last.cpu != next->cpu));
  ThreadState state = ThreadState::blocked;
  if (came) {
    state = last.broken ? ThreadState::unknown : ThreadState::running;
  } else if (last.kind == SchedulerEvent::out_runnable) {
    state = ThreadState::preempted;
  } else if (!is_woken && wake_before_ && next != nullptr && !is_out(*next)) {
    // The wake came while it was on its way out: it went back to the queue.
    state = ThreadState::preempted;
  }
  const bool is_certain = last.kind == SchedulerEvent::out_blocked && is_woken;
  leave(is_wrong && !is_certain ? ThreadState::unknown : state, last.cpu, end_of(begin, last_ns));
  for (size_t i = begin + 1; i < end; ++i) {
    const bool queued = last.kind == SchedulerEvent::out_blocked;
    const ThreadState after = queued ? ThreadState::preempted : state;
    leave(is_wrong ? ThreadState::unknown : after, queued ? waiting_[i].cpu : last.cpu,
          end_of(i, last_ns));
  }
}

void ThreadStates::leave(ThreadState state, int32_t cpu, int64_t end_ns) {
  if (end_ns <= until_ns_) return;
  if (state == ThreadState::blocked || state == ThreadState::unknown) cpu = -1;
  const bool is_near = cpu < kFarCpu - 1;
  const auto place = is_near ? static_cast<uint8_t>(cpu + 1) : kFarCpu;
  ended_.put_byte(static_cast<uint8_t>(static_cast<unsigned>(state) | place << 2U));
  if (!is_near) ended_.put(static_cast<uint64_t>(cpu));
  ended_.put(static_cast<uint64_t>(minus(end_ns, until_ns_)));
  until_ns_ = end_ns;
}

}  // namespace strata
