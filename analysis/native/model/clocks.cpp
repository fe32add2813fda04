// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/clocks.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>

namespace strata {
namespace {

// Rows by group and begin; equal ones keep their order.
Many<size_t> ordered(const Spans& spans) {
  require_one_length({{spans.group, spans.begin_ns, spans.end_ns}});
  Many<size_t> rows(spans.size());
  std::iota(rows.begin(), rows.end(), size_t{0});
  const auto key = [&](size_t row) { return std::tie(spans.group[row], spans.begin_ns[row]); };
  if (!std::ranges::is_sorted(rows, {}, key)) std::ranges::stable_sort(rows, {}, key);
  return rows;
}

}  // namespace

void require_one_length(std::span<const Ints> columns) {
  for (const Ints& column : columns) {
    if (column.size() == columns.front().size()) continue;
    throw std::invalid_argument("columns of one table have " +
                                std::to_string(columns.front().size()) + " and " +
                                std::to_string(column.size()) + " rows");
  }
}

Groups::Groups(Ints ordered) {
  for (size_t row = 0; row < ordered.size(); ++row) {
    if (row > 0 && ordered[row] == ordered[row - 1]) continue;
    groups_.push_back(ordered[row]);
    first_.push_back(row);
  }
  first_.push_back(ordered.size());
}

void Groups::add_rows(int64_t group, size_t count) {
  if (groups_.empty() || groups_.back() != group) {
    groups_.push_back(group);
    first_.push_back(first_.back());
  }
  first_.back() += count;
}

Groups::Range Groups::of(int64_t group) const {
  const auto place = std::ranges::lower_bound(groups_, group);
  if (place == groups_.end() || *place != group) return {};
  const auto number = static_cast<size_t>(place - groups_.begin());
  return {first_[number], first_[number + 1]};
}

Clock::Clock(const Spans& spans) {
  for (const size_t row : ordered(spans)) {
    add(spans.group[row], spans.begin_ns[row], spans.end_ns[row]);
  }
}

void Clock::add(int64_t lane, int64_t begin_ns, int64_t end_ns) {
  const bool goes_on = !start_ns_.empty() && lane == lane_;
  const int64_t highest_ns = goes_on ? this->end_ns(size() - 1) : 0;
  if (goes_on && begin_ns < highest_ns) {
    if (end_ns > highest_ns) before_.back() = plus(before_.back(), minus(end_ns, highest_ns));
    return;
  }
  lane_ = lane;
  groups_.add_rows(lane, 1);
  start_ns_.push_back(begin_ns);
  before_.push_back(plus(before_.back(), minus(end_ns, begin_ns)));
}

Groups::Range Clock::begun(int64_t lane, int64_t at_ns) const {
  const Groups::Range own = groups_.of(lane);
  const auto begin = start_ns_.begin();
  const auto after = std::upper_bound(begin + static_cast<std::ptrdiff_t>(own.begin),
                                      begin + static_cast<std::ptrdiff_t>(own.end), at_ns);
  return {own.begin, static_cast<size_t>(after - begin)};
}

int64_t Clock::elapsed(int64_t lane, int64_t at_ns) const {
  const Groups::Range own = begun(lane, at_ns);
  if (own.begin == own.end) return before_[own.begin];
  // The last that began may go on beyond the instant.
  const int64_t end_ns = this->end_ns(own.end - 1);
  return minus(before_[own.end], end_ns > at_ns ? minus(end_ns, at_ns) : 0);
}

Overlap::Overlap(const Clock& outer, const Clock& inner, Ints inner_of)
    : outer_(outer), inner_(inner), before_{0} {
  for (size_t row = 0; row < outer.size(); ++row) {
    const int64_t lane = outer.lane(row);
    const bool is_known = lane >= 0 && static_cast<uint64_t>(lane) < inner_of.size();
    const int64_t both = is_known ? inner.within(inner_of[static_cast<size_t>(lane)],
                                                 outer.start_ns(row), outer.end_ns(row))
                                  : 0;
    before_.push_back(plus(before_.back(), both));
  }
}

int64_t Overlap::elapsed(int64_t outer, int64_t inner, int64_t at_ns) const {
  const Groups::Range own = outer_.begun(outer, at_ns);
  if (own.begin == own.end) return before_[own.begin];
  const int64_t end_ns = outer_.end_ns(own.end - 1);
  return minus(before_[own.end], end_ns > at_ns ? inner_.within(inner, at_ns, end_ns) : 0);
}

Pieces::Pieces(const Spans& spans) : groups_(Ints{}) {
  for (const size_t row : ordered(spans)) {
    if (spans.end_ns[row] <= spans.begin_ns[row]) continue;
    row_.push_back(row);
    group_.push_back(spans.group[row]);
    start_ns_.push_back(spans.begin_ns[row]);
    end_ns_.push_back(spans.end_ns[row]);
  }
  groups_ = Groups(group_);
}

size_t Pieces::first_ending_after(Groups::Range own, int64_t at_ns) const {
  const auto begin = end_ns_.begin();
  const auto first = std::upper_bound(begin + static_cast<std::ptrdiff_t>(own.begin),
                                      begin + static_cast<std::ptrdiff_t>(own.end), at_ns);
  return static_cast<size_t>(first - begin);
}

}  // namespace strata
