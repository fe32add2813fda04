// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What the events of ring buffers were used for. An enqueue is counted when the next event of its
// slot comes, or none; a dequeue with the event of its slot before. What comes, comes in order of
// time.
#pragma once

#include <cstdint>
#include <vector>

#include "model/context.hpp"
#include "model/entities.hpp"

namespace strata {

class RingBufferUses {
 public:
  // `place`: by buffer, the first one of its address.
  RingBufferUses(Context& context, const Entities& entities, const Column<int32_t>& place);

  // What an enqueue's slot had next: a dequeue that took the message, or not, or an enqueue.
  struct Next {
    int64_t ns = INT64_MAX;
    bool takes = false;
    bool overwrites = false;
  };

  void clear(int64_t buffer, int64_t ns);
  void count_enqueue(size_t row, const Next& next);
  // Nothing comes after any more.
  void count_left(size_t row);
  // `has_before`: the slot had an event before, at `before_ns`.
  void count_dequeue(size_t row, bool is_paired, bool has_before, int64_t before_ns);

 private:
  Use use_of_enqueue(size_t row, const Next& next, bool is_last) const;
  // Whether all that is known of a buffer is that it takes part.
  bool is_known(size_t buffer, int64_t ns) const;

  Context& context_;
  const Column<int32_t>& place_;
  std::vector<int64_t> cleared_ns_;  // by place: when it was last cleared
  std::vector<int64_t> given_ns_;    // by buffer: when its address was first given on
  std::vector<int64_t> taken_ns_;    // by buffer: the youngest that was taken out of it
};

}  // namespace strata
