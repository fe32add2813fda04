// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What all machines share.
#pragma once

#include <cstdint>
#include <vector>

#include "model/generated/rows.hpp"
#include "model/interner.hpp"
#include "model/ledger.hpp"
#include "model/losses.hpp"
#include "model/per_thread.hpp"

namespace strata {

// Texts, runs of bytes and lists, which events have by number.
struct Strings {
  Interner texts;
  Interner bytes;
  std::vector<std::vector<int64_t>> lists;
};

struct Settings {
  Losses losses;
};

struct Context {
  Settings settings;
  Strings strings;
  Rows rows;
  Ledger ledger;
  PerThread<LastEvents> last;  // before the event that machines look at
};

}  // namespace strata
