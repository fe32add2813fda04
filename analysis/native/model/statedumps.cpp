// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/statedumps.hpp"

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
  if (event.type == EventType::dump_begin) {
    dumping_.insert({place});
    return Dumped::no;
  }
  if (event.type == EventType::dump_end) {
    dumping_.erase({place});
    return Dumped::no;
  }
  const bool is_new =
      announced_
          .insert({{place.host, place.pid_ns, place.vpid}, event.type, event.present, event.value})
          .second;
  if (dumping_.empty() || !dumping_.contains({place})) return Dumped::no;
  return is_new ? Dumped::brought_forward : Dumped::known;
}

}  // namespace strata
