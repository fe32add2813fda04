// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/late_events.hpp"

#include <algorithm>

namespace strata {
namespace {

uint64_t elapsed(int64_t from_ns, int64_t to_ns) {
  return static_cast<uint64_t>(to_ns) - static_cast<uint64_t>(from_ns);
}

}  // namespace

bool LateEvents::comes_after(const Waiting& a, const Waiting& b) {
  return a.ns != b.ns ? a.ns > b.ns : a.number > b.number;
}

void LateEvents::release() {
  Waiting next{};
  if (is_late_next()) {
    std::pop_heap(late_.begin(), late_.end(), comes_after);
    next = late_.back();
    late_.pop_back();
  } else {
    next = in_order_.front();
    in_order_.pop_front();
  }
  engine_.next(next.ns) = arrivals_[next.place];
  free_.push_back(next.place);
}

int64_t LateEvents::late_by(int64_t ns) const {
  if (ns >= latest_) return 0;
  return static_cast<int64_t>(std::min<uint64_t>(elapsed(ns, latest_), INT64_MAX));
}

Arrival& LateEvents::next(int64_t ns) {
  const bool is_late = ns < latest_;
  latest_ = std::max(latest_, ns);
  const auto latest_by = static_cast<uint64_t>(latest_by_);
  while (!is_empty() && elapsed(next_ns(), latest_) >= latest_by) release();
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(arrivals_.size()));
    arrivals_.push_back({});
  }
  const uint32_t place = free_.back();
  free_.pop_back();
  const Waiting waiting{ns, events_++, place};
  if (is_late) {
    late_.push_back(waiting);
    std::push_heap(late_.begin(), late_.end(), comes_after);
  } else {
    in_order_.push_back(waiting);
  }
  last_ = place;
  Arrival& arrival = arrivals_[place];
  arrival = {};
  arrival.event.ns = ns;
  arrival.event.value.fill(kNone);
  return arrival;
}

void LateEvents::finish() {
  while (!is_empty()) release();
}

}  // namespace strata
