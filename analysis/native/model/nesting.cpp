// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/nesting.hpp"

#include <vector>

namespace strata {

void count_contradictory_nesting(Context& context) {
  constexpr int64_t kFewest = 2;  // a single contradiction may be of lost events
  const auto& executions = context.rows.executions;
  const auto& process_of = context.rows.threads.process;
  std::vector<int64_t> before(context.rows.threads.size(), kNone);  // the last of each thread
  std::vector<int64_t> crossed(context.rows.processes.size(), 0);
  for (size_t row = 0; row < executions.size(); ++row) {
    const int64_t end_ns = executions.end_ns[row];
    if (end_ns == kNone) continue;
    const auto thread = static_cast<size_t>(executions.thread[row]);
    const int64_t before_ns = pick(executions.end_ns, before[thread]);
    if (before[thread] != kNone && executions.start_ns[row] < before_ns && end_ns > before_ns) {
      ++crossed[static_cast<size_t>(process_of[thread])];
    }
    before[thread] = static_cast<int64_t>(row);
  }
  for (size_t process = 0; process < crossed.size(); ++process) {
    if (crossed[process] < kFewest) continue;
    context.ledger.add_of(Finding::contradictory_nesting, PlaceKind::process,
                          static_cast<int64_t>(process));
  }
}

}  // namespace strata
