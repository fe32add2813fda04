// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Windows of time in which events were lost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/column.hpp"

namespace strata {

class Losses {
 public:
  Losses() = default;
  // First and last instant of each window, both included.
  explicit Losses(std::vector<std::pair<int64_t, int64_t>> windows) {
    for (const auto& [begin, end] : windows) {
      begins_.push_back(begin);
      ends_.push_back(end);
    }
    std::ranges::sort(windows, {}, &std::pair<int64_t, int64_t>::second);
    std::ranges::sort(begins_);
    std::ranges::sort(ends_);
    earliest_.assign(windows.size() + 1, INT64_MAX);
    for (size_t i = windows.size(); i-- > 0;) {
      earliest_[i] = std::min(earliest_[i + 1], windows[i].first);
    }
  }

  bool none() const { return begins_.empty(); }

  // How many windows were over before an instant.
  size_t over_before(int64_t at_ns) const {
    return static_cast<size_t>(std::ranges::lower_bound(ends_, at_ns) - ends_.begin());
  }

  // Whether any window touches an interval. An instant that is kNone is no time of the trace: it
  // lies before all windows but those that begin before any event.
  bool touch(int64_t begin_ns, int64_t end_ns) const {
    if (begins_.empty()) return false;
    const auto begun = std::ranges::upper_bound(begins_, end_ns) - begins_.begin();
    return static_cast<size_t>(begun) > over_before(begin_ns);
  }

  // The begin of the first window that is not over at an instant, or the far future.
  int64_t first_touching(int64_t at_ns) const {
    if (begins_.empty()) return INT64_MAX;
    return earliest_[over_before(at_ns)];
  }

 private:
  std::vector<int64_t> begins_;
  std::vector<int64_t> ends_;
  std::vector<int64_t> earliest_;  // by end: the least begin of the windows from here on
};

}  // namespace strata
