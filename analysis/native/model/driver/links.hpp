// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Which publications were made of which frame, of candidates.
#pragma once

#include <cstdint>
#include <vector>

#include "model/context.hpp"
#include "model/executions.hpp"

namespace strata::driver {

// What a publication may be made of: the last read or event of a frame on a thread, if it did no
// other work since.
struct Mark {
  int64_t row = kNone;  // of the reads, or of the events of frames
  int64_t at = kNone;
  int64_t ns = kNone;
  int64_t open_execution = kNone;
  bool is_read = false;
};

// Publications after a mark: one row each, in the order of events.
struct Candidates {
  Column<int64_t> publish_at;
  Column<int64_t> row;
  Column<int64_t> at;
  Column<int64_t> ns;
  Column<int64_t> open_execution;
  Column<uint8_t> is_read;

  size_t size() const { return publish_at.size(); }
  void add(int64_t at, const Mark& mark);
};

// Makes `driver_links`, and frames of reads that no frame has; counts what is inferred or doubtful.
void link_publications(Context& context, const Executions& executions,
                       const Candidates& candidates);

}  // namespace strata::driver
