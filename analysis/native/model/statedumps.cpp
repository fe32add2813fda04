// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/statedumps.hpp"

#include "model/differences.hpp"

namespace strata {

size_t Statedumps::Hash::operator()(const Announcement& announcement) const {
  auto hash = static_cast<uint64_t>(announcement.type);
  const auto mix = [&hash](int64_t part) {
    hash = (hash ^ static_cast<uint64_t>(part)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29U;
  };
  for (const int64_t part : announcement.process) mix(part);
  for (const int64_t part : announcement.value) mix(part);
  return hash;
}

Dumped Statedumps::judge(const Arrival& arrival) {
  const Event& event = arrival.event;
  const Place& place = arrival.place;
  const Thread thread{place.host, place.pid_ns, place.vpid, place.vtid};
  if (!is_init(event.type) || event.type == EventType::procname) {
    tracing_.insert(thread);
    return Dumped::no;
  }
  const auto [known, is_new] = announced_.try_emplace(of(arrival), kNone);
  if (tracing_.contains(thread)) {
    known->second = event.ns;
    return is_new ? Dumped::brought_forward : Dumped::known;
  }
  const bool is_of_both = known->second != kNone && apart(event.ns, known->second) < kOneEventNs;
  return is_of_both ? Dumped::known : Dumped::no;
}

bool Statedumps::announce(const Arrival& arrival) {
  return announced_.try_emplace(of(arrival), arrival.event.ns).second;
}

Statedumps::Announcement Statedumps::of(const Arrival& arrival) {
  const Place& place = arrival.place;
  const Event& event = arrival.event;
  return {{place.host, place.pid_ns, place.vpid}, event.type, event.present, event.value};
}

}  // namespace strata
