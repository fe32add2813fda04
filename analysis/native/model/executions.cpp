// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/executions.hpp"

#include <algorithm>

#include "model/steps.hpp"

namespace strata {

void Executions::begin(const Event& event, State& state) {
  const int64_t address = event[field::callback_start::callback];
  // One of the same callback that is open never ended.
  std::erase_if(state.open, [address](const Open& open) { return open.address == address; });
  const int64_t number = rows_.add();
  const auto row = static_cast<size_t>(number);
  rows_.thread[row] = static_cast<int32_t>(event.thread);
  rows_.start_ns[row] = event.ns;
  rows_.start_at[row] = static_cast<int64_t>(event.at);
  rows_.address[row] = address;
  const int64_t is_intra_process = event[field::callback_start::is_intra_process];
  rows_.is_intra_process[row] =
      is_intra_process == 0 || is_intra_process == 1 ? static_cast<uint8_t>(is_intra_process) : 2;
  rows_.outer[row] = static_cast<int32_t>(innermost_open(event.thread));
  state.open.push_back({address, number});
  state.unbounded.push_back(number);
  if (state.resume == kNone) return;
  auto& suspensions = context_.rows.suspensions;
  const auto resume = static_cast<size_t>(state.resume);
  state.resume = kNone;
  if (!context_.settings.losses.touch(suspensions.ns[resume], event.ns)) {
    suspensions.execution[resume] = static_cast<int32_t>(number);
  }
}

void Executions::end(const Event& event, State& state) {
  const int64_t address = event[field::callback_end::callback];
  ended_ = kNone;
  const auto open = std::ranges::find(state.open, address, &Open::address);
  if (open == state.open.end()) {
    ++ends_without_start_;
    return;
  }
  ended_ = open->row;
  state.open.erase(open);
  const auto row = static_cast<size_t>(ended_);
  if (context_.settings.losses.touch(rows_.start_ns[row], event.ns)) {
    doubtful_.push_back(ended_);
    return;
  }
  rows_.end_ns[row] = rows_.until_ns[row] = event.ns;
  rows_.until_at[row] = static_cast<int64_t>(event.at);
}

void Executions::suspend(const Event& event, State& state) {
  auto& rows = context_.rows.suspensions;
  const int64_t number = rows.add();
  const auto row = static_cast<size_t>(number);
  const bool is_resume = event.type == EventType::callback_resume;
  rows.process[row] = static_cast<int32_t>(event.process);
  rows.number[row] = event[field::callback_suspend::execution];
  rows.ns[row] = event.ns;
  rows.at[row] = static_cast<int64_t>(event.at);
  rows.is_resume[row] = is_resume ? 1 : 0;
  if (is_resume) {
    state.resume = number;
  } else {
    rows.execution[row] = static_cast<int32_t>(state.open.empty() ? kNone : state.open.back().row);
  }
}

void Executions::finish(const Entities& entities) {
  for (size_t row = 0; row < rows_.size(); ++row) {
    if (rows_.end_ns[row] == kNone) bound(row);
    const auto thread = static_cast<size_t>(rows_.thread[row]);
    rows_.callback[row] = static_cast<int32_t>(entities.callback_at(
        context_.rows.threads.process[thread], rows_.address[row], rows_.start_ns[row]));
  }
  count();
  find_depths();
  join_pieces();
}

// Until when one without an end is known to have run.
void Executions::bound(size_t row) {
  if (rows_.until_at[row] == kNone) {
    const LastEvents::Step& last = context_.last[static_cast<uint32_t>(rows_.thread[row])].step();
    rows_.until_at[row] = last.at;
    rows_.until_ns[row] = last.ns;
  }
  const Losses& losses = context_.settings.losses;
  if (losses.none()) return;
  const int64_t start_ns = rows_.start_ns[row];
  const int64_t lost_ns = std::max(losses.first_touching(start_ns), start_ns);
  if (lost_ns >= rows_.until_ns[row]) return;
  rows_.until_at[row] = kNone;
  rows_.until_ns[row] = lost_ns;
}

int64_t Executions::innermost(int64_t candidate, int64_t at, int64_t ns) const {
  for (int64_t number = candidate; number != kNone;) {
    const auto row = static_cast<size_t>(number);
    const int64_t until_at = rows_.until_at[row];
    if (until_at == kNone ? ns < rows_.until_ns[row] : at < until_at) return number;
    number = rows_.outer[row];
  }
  return kNone;
}

std::vector<int64_t> Executions::hanging() const {
  std::vector<int64_t> rows;
  for (uint32_t thread = 0; thread < states_.size(); ++thread) {
    const auto& own = states_.at(thread).unbounded;
    rows.insert(rows.end(), own.begin(), own.end());
  }
  return rows;
}

void Executions::find_depths() {
  PerThread<std::vector<size_t>> running;
  for (size_t row = 0; row < rows_.size(); ++row) {
    auto& open = running[static_cast<uint32_t>(rows_.thread[row])];
    const int64_t at = rows_.start_at[row], ns = rows_.start_ns[row];
    std::erase_if(open, [&](size_t before) {
      const int64_t until_at = rows_.until_at[before];
      return until_at == kNone ? rows_.until_ns[before] <= ns : until_at <= at;
    });
    open.push_back(row);
    rows_.depth[row] = static_cast<int32_t>(open.size());
  }
}

void Executions::count() {
  Ledger& ledger = context_.ledger;
  std::ranges::sort(doubtful_);
  ledger.add(Finding::callback_ends_without_start, ends_without_start_);
  for (size_t row = 0; row < rows_.size(); ++row) {
    if (rows_.end_ns[row] != kNone) continue;
    const bool is_doubtful = std::ranges::binary_search(doubtful_, static_cast<int64_t>(row));
    const Finding code =
        is_doubtful ? Finding::callbacks_with_losses : Finding::callbacks_without_end;
    ledger.add_at(code, PlaceKind::callback, rows_.callback[row], rows_.start_ns[row]);
  }
}

}  // namespace strata
