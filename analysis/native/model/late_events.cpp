// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/late_events.hpp"

#include <algorithm>

namespace strata {

bool LateEvents::comes_after(const Waiting& a, const Waiting& b) {
  return a.ns != b.ns ? a.ns > b.ns : a.number > b.number;
}

void LateEvents::release() {
  std::pop_heap(heap_.begin(), heap_.end(), comes_after);
  const Waiting next = heap_.back();
  heap_.pop_back();
  engine_.next(next.ns) = arrivals_[next.place];
  free_.push_back(next.place);
}

Arrival& LateEvents::next(int64_t ns) {
  latest_ = std::max(latest_, ns);
  const auto waits = [this](int64_t own) {
    return static_cast<uint64_t>(latest_) - static_cast<uint64_t>(own) <
           static_cast<uint64_t>(latest_by_);
  };
  while (!heap_.empty() && !waits(heap_.front().ns)) release();
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(arrivals_.size()));
    arrivals_.push_back({});
  }
  const uint32_t place = free_.back();
  free_.pop_back();
  heap_.push_back({ns, events_++, place});
  std::push_heap(heap_.begin(), heap_.end(), comes_after);
  Arrival& arrival = arrivals_[place];
  arrival = {};
  arrival.event.ns = ns;
  arrival.event.value.fill(kNone);
  return arrival;
}

void LateEvents::finish() {
  while (!heap_.empty()) release();
}

}  // namespace strata
