// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Which publication each take took.
//
// A message's source timestamp is set once by its publisher and travels with it, so a take belongs
// to the publication with the same topic and the same source timestamp, to the nanosecond. Two
// publications of one topic with one timestamp cannot be told apart: their takes are ambiguous and
// stay unmatched. Where a topic is unknown, it may be any: the timestamp alone decides, and the
// match says that it is inferred.
//
// Where the middleware's own events name the sample on both sides, they must agree with the
// timestamp; a take on which they contradict each other is ambiguous. They decide where the
// timestamps cannot: equal stamps, or publications that carry none.
//
// What is left of the takes of publications without a stamp (Iron and older) is inferred from the
// times of publishing (PublishTimes).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/context.hpp"
#include "model/publish_times.hpp"

namespace strata {

enum class MatchMethod : uint8_t {
  exact,
  inferred,
  identity,
  ring_buffer,
  publish_time,
  ring_buffer_losses
};

class Matching {
 public:
  Matching(Context& context, PublishTimes& times) : context_(context), times_(times) {}

  // Whole-run rule: after those of publications, takes and samples.
  void finish();

 private:
  struct Found {
    int64_t publish = kNone;
    MatchMethod method = MatchMethod::exact;
    bool ambiguous = false;
    bool contradicts = false;         // what its stamp and its sample say
    bool undecided = false;           // by time of publishing
    std::vector<int64_t> candidates;  // of an ambiguous one
  };

  void index();
  std::pair<size_t, size_t> places_of(int64_t stamp) const;
  Found by_stamp(size_t take) const;
  Found by_stamp_and_sample(size_t take) const;
  Found decided(size_t take) const;
  void find_known_stamps();
  bool fits(size_t publish, int64_t topic) const;
  bool is_too_early(size_t take, int64_t publish) const;
  int64_t topic_of(const Column<int64_t>& topics, int64_t row) const { return pick(topics, row); }
  void count(size_t take, const Found& found, bool too_early);
  int64_t host_of(int64_t thread) const;

  Context& context_;
  PublishTimes& times_;
  bool is_inferred_ = false;  // any take by time of publishing
  // Of publications without a stamp that takes are surely of: that of the last of these takes.
  std::unordered_map<int64_t, int64_t> known_stamp_;
  std::vector<uint32_t> by_stamp_;          // publishes that have one, in its order
  mutable size_t near_ = 0;                 // the place among them that was found last
  std::vector<int64_t> publish_of_sample_;  // the one publish of each; kSeveral
};

}  // namespace strata
