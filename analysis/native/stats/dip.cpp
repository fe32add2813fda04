// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

#include "stats/dip.hpp"

#include <cstddef>

namespace strata::stats {

std::vector<int64_t> convex_contacts(std::span<const double> places,
                                     std::span<const int64_t> heights) {
  const auto height = [heights](int64_t i) {
    return static_cast<double>(heights[static_cast<size_t>(i)]);
  };
  const auto place = [places](int64_t i) { return places[static_cast<size_t>(i)]; };
  std::vector<int64_t> touching;
  const auto count = static_cast<int64_t>(places.size());
  for (int64_t at = 0; at < count; ++at) {
    // The last point stays where the slope rises at it.
    while (touching.size() > 1) {
      const int64_t before = touching[touching.size() - 2], last = touching.back();
      const double rise = height(last) - height(before), run = place(last) - place(before);
      if (rise * (place(at) - place(before)) < (height(at) - height(before)) * run) break;
      touching.pop_back();
    }
    touching.push_back(at);
  }
  return touching;
}

}  // namespace strata::stats
