// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "layers/pairs.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace strata {
namespace {

uint64_t key_of(int64_t writer, int64_t reader) {
  if (!is_row(writer, UINT32_MAX) || !is_row(reader, UINT32_MAX)) {
    throw std::invalid_argument("a pair has no writer or no reader");
  }
  return static_cast<uint64_t>(writer) << 32U | static_cast<uint64_t>(reader);
}

}  // namespace

PairNumbers::PairNumbers(Ints writer, Ints reader) {
  for (size_t pair = 0; pair < writer.size(); ++pair) add(writer[pair], reader[pair]);
}

int64_t PairNumbers::of(int64_t writer, int64_t reader) {
  const uint64_t key = key_of(writer, reader);
  Recent& recent = recent_[(key ^ key >> 32U) % kRecent];
  if (recent.key == key) return recent.number;
  const auto known = number_.find(key);
  if (known == number_.end()) return kNone;
  recent = {key, known->second};
  return known->second;
}

size_t PairNumbers::add(int64_t writer, int64_t reader) {
  const uint64_t key = key_of(writer, reader);
  Recent& recent = recent_[(key ^ key >> 32U) % kRecent];
  if (recent.key == key) return recent.number;
  const auto next = static_cast<uint32_t>(number_.size());
  recent = {key, number_.emplace(key, next).first->second};
  return recent.number;
}

MatchedPairs match_pairs(Ints writer, Ints reader, Ints hop) {
  require_one_length({{writer, reader, hop}});
  PairNumbers numbers;
  MatchedPairs found;
  for (size_t message = 0; message < writer.size(); ++message) {
    const size_t pair = numbers.add(writer[message], reader[message]);
    if (pair == found.hop.size()) {
      found.writer.push_back(writer[message]);
      found.reader.push_back(reader[message]);
      found.hop.push_back(kNone);
    }
    found.hop[pair] = hop[message];
  }
  Many<size_t> order(found.hop.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {},
                    [&](size_t pair) { return std::tie(found.writer[pair], found.reader[pair]); });
  MatchedPairs ordered;
  for (const size_t pair : order) {
    ordered.writer.push_back(found.writer[pair]);
    ordered.reader.push_back(found.reader[pair]);
    ordered.hop.push_back(found.hop[pair]);
  }
  return ordered;
}

FirstHanded first_handed(Ints writer, Ints handed_ns, Ints rmw_publish_ns, size_t writers) {
  require_one_length({{writer, handed_ns, rmw_publish_ns}});
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  FirstHanded first{Many<int64_t>(writers, kNever), Many<int64_t>(writers, kNever)};
  for (size_t row = 0; row < writer.size(); ++row) {
    if (!is_row(writer[row], writers)) continue;
    const auto own = static_cast<size_t>(writer[row]);
    first.any_ns[own] = std::min(first.any_ns[own], handed_ns[row]);
    if (rmw_publish_ns[row] == kNone) continue;
    first.sent_ns[own] = std::min(first.sent_ns[own], handed_ns[row]);
  }
  return first;
}

}  // namespace strata
