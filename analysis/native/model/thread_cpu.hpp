// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// How long threads ran and waited for a CPU, in all: from samples of the kernel's counts, or from
// what its scheduler did. The rules are those of strata.model.thread_cpu and thread_cpu_frames.
#pragma once

#include <cstdint>
#include <vector>

#include "model/clocks.hpp"
#include "model/layer_times.hpp"

namespace strata {

// Samples by thread and time: when one began (of the sampler), how much later the thread was read,
// and what the kernel had counted of it until then.
struct SampleColumns {
  Ints thread;
  Ints ns;
  Ints read_ns;
  Ints cpu_ns;
  Ints wait_ns;
  Ints slices;
};

// Stretches between two samples in which a thread ran or waited, a row for each sample.
struct ThreadWindows {
  std::vector<int64_t> thread;
  std::vector<int64_t> begin_ns;
  std::vector<int64_t> end_ns;
  std::vector<int64_t> cpu_ns;
  std::vector<int64_t> wait_ns;
  std::vector<int64_t> slices;
};

// `sampled_ns` are the begins of all samples, ascending: a thread that has no row in one had not
// changed then.
ThreadWindows sample_windows(const SampleColumns& samples, Ints sampled_ns);

// Sums of each thread, by its number; `traffic_` is what lies between the first and the last
// message of its process.
struct ThreadSums {
  std::vector<int64_t> thread;
  std::vector<int64_t> begin_ns;
  std::vector<int64_t> end_ns;
  std::vector<int64_t> on_cpu_ns;
  std::vector<int64_t> cpu_wait_ns;
  std::vector<int64_t> slices;
  std::vector<int64_t> longest_wait_ns;
  std::vector<int64_t> traffic_on_cpu_ns;
  std::vector<int64_t> traffic_cpu_wait_ns;
};

// Windows by thread and time. `first_ns` and `last_ns` bound the traffic of each thread, by its
// number; windows count as traffic that lie in it whole.
struct WindowSamples {
  Spans spans;
  Ints cpu_ns;
  Ints wait_ns;
  Ints slices;
};
ThreadSums sum_windows(const WindowSamples& windows, Ints first_ns, Ints last_ns);

// Of threads that ran or were preempted at all; of traffic counts what lies in it.
ThreadSums sum_states(const StateColumns& states, Ints first_ns, Ints last_ns);

}  // namespace strata
