// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/dds/transmission.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "model/differences.hpp"

namespace strata::dds {
namespace {

// Sorts where that is needed: most samples have one row.
template <typename Range, typename Less>
void sort_stably(Range& range, Less less) {
  if (!std::ranges::is_sorted(range, less)) std::ranges::stable_sort(range, less);
}

template <typename T>
void number(std::vector<uint32_t>& order, const std::vector<T>& items) {
  order.resize(items.size());
  std::iota(order.begin(), order.end(), 0U);
}

}  // namespace

void Transmission::load(std::span<const uint32_t> sent, std::span<const uint32_t> came) {
  is_held_known_ = is_udp_known_ = false;
  load_sends(sent);
  load_arrivals(came);
}

void Transmission::load_sends(std::span<const uint32_t> rows) {
  rows_.clear();
  for (const uint32_t row : rows) {
    if (!buffers_.calls[buffers_.sent[row].call].is_offered_again()) rows_.push_back(row);
  }
  // By the time of their buffer, of one instant the first samples of buffers before further ones.
  sort_stably(rows_, [this](uint32_t a, uint32_t b) {
    const SentRun &left = buffers_.sent[a], &right = buffers_.sent[b];
    return std::tuple(buffers_.calls[left.call].ns, left.further) <
           std::tuple(buffers_.calls[right.call].ns, right.further);
  });
  send_.clear();
  for (const uint32_t row : rows_) {
    const SentRun& run = buffers_.sent[row];
    const int64_t ns = buffers_.calls[run.call].ns;
    for (int32_t i = 0; i < run.count; ++i) {
      send_.push_back({ns, run.call, narrow(int64_t{run.fragment} + i), false});
    }
  }
  mark_resends();
  sends_ = {};
  if (send_.empty()) return;
  sends_.first_send_ns = send_.front().ns;
  sends_.transport = call(send_.front()).transport;
  for (const Send& send : send_) {
    if (!send.again) sends_.first_sent_ns = std::max(sends_.first_sent_ns, call(send).end_ns);
  }
  sends_.fragments = 1;
  for (size_t i = 1; i < by_fragment_.size(); ++i) {
    if (send_[by_fragment_[i]].fragment != send_[by_fragment_[i - 1]].fragment) ++sends_.fragments;
  }
}

void Transmission::mark_resends() {
  sent_again_ = may_be_recovered_ = false;
  number(by_fragment_, send_);
  if (send_.size() < 2) return;
  const auto key = [this](uint32_t at) {
    return std::tuple(send_[at].fragment, call(send_[at]).destination);
  };
  sort_stably(by_fragment_, [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  for (size_t i = 1; i < by_fragment_.size(); ++i) {
    if (key(by_fragment_[i]) != key(by_fragment_[i - 1])) continue;
    Send& send = send_[by_fragment_[i]];
    send.again = sent_again_ = true;
    may_be_recovered_ |= !is_tcp(call(send).transport);
  }
}

void Transmission::load_arrivals(std::span<const uint32_t> rows) {
  rows_.assign(rows.begin(), rows.end());
  sort_stably(rows_, [this](uint32_t a, uint32_t b) {
    const CameRun &left = buffers_.came[a], &right = buffers_.came[b];
    return std::tuple(left.ns, left.further) < std::tuple(right.ns, right.further);
  });
  came_.clear();
  for (const uint32_t row : rows_) {
    const CameRun& run = buffers_.came[row];
    for (int32_t i = 0; i < run.count; ++i) {
      came_.push_back(
          {run.ns, run.thread, narrow(int64_t{run.fragment} + i), run.transport, run.port});
    }
  }
  find_first_arrivals();
  sum_by_thread();
  sum_by_process();
}

void Transmission::find_first_arrivals() {
  number(order_, came_);
  const auto key = [this](uint32_t at) { return std::tuple(came_[at].thread, came_[at].fragment); };
  sort_stably(order_, [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  arrival_.clear();
  for (size_t i = 0; i < order_.size(); ++i) {
    if (i > 0 && key(order_[i]) == key(order_[i - 1])) {
      ++arrival_.back().copies;
      continue;
    }
    const Came& first = came_[order_[i]];
    arrival_.push_back({.process = static_cast<uint32_t>(threads_.process[first.thread]),
                        .thread = first.thread,
                        .vtid = threads_.vtid[first.thread],
                        .fragment = first.fragment,
                        .ns = first.ns,
                        .copies = 1,
                        .transport = first.transport,
                        .port = first.port,
                        .recovered = false});
  }
  if (!may_be_recovered_) return;
  for (Arrival& arrival : arrival_) arrival.recovered = is_recovered(arrival);
}

bool Transmission::is_recovered(const Arrival& arrival) {
  const auto fragment_of = [this](uint32_t at) { return send_[at].fragment; };
  const auto first = std::ranges::lower_bound(by_fragment_, arrival.fragment, {}, fragment_of);
  copies_.clear();
  bool suspect = false;
  for (auto at = first; at != by_fragment_.end() && fragment_of(*at) == arrival.fragment; ++at) {
    const Send& send = send_[*at];
    const SendCall& sent = call(send);
    suspect |= send.again && !is_tcp(sent.transport);
    if (sent.transport != arrival.transport) continue;
    // A port that is not known may be any; what SHM gives of several readers is the last one's.
    const bool anywhere = arrival.port <= 0 || sent.port <= 0 || sent.destinations > 1;
    if (!anywhere && sent.port != arrival.port) continue;
    copies_.emplace_back(sent.destination, send.ns <= arrival.ns);
  }
  if (!suspect) return false;
  // Sends of a fragment are in order of destination already.
  int64_t most_sent = 0, most_before = 0, all = 0, before = 0;
  for (size_t i = 0; i < copies_.size(); ++i) {
    if (i > 0 && copies_[i].first != copies_[i - 1].first) all = before = 0;
    ++all;
    before += copies_[i].second ? 1 : 0;
    most_sent = std::max(most_sent, all);
    most_before = std::max(most_before, before);
  }
  return most_before > 1 && most_sent > arrival.copies;
}

namespace {

void add(Arrivals& sum, const Transmission::Arrival& arrival) {
  sum.last_ns = std::max(sum.last_ns, arrival.ns);
  if (arrival.recovered) {
    ++sum.recovered;
  } else {
    sum.received_ns = std::max(sum.received_ns, arrival.ns);
  }
  ++sum.arrived;
}

Arrivals begun(const Transmission::Arrival& first) {
  return {.recovered = 0, .arrived = 0, .transport = first.transport, .port = first.port};
}

}  // namespace

// Transport and port are those of the least fragment.
void Transmission::sum_by_thread() {
  by_thread_.clear();
  for (const Arrival& arrival : arrival_) {
    if (by_thread_.empty() || by_thread_.back().number != arrival.thread) {
      by_thread_.push_back({arrival.thread, begun(arrival)});
    }
    add(by_thread_.back().arrivals, arrival);
  }
}

// Of each fragment that arrival counts that was the first in the process. Transport and port are
// those of the first of all.
void Transmission::sum_by_process() {
  by_process_.clear();
  number(order_, arrival_);
  const auto by_time = [this](uint32_t at) {
    const Arrival& one = arrival_[at];
    return std::tuple(one.process, one.ns, one.vtid, one.fragment);
  };
  const auto by_fragment = [this](uint32_t at) {
    const Arrival& one = arrival_[at];
    return std::tuple(one.process, one.fragment, one.ns, one.vtid);
  };
  sort_stably(order_, [&](uint32_t a, uint32_t b) { return by_time(a) < by_time(b); });
  for (const uint32_t at : order_) {
    const Arrival& arrival = arrival_[at];
    if (by_process_.empty() || by_process_.back().number != arrival.process) {
      by_process_.push_back({arrival.process, begun(arrival)});
    }
  }
  sort_stably(order_, [&](uint32_t a, uint32_t b) { return by_fragment(a) < by_fragment(b); });
  size_t place = 0;
  for (size_t i = 0; i < order_.size(); ++i) {
    const Arrival& arrival = arrival_[order_[i]];
    if (i > 0) {
      const Arrival& before = arrival_[order_[i - 1]];
      if (before.process != arrival.process) ++place;
      if (before.process == arrival.process && before.fragment == arrival.fragment) continue;
    }
    add(by_process_[place].arrivals, arrival);
  }
}

Arrivals Transmission::find(const std::vector<Place>& places, int64_t number) {
  const auto at = std::ranges::lower_bound(
      places, number, {}, [](const Place& place) { return int64_t{place.number}; });
  return at == places.end() || at->number != number ? Arrivals{} : at->arrivals;
}

int64_t Transmission::last_udp_ns(int32_t fragment) {
  if (!is_udp_known_) {
    is_udp_known_ = true;
    udp_.clear();
    for (const Came& came : came_) {
      if (is_udp(came.transport)) udp_.emplace_back(came.fragment, came.ns);
    }
    std::ranges::sort(udp_);
  }
  const auto after = std::ranges::upper_bound(udp_, std::pair(fragment, INT64_MAX));
  return after == udp_.begin() || (after - 1)->first != fragment ? kNone : (after - 1)->second;
}

int64_t Transmission::held_up(int64_t since_ns, int64_t until_ns) {
  int64_t sum = 0;
  for (const Held& one : held()) {
    if (one.ns < since_ns || one.ns >= until_ns) continue;
    const int64_t call_ns = elapsed_ns(one.ns, std::min(one.end_ns, until_ns));
    sum = plus(sum, std::max<int64_t>(minus(call_ns, one.usual_ns), 0));
  }
  return sum;
}

std::span<const Transmission::Held> Transmission::held() {
  if (!is_held_known_) {
    is_held_known_ = true;
    held_.clear();
    find_held_calls();
    find_stretches_between_calls();
  }
  return held_;
}

bool Transmission::counts_as_held(const Send& send) const {
  const SendCall& own = call(send);
  return !send.again && (own.transport == kShm || is_udp(own.transport));
}

void Transmission::find_held_calls() {
  // A call with several fragments counts once; so do calls of a thread that began in one instant.
  const auto is_first = [this](size_t at) {
    const uint32_t thread = call(send_[at]).thread;
    for (size_t i = at; i-- > 0 && send_[i].ns == send_[at].ns;) {
      const SendCall& before = call(send_[i]);
      if (before.thread == thread && before.end_ns != kNone && counts_as_held(send_[i])) {
        return false;
      }
    }
    return true;
  };
  for (size_t i = 0; i < send_.size(); ++i) {
    const SendCall& own = call(send_[i]);
    if (!is_slow(own) || !counts_as_held(send_[i])) continue;
    if (own.transport != kShm && own.full) continue;
    if (is_first(i)) held_.push_back({own.ns, own.end_ns, usual_ns(own)});
  }
}

void Transmission::find_stretches_between_calls() {
  if (send_.size() < 2) return;
  number(order_, send_);
  sort_stably(order_, [this](uint32_t a, uint32_t b) {
    return std::tuple(call(send_[a]).thread, send_[a].ns) <
           std::tuple(call(send_[b]).thread, send_[b].ns);
  });
  for (size_t i = 1; i < order_.size(); ++i) {
    const Send &before = send_[order_[i - 1]], &after = send_[order_[i]];
    const SendCall &ended = call(before), &begun = call(after);
    if (ended.thread != begun.thread || ended.number + 1 != begun.number) continue;
    if (!counts_as_held(before) || !counts_as_held(after) || ended.end_ns == kNone) continue;
    if (elapsed_ns(ended.end_ns, begun.ns) > kUsualNs)
      held_.push_back({ended.end_ns, begun.ns, kUsualNs});
  }
}

int64_t Transmission::last_send_until(int64_t port, int64_t until_ns) const {
  const auto end = std::ranges::upper_bound(send_, until_ns, {}, &Send::ns);
  if (end == send_.begin()) return kNone;
  if (port > 0) {
    for (auto at = end; at != send_.begin();) {
      --at;
      if (call(*at).port == port) return at->call;
    }
  }
  return (end - 1)->call;
}

int64_t Transmission::first_send_since(int64_t like, int64_t since_ns) const {
  if (like == kNone) return kNone;
  const int32_t place = buffers_.calls[static_cast<size_t>(like)].place;
  auto at = std::ranges::lower_bound(send_, since_ns, {}, &Send::ns);
  while (at != send_.end() && call(*at).place != place) ++at;
  return at == send_.end() ? kNone : at->ns;
}

bool Transmission::sent_before(int64_t like, int64_t at_ns) const {
  if (like == kNone) return false;
  const SendCall& there = buffers_.calls[static_cast<size_t>(like)];
  const bool alone = there.place != there.destination;
  for (const Send& send : send_) {
    if (send.ns >= at_ns) return false;
    const SendCall& own = call(send);
    if (alone ? own.place == there.place : own.destination == there.destination) return true;
    const bool to_several = own.place == own.destination;
    if (alone && to_several && own.destination == there.destination) return true;
  }
  return false;
}

}  // namespace strata::dds
