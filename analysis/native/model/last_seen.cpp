// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/last_seen.hpp"

#include <algorithm>

namespace strata {

void find_hanging(Context& context, const Executions& executions, const Waits& waits) {
  auto& hanging = context.rows.hanging_executions;
  for (const int64_t execution : executions.hanging()) {
    const int64_t start_ns = pick(context.rows.executions.start_ns, execution);
    const int64_t thread = pick(context.rows.executions.thread, execution);
    const auto row = static_cast<size_t>(hanging.add());
    hanging.execution[row] = static_cast<int32_t>(execution);
    hanging.seen_ns[row] = waits.host_end_ns(static_cast<uint32_t>(thread));
    hanging.lost_ns[row] = std::max(context.settings.losses.first_touching(start_ns), start_ns);
  }
}

}  // namespace strata
