// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Frames of what drivers read.
#pragma once

#include "model/generated/rows.hpp"

namespace strata::driver {

struct Boundaries;

// Makes a frame of each pair of a source and a number that an event names. `numbers` has one row an
// event of `driver_frame_events`.
void find_frames(Rows& rows, const Column<int64_t>& numbers, const Boundaries& boundaries);

// Adds a frame without a number, of one read; returns its row.
int64_t add_inferred_frame(Rows& rows, int64_t read);

}  // namespace strata::driver
