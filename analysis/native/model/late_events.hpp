// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Events of streams whose clocks went back, in order of time: those of one instant as they came.
//
// It is known how late an event comes at most (ctf::Merge::latest_by, of a reading before): so long
// each one waits for those that come late.
#pragma once

#include <cstdint>
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
  // No event comes after this.
  void finish();

 private:
  struct Waiting {
    int64_t ns;
    uint64_t number;  // as they came
    uint32_t place;   // in `arrivals_`
  };

  static bool comes_after(const Waiting& a, const Waiting& b);
  void release();

  Engine& engine_;
  int64_t latest_by_;
  int64_t latest_ = INT64_MIN;
  uint64_t events_ = 0;
  std::vector<Waiting> heap_;  // the next one on top
  Column<Arrival> arrivals_;
  std::vector<uint32_t> free_;  // places in `arrivals_`
};

}  // namespace strata
