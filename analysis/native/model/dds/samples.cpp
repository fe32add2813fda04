// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/dds/samples.hpp"

#include <algorithm>
#include <string_view>

namespace strata::dds {
namespace {

constexpr size_t kGuidBytes = 16;
constexpr size_t kLeastSlots = 1024;
constexpr int32_t kSeveral = -2;

}  // namespace

int64_t Samples::guid(int64_t bytes) {
  if (bytes < 0) return kNone;
  const auto number = static_cast<size_t>(bytes);
  if (number >= is_guid_.size()) is_guid_.resize(number + 1, -1);
  if (is_guid_[number] < 0) {
    const std::string_view content = bytes_[bytes];
    const bool is_zeros = content.find_first_not_of('\0') == std::string_view::npos;
    is_guid_[number] = content.size() == kGuidBytes && !is_zeros ? 1 : 0;
  }
  return is_guid_[number] == 1 ? bytes : kNone;
}

int32_t Samples::named(int64_t writer, int64_t sequence, int64_t stamp) {
  if (writer == kNone) return kNoRow;
  if (sequence == 0) return stamp > 0 ? find_or_add({writer, stamp, true}) : kNoRow;
  const int32_t row = find_or_add({writer, sequence, false});
  if (stamp > 0) {
    int64_t& first = rows_.stamp[static_cast<size_t>(row)];
    if (first == kNone) first = stamp;
    if (first != stamp) further_stamps_.emplace_back(row, stamp);
  }
  return row;
}

uint64_t Samples::hash_of(const Key& key) {
  uint64_t hash = static_cast<uint64_t>(key.writer) * 0x9e3779b97f4a7c15U + (key.by_stamp ? 1 : 0);
  hash = (hash ^ hash >> 32U ^ static_cast<uint64_t>(key.number)) * 0xbf58476d1ce4e5b9U;
  return hash ^ hash >> 29U;
}

Samples::Key Samples::key_of(int32_t row) const {
  const auto at = static_cast<size_t>(row);
  const bool by_stamp = is_unnumbered(row);
  return {rows_.writer[at], by_stamp ? rows_.stamp[at] : rows_.sequence[at], by_stamp};
}

bool Samples::has(int32_t row, const Key& key) const {
  const Key own = key_of(row);
  return own.number == key.number && own.writer == key.writer && own.by_stamp == key.by_stamp;
}

// Where a key is, or would be.
size_t Samples::slot_of(const Key& key) const {
  const size_t mask = slots_.size() - 1;
  size_t at = hash_of(key) & mask;
  while (slots_[at] != kNoRow && !has(slots_[at], key)) at = (at + 1) & mask;
  return at;
}

int32_t Samples::find_or_add(const Key& key) {
  if (2 * (rows_.size() + 1) > slots_.size()) grow();
  int32_t& slot = slots_[slot_of(key)];
  if (slot != kNoRow) return slot;
  slot = static_cast<int32_t>(rows_.add());
  const auto row = static_cast<size_t>(slot);
  rows_.writer[row] = static_cast<int32_t>(key.writer);
  rows_.sequence[row] = key.by_stamp ? 0 : key.number;
  if (key.by_stamp) rows_.stamp[row] = key.number;
  rows_.sample[row] = slot;
  if (key.by_stamp) unnumbered_.push_back(slot);
  return slot;
}

void Samples::grow() {
  slots_.assign(std::max(kLeastSlots, 2 * slots_.size()), kNoRow);
  for (size_t row = 0; row < rows_.size(); ++row) {
    const auto number = static_cast<int32_t>(row);
    slots_[slot_of(key_of(number))] = number;
  }
}

void Samples::resolve(std::vector<Unnumbered> notified) {
  if (unnumbered_.empty()) return;
  std::vector<int32_t> numbered(rows_.size(), kNoRow);
  const auto note = [&](int32_t row, int64_t stamp) {
    const int32_t same = slots_[slot_of({rows_.writer[static_cast<size_t>(row)], stamp, true})];
    if (same == kNoRow) return;
    int32_t& known = numbered[static_cast<size_t>(same)];
    known = known == kNoRow || known == row ? row : kSeveral;
  };
  for (size_t at = 0; at < rows_.size(); ++at) {
    const auto row = static_cast<int32_t>(at);
    if (!is_unnumbered(row) && rows_.stamp[at] != kNone) note(row, rows_.stamp[at]);
  }
  for (const auto& [row, stamp] : further_stamps_) note(row, stamp);
  std::ranges::sort(notified);
  for (size_t i = 1; i < notified.size(); ++i) {
    if (notified[i] == notified[i - 1])
      numbered[static_cast<size_t>(notified[i].sample)] = kSeveral;
  }
  for (const int32_t row : unnumbered_) {
    const int32_t known = numbered[static_cast<size_t>(row)];
    if (known != kNoRow)
      rows_.sample[static_cast<size_t>(row)] = known == kSeveral ? kNoRow : known;
  }
}

}  // namespace strata::dds
