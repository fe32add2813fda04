// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Rows of one kind grouped by sample: a sample's rows lie close in time, so close in memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/column.hpp"
#include "model/dds/samples.hpp"

namespace strata::dds {

class BySample {
 public:
  // `rows` have a `sample`, which is resolved here.
  template <typename Row>
  void group(const Column<Row>& rows, const Samples& samples) {
    first_.assign(samples.size() + 1, 0);
    for (size_t row = 0; row < rows.size(); ++row) {
      const int32_t sample = samples.sample_of(rows[row].sample);
      if (sample != kNoRow) ++first_[static_cast<size_t>(sample)];
    }
    uint32_t end = 0;
    for (uint32_t& first : first_) first = end += first;
    order_.resize(end);
    // From the last row on: what was the end of a sample's rows becomes their begin.
    for (size_t row = rows.size(); row-- > 0;) {
      const int32_t sample = samples.sample_of(rows[row].sample);
      if (sample == kNoRow) continue;
      order_[--first_[static_cast<size_t>(sample)]] = static_cast<uint32_t>(row);
    }
  }

  // The rows of a sample, in their order.
  std::span<const uint32_t> of(int64_t sample) const {
    if (sample < 0 || first_.empty()) return {};
    const auto at = static_cast<size_t>(sample);
    return std::span(order_).subspan(first_[at], first_[at + 1] - first_[at]);
  }

 private:
  std::vector<uint32_t> first_;  // by sample; one more: the end
  std::vector<uint32_t> order_;
};

}  // namespace strata::dds
