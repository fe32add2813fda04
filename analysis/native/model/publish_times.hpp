// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Publications without a stamp (Iron and older), found by the time at which they were published.
//
// A take says when its message was stamped. The stamp was taken by the publishing thread between
// its rmw_publish and its next event, by another clock; `calibrate` finds the offset of the two. A
// publication of the take's topic fits when the stamp may lie there for some offset within the
// bounds. A take is matched when exactly one fits.
//
// Nor is it later than half way to the next publication of the same publisher: a thread that emits
// nothing but publications has no other event that bounds it, and with windows that touch each
// other any offset would fit.
//
// A thread whose events were lost seems to publish for long. So the stamp must also be as near to
// rmw_publish as is usual for that publisher.
//
// The offset is carried over from where it is known. It may have been set in between: nothing is
// matched at times at which it answers less than half of the questions.
//
// One publication has one stamp: where several stamps claim one, none gets it, but the only one
// that fits for every offset within the bounds.
#pragma once

#include <cstdint>
#include <vector>

#include "model/byte_rows.hpp"
#include "model/context.hpp"
#include "model/event.hpp"
#include "model/steps.hpp"

namespace strata {

class PublishTimes {
 public:
  explicit PublishTimes(Context& context) : context_(context) {}

  // After the machine of publications, whose rows it goes on with.
  static constexpr bool wants(EventType type) { return is_of_timeline(type); }
  void on(const Event& event) {
    if (event.type == EventType::rmw_publish || (open_ > 0 && wants(event.type))) follow(event);
  }
  // Whole-run rule: after those of publications and takes. False where all publications carry a
  // stamp: nothing is to be inferred.
  bool finish();

  // From finish() on: the publish that a take is of by time, or kNone; and whether several may be.
  int64_t publish_of(size_t take) const { return publish_[take]; }
  bool is_ambiguous(size_t take) const { return ambiguous_[take]; }

 private:
  void follow(const Event& event);
  struct State {
    int32_t open = -1;  // row of those without a stamp, whose next event is to come
  };

  Context& context_;
  PerThread<State> states_;
  size_t open_ = 0;            // how many threads have one
  Column<int32_t> unstamped_;  // rows of publishes
  Column<int64_t> next_ns_;    // of each: the next event of its thread that is not of the write
  ByteRows since_;  // of each publish with a stamp: time since its thread's last event + 1, or 0
  std::vector<int32_t> publish_;
  std::vector<bool> ambiguous_;
};

}  // namespace strata
