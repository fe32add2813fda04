// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/dds/stamps.hpp"

#include <algorithm>

namespace strata::dds {

size_t SamplesByStamp::slot_of(uint32_t process, int64_t stamp) const {
  const size_t mask = entries_.size() - 1;
  uint64_t hash = static_cast<uint64_t>(stamp) * 0x9e3779b97f4a7c15U;
  hash = (hash ^ hash >> 32U ^ process) * 0xbf58476d1ce4e5b9U;
  size_t at = (hash ^ hash >> 29U) & mask;
  while (entries_[at].stamp != kNone &&
         (entries_[at].stamp != stamp || entries_[at].process != process)) {
    at = (at + 1) & mask;
  }
  return at;
}

void SamplesByStamp::ask(uint32_t process, int64_t stamp) {
  if (stamp <= 0) return;
  if (2 * (count_ + 1) > entries_.size()) {
    const std::vector<Entry> before = std::move(entries_);
    entries_.assign(std::max<size_t>(64, 2 * before.size()), {});
    for (const Entry& entry : before) {
      if (entry.stamp != kNone) entries_[slot_of(entry.process, entry.stamp)] = entry;
    }
  }
  Entry& entry = entries_[slot_of(process, stamp)];
  if (entry.stamp != kNone) return;
  entry = {stamp, process, kNoRow};
  ++count_;
}

void SamplesByStamp::note(uint32_t process, int64_t stamp, int32_t sample) {
  if (empty() || stamp <= 0 || sample == kNoRow) return;
  Entry& entry = entries_[slot_of(process, stamp)];
  if (entry.stamp == kNone) return;
  entry.sample = entry.sample == kNoRow || entry.sample == sample ? sample : kSeveral;
}

int32_t SamplesByStamp::find(uint32_t process, int64_t stamp) const {
  if (empty() || stamp <= 0) return kNoRow;
  const int32_t sample = entries_[slot_of(process, stamp)].sample;
  return sample == kSeveral ? kNoRow : sample;
}

}  // namespace strata::dds
