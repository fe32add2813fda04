// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/thread_cpu.hpp"

#include <algorithm>
#include <map>

#include "model/thread_states.hpp"

namespace strata {
namespace {

struct Sum {
  int64_t begin_ns = INT64_MAX;
  int64_t end_ns = INT64_MIN;
  int64_t on_cpu_ns = 0;
  int64_t cpu_wait_ns = 0;
  int64_t slices = 0;
  int64_t longest_wait_ns = 0;
  int64_t traffic_on_cpu_ns = 0;
  int64_t traffic_cpu_wait_ns = 0;
};

ThreadSums rows_of(const std::map<int64_t, Sum>& sums) {
  ThreadSums rows;
  for (const auto& [thread, sum] : sums) {
    rows.thread.push_back(thread);
    rows.begin_ns.push_back(sum.begin_ns);
    rows.end_ns.push_back(sum.end_ns);
    rows.on_cpu_ns.push_back(sum.on_cpu_ns);
    rows.cpu_wait_ns.push_back(sum.cpu_wait_ns);
    rows.slices.push_back(sum.slices);
    rows.longest_wait_ns.push_back(sum.longest_wait_ns);
    rows.traffic_on_cpu_ns.push_back(sum.traffic_on_cpu_ns);
    rows.traffic_cpu_wait_ns.push_back(sum.traffic_cpu_wait_ns);
  }
  return rows;
}

// A thread without a bound has no traffic.
int64_t bound(Ints bounds, int64_t thread, int64_t without) {
  const bool is_known = thread >= 0 && static_cast<uint64_t>(thread) < bounds.size();
  return is_known ? bounds[static_cast<size_t>(thread)] : without;
}

void add(int64_t& sum, int64_t ns) { sum = plus(sum, ns); }

}  // namespace

ThreadWindows sample_windows(const SampleColumns& samples, Ints sampled_ns) {
  require_one_length({{samples.thread, samples.ns, samples.read_ns, samples.cpu_ns, samples.wait_ns,
                       samples.slices}});
  ThreadWindows rows;
  for (size_t row = 0; row < samples.thread.size(); ++row) {
    const int64_t ns = samples.ns[row];
    const bool is_first = row == 0 || samples.thread[row] != samples.thread[row - 1];
    const auto after = std::ranges::upper_bound(sampled_ns, ns);
    const auto begun = static_cast<size_t>(after - sampled_ns.begin());
    // All of a thread that is in the very first sample.
    const int64_t whole = minus(minus(ns, samples.cpu_ns[row]), samples.wait_ns[row]);
    const int64_t before = begun > 1 ? sampled_ns[begun - 2] : whole;
    const int64_t begin_ns = is_first ? before : std::max(before, samples.ns[row - 1]);
    const auto growth = [&](Ints counts) {
      return is_first ? counts[row] : minus(counts[row], counts[row - 1]);
    };
    rows.thread.push_back(samples.thread[row]);
    rows.begin_ns.push_back(std::min(begin_ns, ns));
    rows.end_ns.push_back(plus(ns, samples.read_ns[row]));
    rows.cpu_ns.push_back(growth(samples.cpu_ns));
    rows.wait_ns.push_back(growth(samples.wait_ns));
    rows.slices.push_back(growth(samples.slices));
  }
  return rows;
}

ThreadSums sum_windows(const WindowSamples& windows, Ints first_ns, Ints last_ns) {
  const Spans& spans = windows.spans;
  require_one_length({{spans.group, spans.begin_ns, spans.end_ns, windows.cpu_ns, windows.wait_ns,
                       windows.slices}});
  std::map<int64_t, Sum> sums;
  for (size_t row = 0; row < spans.size(); ++row) {
    const int64_t thread = spans.group[row];
    const int64_t cpu_ns = windows.cpu_ns[row], wait_ns = windows.wait_ns[row];
    const auto [known, fresh] = sums.try_emplace(thread);
    Sum& sum = known->second;
    // From the first sample on: when its window began is not known.
    if (fresh) sum.begin_ns = spans.end_ns[row];
    sum.end_ns = spans.end_ns[row];
    add(sum.on_cpu_ns, cpu_ns);
    add(sum.cpu_wait_ns, wait_ns);
    add(sum.slices, windows.slices[row]);
    sum.longest_wait_ns = fresh ? wait_ns : std::max(sum.longest_wait_ns, wait_ns);
    if (spans.begin_ns[row] < bound(first_ns, thread, INT64_MAX)) continue;
    if (spans.end_ns[row] > bound(last_ns, thread, kNone)) continue;
    add(sum.traffic_on_cpu_ns, cpu_ns);
    add(sum.traffic_cpu_wait_ns, wait_ns);
  }
  return rows_of(sums);
}

ThreadSums sum_states(const StateColumns& states, Ints first_ns, Ints last_ns) {
  const Spans& spans = states.spans;
  require_one_length({{spans.group, spans.begin_ns, spans.end_ns, states.state}});
  std::map<int64_t, Sum> sums;
  for (size_t row = 0; row < spans.size(); ++row) {
    const bool ran = states.state[row] == static_cast<int64_t>(ThreadState::running);
    if (!ran && states.state[row] != static_cast<int64_t>(ThreadState::preempted)) continue;
    const int64_t thread = spans.group[row];
    const int64_t begin_ns = spans.begin_ns[row], end_ns = spans.end_ns[row];
    const int64_t ns = minus(end_ns, begin_ns);
    const int64_t from_ns = std::max(begin_ns, bound(first_ns, thread, INT64_MAX));
    const int64_t until_ns = std::min(end_ns, bound(last_ns, thread, kNone));
    const int64_t traffic_ns = until_ns > from_ns ? minus(until_ns, from_ns) : 0;
    Sum& sum = sums[thread];
    sum.begin_ns = std::min(sum.begin_ns, begin_ns);
    sum.end_ns = std::max(sum.end_ns, end_ns);
    add(ran ? sum.on_cpu_ns : sum.cpu_wait_ns, ns);
    add(ran ? sum.traffic_on_cpu_ns : sum.traffic_cpu_wait_ns, traffic_ns);
    if (ran) add(sum.slices, 1);
    if (!ran) sum.longest_wait_ns = std::max(sum.longest_wait_ns, ns);
  }
  return rows_of(sums);
}

}  // namespace strata
