// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// How long threads of layers waited for a CPU, by samples of the kernel's counts. The rules are
// those of strata.model.thread_cpu and strata.layers.cpu_waits.
#pragma once

#include <cstdint>
#include <vector>

#include "model/clocks.hpp"
#include "model/stretches.hpp"

namespace strata {

// What a thread did between two samples; the thread's waits may have begun before.
struct SampleWindows {
  std::vector<int64_t> thread;
  std::vector<int64_t> begin_ns;
  std::vector<int64_t> end_ns;
  std::vector<int64_t> cpu_ns;
  std::vector<int64_t> wait_ns;

  size_t size() const { return thread.size(); }
  Spans spans() const { return {thread, begin_ns, end_ns}; }
};

// The same as columns of any order.
struct WindowColumns {
  Spans spans;
  Ints cpu_ns;
  Ints wait_ns;
};

// Windows of threads (others than kNone) by thread and time, that do not overlap: a wait beyond the
// begin of one goes to the one before.
SampleWindows separate(const WindowColumns& sampled);

// Rows of (message, layer, thread), in that order, whose thread may have waited.
struct CpuWaits {
  std::vector<int64_t> message;
  std::vector<int64_t> layer;
  std::vector<int64_t> thread;
  std::vector<int64_t> about_ns;
  std::vector<int64_t> least_ns;
  std::vector<int64_t> most_ns;
};

// `callbacks` and `waits` (for work) are by thread.
CpuWaits cpu_waits(const Stretches& stretches, const SampleWindows& windows, const Occupations& did,
                   const Spans& callbacks, const Spans& waits);

}  // namespace strata
