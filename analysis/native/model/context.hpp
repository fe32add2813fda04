// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What all machines share.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/generated/rows.hpp"
#include "model/interner.hpp"
#include "model/ledger.hpp"
#include "model/losses.hpp"
#include "model/per_thread.hpp"
#include "model/uses/event_uses.hpp"

namespace strata {

// Texts, runs of bytes and lists, which events have by number.
struct Strings {
  Interner texts;
  Interner bytes;
  std::vector<std::vector<int64_t>> lists;
};

// A process id is another process from an instant on.
struct Restart {
  int64_t host;  // number of a text
  int64_t vpid;
  int64_t ns;
};

struct Settings {
  Losses losses;
  // The clock of each host, by numbers of texts; a host that is not in it has its own.
  std::unordered_map<int64_t, int64_t> clocks;
  // The host that events of a namespace of process ids are put under, by host and number.
  std::map<std::pair<int64_t, int64_t>, int64_t> namespaces;
  std::vector<Restart> restarts;
  std::vector<int64_t> left_out;  // process ids
  // When all processes were recorded. Of what is before that only what introduces entities counts,
  // of what is after it nothing.
  int64_t since_ns = INT64_MIN;
  int64_t until_ns = INT64_MAX;

  int64_t clock_of(int64_t host) const {
    const auto known = clocks.find(host);
    return known == clocks.end() ? host : known->second;
  }
};

struct Context {
  Settings settings;
  Strings strings;
  Rows rows;
  Ledger ledger;
  PerThread<LastEvents> last;  // before the event that machines look at
  EventUses uses;
};

}  // namespace strata
