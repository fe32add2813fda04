// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Which publications without a stamp takes are of, from the rows of a whole run: see PublishTimes.
//
// A *question* is a stamp that was taken, once a topic; a *candidate* a publication without a
// stamp.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/calibration.hpp"
#include "model/column.hpp"

namespace strata {

class Inference {
 public:
  struct Candidate {
    int32_t row;  // of the publishes
    int64_t topic;
    int64_t host;
    int64_t publisher;
    int64_t publish_ns;
    int64_t until_ns;  // the next event of its thread, kNone for none
  };
  struct Stamped {
    int64_t host;
    int64_t stamp;
    int64_t publish_ns;
    int64_t previous_ns;  // the event of its thread before, kNone for none
  };
  struct Take {
    int64_t topic;  // kNone where it is not known
    int64_t host;
    int64_t stamp;
    int64_t ns;
  };

  // In order of time each; takes come last.
  void add_candidate(const Candidate& candidate);
  void add_stamped(const Stamped& stamped);
  void add_take(const Take& take);
  bool has_candidates() const { return !candidates_.empty(); }

  // For each take: its publish or kNone, and whether several may be it.
  void decide(std::vector<int32_t>& publish, std::vector<bool>& ambiguous);

 private:
  struct Question {
    int64_t topic;
    int64_t stamp;
    size_t first_take;
    // The greatest (stamp - take) on each of the hosts.
    std::vector<std::pair<int64_t, int64_t>> fastest;
  };
  struct Reach {
    size_t first;
    size_t count;
  };
  struct Fit {
    int32_t question;
    int32_t row;
    bool sure;
  };

  void bound_candidates();
  void find_questions();
  void answer(int64_t host);
  std::vector<size_t> asked_here(int64_t host) const;
  std::vector<int64_t> least_offsets(const std::vector<size_t>& rows, int64_t host) const;
  Reach reach(int64_t topic, int64_t least, int64_t most) const;
  std::vector<size_t> parts(const std::vector<size_t>& rows,
                            const std::vector<Reach>& reached) const;
  void add_pairs(size_t row, const Reach& reached, int64_t least, std::vector<Pair>& pairs) const;
  void add_sure(int64_t host, int64_t from, int64_t until, std::vector<Pair>& pairs) const;
  Offset find_offset(const std::vector<size_t>& rows, int64_t host,
                     std::vector<int32_t>& asked) const;
  std::vector<Fit> fitting(const Offset& offset) const;
  void keep_answering(std::vector<Fit>& fits, const std::vector<int32_t>& asked) const;

  std::vector<Candidate> candidates_;
  std::vector<Stamped> stamped_;
  std::vector<Take> takes_;
  std::vector<Question> questions_;
  std::vector<int32_t> of_take_;  // the question of each take, -1 for none
  std::vector<Fit> fits_;
  // Of the host that is looked at: its candidates by topic and time, and its topics.
  std::vector<Candidate> own_;
  std::unordered_set<int64_t> own_topics_;
};

}  // namespace strata
