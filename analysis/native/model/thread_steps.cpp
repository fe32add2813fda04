// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/thread_steps.hpp"

#include "model/steps.hpp"

namespace strata {

void ThreadSteps::on(const Event& event) {
  const Losses& losses = context_.settings.losses;
  if (losses.none() || !wants(event.type)) return;
  State& state = states_[event.thread];
  if (event.ns != counted_ns_) {
    counted_ns_ = event.ns;
    over_ = losses.over_before(event.ns);
  }
  if (state.over == over_) return;
  state.over = over_;
  auto& rows = context_.rows.steps_after_losses;
  const auto row = static_cast<size_t>(rows.add());
  rows.thread[row] = static_cast<int32_t>(event.thread);
  rows.ns[row] = event.ns;
  rows.over[row] = static_cast<int32_t>(over_);
}

void ThreadSteps::finish() {
  auto& rows = context_.rows.last_steps;
  for (uint32_t thread = 0; thread < context_.last.size(); ++thread) {
    const int64_t last_ns = context_.last.at(thread).step().ns;
    if (last_ns == kNone) continue;
    const auto row = static_cast<size_t>(rows.add());
    rows.thread[row] = static_cast<int32_t>(thread);
    rows.ns[row] = last_ns;
  }
}

}  // namespace strata
