// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "stats/groups.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace strata::stats {

namespace {

void require_few(size_t rows) {
  if (rows <= Groups::kMostRows) return;
  throw std::length_error("Cannot group " + std::to_string(rows) + " rows: at most " +
                          std::to_string(Groups::kMostRows) + " are possible. Use fewer.");
}

}  // namespace

Groups::Groups(std::span<const int64_t> codes, size_t count) : rows_(codes.size()) {
  require_few(codes.size());
  begins_.assign(count + 1, 0);
  const auto in_one = [count](int64_t code) {
    return code >= 0 && static_cast<uint64_t>(code) < count;
  };
  bool ascending = true;
  size_t kept = 0, last = 0;
  int64_t before = 0;
  for (size_t row = 0; row < codes.size(); ++row) {
    const int64_t code = codes[row];
    if (!in_one(code)) continue;
    ascending = ascending && code >= before && (kept == 0 || row == last + 1);
    if (kept == 0) first_ = row;
    before = code;
    last = row;
    ++kept;
    ++begins_[static_cast<size_t>(code) + 1];
  }
  for (size_t group = 0; group < count; ++group) begins_[group + 1] += begins_[group];
  in_order_ = ascending;
  if (in_order_) return;
  order_.resize(kept);
  std::vector<size_t> next(begins_.begin(), begins_.end() - 1);
  for (size_t row = 0; row < codes.size(); ++row) {
    if (!in_one(codes[row])) continue;
    order_[next[static_cast<size_t>(codes[row])]++] = static_cast<uint32_t>(row);
  }
}

Groups Groups::one(size_t rows) {
  require_few(rows);
  Groups groups;
  groups.rows_ = rows;
  groups.begins_ = {0, rows};
  groups.in_order_ = true;
  return groups;
}

size_t Groups::largest() const {
  size_t most = 0;
  for (size_t group = 0; group < count(); ++group) most = std::max(most, size(group));
  return most;
}

void Groups::copy_rows(int64_t* out) const {
  for (size_t place = 0; place < begins_.back(); ++place) {
    out[place] = static_cast<int64_t>(row(place));
  }
}

}  // namespace strata::stats
