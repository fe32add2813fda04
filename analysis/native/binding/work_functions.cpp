// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "binding/work_functions.hpp"

#include <utility>

#include "binding/arrays.hpp"
#include "model/waits.hpp"

namespace nb = nanobind;

nb::dict waits_of(const strata::Engine& engine, size_t threads) {
  strata::Column<int32_t> of_thread;
  strata::Column<int64_t> start_ns, end_ns;
  for (uint32_t thread = 0; thread < threads; ++thread) {
    const auto add = [&](const strata::Interval& wait) {
      of_thread.push_back(static_cast<int32_t>(thread));
      start_ns.push_back(wait.start_ns);
      end_ns.push_back(wait.end_ns);
    };
    const strata::Waits::OfThread own = engine.waits().of(thread);
    if (own.has_opening) add(own.opening);
    if (own.waits == nullptr) continue;
    for (strata::IntervalLog::Cursor cursor(*own.waits); !cursor.is_over();) add(cursor.next());
  }
  nb::dict columns;
  columns["thread"] = as_array(std::move(of_thread));
  columns["start_ns"] = as_array(std::move(start_ns));
  columns["end_ns"] = as_array(std::move(end_ns));
  return columns;
}
