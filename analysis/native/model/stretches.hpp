// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Stretches of time of layers that belong to one thread, and how much of them counts. The rules are
// those of strata.layers.stretches.
#pragma once

#include <cstdint>
#include <vector>

#include "model/clocks.hpp"

namespace strata {

// Of a message and layer on a thread. `lane` is the thread's executor. `idle`: 1 when only the time
// counts in which the executor waited for work, 0 when only the rest does, kNone when all.
struct Stretches {
  Ints message;
  Ints layer;
  Ints thread;
  Ints begin_ns;
  Ints end_ns;
  Ints lane;
  Ints idle;

  size_t size() const { return message.size(); }
  void require_one_length() const {
    strata::require_one_length({{message, layer, thread, begin_ns, end_ns, lane, idle}});
  }
};

// What the threads that take messages did: executors' waits for work by lane, and callbacks by
// thread; `lane_of` has the lane of each thread.
class Occupations {
 public:
  Occupations(const Spans& waits, const Spans& callbacks, Ints lane_of)
      : waits_(waits), callbacks_(callbacks), both_(callbacks_, waits_, lane_of) {}
  Occupations(const Occupations&) = delete;
  Occupations& operator=(const Occupations&) = delete;

  const Clock& waits() const { return waits_; }

  // How much counts of a piece of a stretch.
  int64_t counted(const Stretches& all, size_t row, int64_t begin_ns, int64_t end_ns) const;
  // The same; of executor wait, without the callbacks that ran: these have rows of their own.
  int64_t apart(const Stretches& all, size_t row, int64_t begin_ns, int64_t end_ns) const;

 private:
  Clock waits_;
  Clock callbacks_;
  Overlap both_;
};

// Columns of one layer by message: on which thread it was, its begin, its end and its duration.
struct LayerColumns {
  int64_t layer;  // its number
  int64_t idle;   // see Stretches
  Ints thread;
  Ints begin_ns;
  Ints end_ns;
  Ints duration_ns;
};

struct StretchRows {
  std::vector<int64_t> message;
  std::vector<int64_t> layer;
  std::vector<int64_t> thread;
  std::vector<int64_t> begin_ns;
  std::vector<int64_t> end_ns;
  std::vector<int64_t> lane;
  std::vector<int64_t> idle;
};

// The stretches of layers that each message has, by layer and message. A layer that is more than
// one stretch (its duration is not that of its begin and end) is left out; one that is divided by
// what the executor did, where the message's callback group (`group`) excludes itself.
StretchRows cut_stretches(const std::vector<LayerColumns>& layers, Ints lane, Ints group);

}  // namespace strata
