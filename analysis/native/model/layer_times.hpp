// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What the threads of layers did in them, and by whom they were preempted. The rules are those of
// strata.layers.scheduling.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/clocks.hpp"
#include "model/stretches.hpp"
#include "model/thread_states.hpp"

namespace strata {

// Intervals of threads, as ThreadState; `cpu` is where a thread was preempted.
struct StateColumns {
  Spans spans;
  Ints state;
  Ints cpu;
};

// Who had each CPU when; `name` is any number.
struct OccupancyColumns {
  Spans spans;
  Ints tid;
  Ints name;
};

// For each stretch how long its thread ran, was preempted, was blocked, and what is not known of
// it; as far as it counts.
std::array<std::vector<int64_t>, 4> layer_times(const Stretches& stretches,
                                                const StateColumns& states, const Spans& waits,
                                                Ints lane_of);

// Rows of (message, layer, by whom), in that order; kNone where it is not known.
struct Preemptions {
  std::vector<int64_t> message;
  std::vector<int64_t> layer;
  std::vector<int64_t> tid;
  std::vector<int64_t> name;
  std::vector<int64_t> duration_ns;
};
Preemptions preemptions(const Stretches& stretches, const StateColumns& states,
                        const OccupancyColumns& occupancy, const Occupations& did);

}  // namespace strata
