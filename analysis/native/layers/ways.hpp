// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The ways of messages from those without a cause on, hop by hop. The rules are those of
// strata.layers.chains.
#pragma once

#include <cstdint>

#include "layers/rows_by.hpp"
#include "storage/many.hpp"

namespace strata {

// What caused each message: rows of messages, by child.
struct LinkColumns {
  Ints child;
  Ints parent;
  Flags is_allowed;  // empty: all are

  size_t size() const { return child.size(); }
};

// A message on a way a row, way by way of equal length: `previous` is the row before on the way and
// `link` the link from there. `way` is a row of the distinct ways: each goes on from `before`
// (kNone: it begins) to `hop`.
struct WayRows {
  Many<int64_t> message;
  Many<int64_t> previous;
  Many<int64_t> link;
  Many<int64_t> way;
  Many<uint8_t> is_end;     // no way was followed on
  Many<uint8_t> is_capped;  // ways go on that were not followed: too many
  Many<uint8_t> is_headless;
  Many<int64_t> before;
  Many<int64_t> hop;
  int64_t unfollowed = 0;  // links that were not followed
};

// `hop` is that of each message, kNone: it takes no part; `is_headless` (empty: none) marks those
// whose cause is missing. Throws std::invalid_argument for links of messages that are not there.
WayRows follow_ways(Ints hop, Flags is_headless, const LinkColumns& links);

// Messages and links of instances of one chain in their order, `length` of both an instance.
struct InstanceRows {
  Many<int64_t> message;
  Many<int64_t> link;
};

// The instances that end at `ends`, by their last message. Throws std::invalid_argument where a way
// is shorter.
InstanceRows collect_instances(Ints message, Ints previous, Ints link, Ints ends, size_t length);

}  // namespace strata
