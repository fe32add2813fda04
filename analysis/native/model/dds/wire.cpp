// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/dds/wire.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace strata::dds {
namespace {

// Half of Linux's usual send buffer (net.core.wmem_default): below it, a writer never waits.
constexpr int64_t kFullBytes = 106'496;
// What the kernel accounts for a datagram of no payload; payload it accounts up to twice.
constexpr int64_t kDatagramBytes = 768;

}  // namespace

// What sockets of a process may have held, as the kernel accounts it: bytes that were sent before
// and arrived later, somewhere; what arrived nowhere is not known to have been there.
class Wire::Queues {
 public:
  void ask(uint32_t process) { by_process_.try_emplace(process); }
  bool empty() const { return by_process_.empty(); }

  void add(uint32_t process, int64_t sent_ns, int64_t came_ns, int64_t payload) {
    const auto asked = by_process_.find(process);
    if (asked == by_process_.end()) return;
    const int64_t bytes = 2 * std::max<int64_t>(payload, 0) + kDatagramBytes;
    asked->second.sent.emplace_back(sent_ns, bytes);
    asked->second.came.emplace_back(came_ns, bytes);
  }

  void sum() {
    for (auto& [process, queue] : by_process_) {
      for (Steps* steps : {&queue.sent, &queue.came}) {
        std::ranges::sort(*steps);
        int64_t total = 0;
        for (auto& [ns, bytes] : *steps) bytes = total += bytes;
      }
    }
  }

  int64_t bytes_before(uint32_t process, int64_t at_ns) const {
    const Queue& queue = by_process_.at(process);
    return total_before(queue.sent, at_ns) - total_before(queue.came, at_ns);
  }

 private:
  using Steps = std::vector<std::pair<int64_t, int64_t>>;  // time, bytes; once summed, up to then
  struct Queue {
    Steps sent;
    Steps came;
  };

  static int64_t total_before(const Steps& steps, int64_t at_ns) {
    const auto at = std::ranges::lower_bound(steps, at_ns, {}, &Steps::value_type::first);
    return at == steps.begin() ? 0 : (at - 1)->second;
  }

  std::unordered_map<uint32_t, Queue> by_process_;
};

void Wire::finish() {
  sent_.group(buffers_.sent, samples_);
  came_.group(buffers_.came, samples_);
  added_.group(buffers_.added, samples_);
  notified_.group(buffers_.notified, samples_);
  number_calls();
  find_full_sockets();
  count_refused();
  count_incomplete();
}

Transmission& Wire::of(int64_t sample) {
  if (sample != loaded_) {
    loaded_ = sample;
    now_.load(sent_.of(sample), came_.of(sample));
  }
  return now_;
}

// Calls of one thread and instant are one.
void Wire::number_calls() {
  std::vector<bool> sent(buffers_.calls.size(), false);
  for (size_t row = 0; row < buffers_.sent.size(); ++row) {
    const SentRun& run = buffers_.sent[row];
    if (samples_.sample_of(run.sample) == kNoRow || call_of(run).is_offered_again()) continue;
    sent[run.call] = true;
  }
  struct Last {
    int64_t ns = kNone;
    uint32_t number = 0;
  };
  PerThread<Last> last;
  for (size_t row = 0; row < buffers_.calls.size(); ++row) {
    if (!sent[row]) continue;
    SendCall& call = buffers_.calls[row];
    Last& before = last[call.thread];
    if (before.number == 0 || before.ns != call.ns) ++before.number;
    before.ns = call.ns;
    call.number = before.number;
  }
}

void Wire::find_full_sockets() {
  const auto is_asked = [](const SendCall& call) {
    return is_udp(call.transport) && is_slow(call);
  };
  Queues queues;
  for (size_t row = 0; row < buffers_.calls.size(); ++row) {
    const SendCall& call = buffers_.calls[row];
    if (is_asked(call)) queues.ask(process_of(call.thread));
  }
  if (queues.empty()) return;
  for (size_t sample = 0; sample < samples_.size(); ++sample) {
    Transmission& transmission = of(static_cast<int64_t>(sample));
    for (const Transmission::Send& send : transmission.all_sends()) {
      const SendCall& call = buffers_.calls[send.call];
      if (send.again || !is_udp(call.transport)) continue;
      const int64_t came_ns = transmission.last_udp_ns(send.fragment);
      if (came_ns != kNone) queues.add(process_of(call.thread), send.ns, came_ns, call.bytes);
    }
  }
  queues.sum();
  for (size_t row = 0; row < buffers_.calls.size(); ++row) {
    SendCall& call = buffers_.calls[row];
    if (!is_asked(call)) continue;
    call.full = queues.bytes_before(process_of(call.thread), call.ns) > kFullBytes;
  }
  loaded_ = kNone - 1;
}

void Wire::count_refused() {
  int64_t refused = 0;
  for (size_t row = 0; row < buffers_.sent.size(); ++row) {
    const SentRun& run = buffers_.sent[row];
    if (call_of(run).refused && samples_.sample_of(run.sample) != kNoRow) ++refused;
  }
  context_.ledger.add(Finding::refused_sends, refused);
}

void Wire::count_incomplete() {
  int64_t incomplete = 0;
  for (size_t sample = 0; sample < samples_.size(); ++sample) {
    const auto number = static_cast<int64_t>(sample);
    if (sent_.of(number).empty() || came_.of(number).empty()) continue;
    const Transmission& transmission = of(number);
    for (const Transmission::Place& place : transmission.by_process()) {
      if (place.arrivals.arrived >= transmission.sends().fragments) continue;
      if (!is_notified(number, place.number)) ++incomplete;
    }
  }
  context_.ledger.add(Finding::incomplete_samples, incomplete);
}

bool Wire::is_notified(int64_t sample, uint32_t process) const {
  return std::ranges::any_of(notified_.of(sample), [&](uint32_t row) {
    return process_of(buffers_.notified[row].thread) == process;
  });
}

Notice Wire::notice(uint32_t process, int64_t sample, int32_t reader) const {
  const Notification* exact = nullptr;
  const Notification* any = nullptr;
  const Notification* of_unknown = nullptr;
  int64_t in_process = 0;
  for (const uint32_t row : notified_.of(sample)) {
    const Notification& one = buffers_.notified[row];
    if (process_of(one.thread) != process) continue;
    ++in_process;
    if (any == nullptr) any = &one;
    if (of_unknown == nullptr && one.reader == kNoRow) of_unknown = &one;
    if (one.reader == reader) {
      exact = &one;
      break;
    }
  }
  const Notification* loose = reader == kNoRow ? any : of_unknown;
  const Notification* found = exact != nullptr ? exact : loose;
  if (found == nullptr) return {};
  Notice notice{.ns = found->ns,
                .thread = found->thread,
                .unnumbered = found->unnumbered,
                .inferred = exact == nullptr && in_process > 1};
  for (const uint32_t row : added_.of(sample)) {
    const HistoryAdd& one = buffers_.added[row];
    if (one.ns > found->ns) break;
    if (one.thread == found->thread) notice.added_ns = one.ns;
  }
  return notice;
}

}  // namespace strata::dds
