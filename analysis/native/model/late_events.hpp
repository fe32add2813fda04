// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Events that come late, in order of time: those of one instant as they came.
//
// It is known how late an event comes at most: so long each one waits for those that come late.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "model/column.hpp"
#include "model/engine.hpp"

namespace strata {

class LateEvents {
 public:
  // `engine` must live as long.
  LateEvents(Engine& engine, int64_t latest_by) : engine_(engine), latest_by_(latest_by) {}

  // Space for the next event, of a time, to be filled at once; as Engine::next.
  Arrival& next(int64_t ns);
  // What was put into it last.
  Arrival& last() { return arrivals_[last_]; }
  // No event comes after this.
  void finish();

  // How much earlier than an event before it one of a time would be.
  int64_t late_by(int64_t ns) const;

 private:
  struct Waiting {
    int64_t ns;
    uint64_t number;  // as they came
    uint32_t place;   // in `arrivals_`
  };

  static bool comes_after(const Waiting& a, const Waiting& b);
  bool is_empty() const { return in_order_.empty() && late_.empty(); }
  bool is_late_next() const {
    return in_order_.empty() || (!late_.empty() && comes_after(in_order_.front(), late_.front()));
  }
  int64_t next_ns() const { return is_late_next() ? late_.front().ns : in_order_.front().ns; }
  void release();

  Engine& engine_;
  int64_t latest_by_;
  int64_t latest_ = INT64_MIN;
  uint64_t events_ = 0;
  std::deque<Waiting> in_order_;  // that came no earlier than those before
  std::vector<Waiting> late_;     // the others: a heap, the next one on top
  Column<Arrival> arrivals_;
  std::vector<uint32_t> free_;  // places in `arrivals_`
  uint32_t last_ = 0;
};

}  // namespace strata
