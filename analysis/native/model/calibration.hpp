// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The offset between source timestamps and event times of one host, where nothing states it.
//
//   offset = CLOCK_REALTIME - the trace's clock (CLOCK_MONOTONIC + a constant)
//
// It drifts while NTP slews the clock, and jumps when the clock is set. Each pair of a stamp with
// the publication that got it bounds the offset from both sides: the stamp was taken after
// rmw_publish and before the next event of that thread. Which pairs are true is not known at first:
//
// 1. Stamps are gone through in order, kBin at a time. Of all publications of a stamp's topic that
//    may be meant, each votes for the offsets that it would need. The true offset gets many votes.
//    Of a periodic topic so does the offset that takes each message for its neighbour.
// 2. With the true offset, (stamp - publish) changes little from message to message; with another
//    it changes as the period jitters. The steadiest offset wins if it is clearly steadier.
// 3. The pairs of the winners bound the offset at any time: the least upper and the greatest lower
//    bound among the nearest pairs, each loosened by what a clock can slew meanwhile.
//
// Publications with a stamp of their own (Jazzy and newer) are pairs that are surely true.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace strata {

// How fast a clock is slewed at most: Linux's adjtime goes up to 500 ppm.
inline constexpr double kSlew = 500e-6;

// Stamps that are calibrated together.
inline constexpr size_t kBin = 50;

// The bin of each of so many questions in order of stamp; the last bin may be longer.
constexpr size_t bin_of(size_t place, size_t count) {
  const size_t last = count / kBin > 0 ? count / kBin - 1 : 0;
  return place / kBin < last ? place / kBin : last;
}

// The whole part of a number, of those that do not fit the nearest that does.
inline int64_t whole(double value) {
  constexpr double kMost = 9.2e18;
  return static_cast<int64_t>(std::clamp(value, -kMost, kMost));
}

// What a clock can slew in a time.
inline int64_t slewed(int64_t ns) { return whole(static_cast<double>(ns) * kSlew); }

// The median as of numbers with 53 bits; `values` are put into another order. NaN without any.
double median(std::vector<double>& values);

// A stamp with a publication that may be its: the offset is in `low` .. `high` if so.
struct Pair {
  int64_t question;  // number of the stamp, which may have several pairs
  int64_t group;     // series of stamps that are as steady as their publications: a topic
  int64_t stamp;
  int64_t publish_ns;
  int64_t low;
  int64_t high;
  bool sure;
};

// Bounds of the offset, from true pairs in order of stamp.
class Offset {
 public:
  struct Bound {
    int64_t stamp;
    int64_t low;
    int64_t high;
  };

  bool empty() const { return bounds_.empty(); }
  void add(const Bound& bound) { bounds_.push_back(bound); }

  // The least and the greatest offset at a stamp. Neighbours that contradict each other (the clock
  // was set in between) widen the bounds. Not to be asked when there are none.
  std::pair<int64_t, int64_t> at(int64_t stamp) const;

 private:
  std::vector<Bound> bounds_;
};

// Adds the bounds of the offset to `offset`; none where no offset stands out.
//
// `within_ns` is how far apart the offsets are that the pairs speak for: topics of a longer period
// cannot take a message for its neighbour.
void calibrate(std::vector<Pair>& pairs, int64_t within_ns, Offset& offset);

}  // namespace strata
