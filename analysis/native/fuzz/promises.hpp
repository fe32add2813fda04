// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What the engine promises of any events, and of the same events whichever way they come.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/dds/middleware.hpp"
#include "model/engine.hpp"
#include "model/executor_threads.hpp"
#include "model/restarts.hpp"
#include "model/thread_intervals.hpp"
#include "model/waits.hpp"

namespace fuzz {

inline void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "the engine contradicts itself: %s\n", what);
  std::abort();
}

// The sanitizers look at what is read; rows of one table are as many in each column.
inline void read_rows(strata::Engine& engine) {
  engine.rows().each([](const char*, auto& table) {
    const size_t rows = table.size();
    table.each([rows](const char*, auto& column) {
      check(column.size() == rows, "columns of a table differ in length");
      using Value = typename std::remove_reference_t<decltype(column)>::value_type;
      const std::vector<Value> all(column.data(), column.data() + rows);
    });
  });
}

// Every event counts for one use.
inline void check_uses(const strata::Engine& engine) {
  for (size_t i = 0; i < strata::kEventTypes; ++i) {
    const auto type = static_cast<strata::EventType>(i);
    uint64_t counted = 0;
    for (size_t k = 0; k < strata::kUses.size(); ++k) {
      counted += engine.uses().counted(type, static_cast<strata::Use>(k));
    }
    if (counted == (strata::is_accounted(type) ? engine.seen(type) : 0)) continue;
    std::fprintf(stderr, "%s: %llu events, %llu uses\n", strata::kEvents[i].name.data(),
                 static_cast<unsigned long long>(engine.seen(type)),
                 static_cast<unsigned long long>(counted));
    std::abort();
  }
}

// A process id changes hands once an rcl_init at most, and not before the first.
inline void check_identities(const strata::Engine& engine) {
  const size_t inits = engine.counts()[static_cast<size_t>(strata::EventType::rcl_init)];
  const strata::Restarts& restarts = engine.restarts();
  const size_t told = restarts.found().size() + static_cast<size_t>(restarts.undecided());
  check(told <= (inits == 0 ? 0 : inits - 1), "more restarts than contexts");
  for (const auto& [host, number] : engine.namespaces().sharing()) {
    check(host >= 0 && number != strata::kNone, "a namespace without a number");
  }
}

inline void read_middleware(strata::Engine& engine) {
  strata::dds::Wire& wire = engine.middleware().wire();
  for (size_t row = 0; row < wire.samples().size(); ++row) {
    strata::dds::Transmission& one = wire.of(static_cast<int64_t>(row));
    static_cast<void>(one.sends());
    static_cast<void>(one.sent_again());
    static_cast<void>(one.by_thread());
    static_cast<void>(one.by_process());
    static_cast<void>(one.held());
  }
}

// Of all threads in their order: waits, and what they did beside these and callbacks.
inline std::vector<strata::ThreadIntervals> all_intervals(strata::Engine& engine) {
  std::vector<int64_t> order(engine.rows().threads.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::vector<strata::ThreadIntervals> all;
  all.push_back(engine.waits().intervals(order));
  for (size_t kind = 0; kind < strata::kExecutorIntervals; ++kind) {
    const auto own = static_cast<strata::ExecutorInterval>(kind);
    all.push_back(engine.executor_threads().intervals(own, order));
  }
  return all;
}

inline void read_intervals(strata::Engine& engine) {
  for (const strata::ThreadIntervals& intervals : all_intervals(engine)) {
    std::vector<int64_t> group, begin_ns, end_ns;
    for (size_t thread = 0; thread < intervals.threads(); ++thread) {
      int64_t length_ns = 0;
      const size_t before = group.size();
      intervals.each(thread, [&](const strata::Interval& own) {
        group.push_back(static_cast<int64_t>(thread));
        begin_ns.push_back(own.start_ns);
        end_ns.push_back(own.end_ns);
        length_ns = strata::plus(length_ns, strata::minus(own.end_ns, own.start_ns));
      });
      check(group.size() - before == intervals.count(thread), "another number of intervals");
      check(length_ns == intervals.length_ns(thread), "another length of intervals");
      static_cast<void>(intervals.within(thread, intervals.first_ns(thread), engine.last_ns()));
      static_cast<void>(intervals.last_ns(thread));
    }
    const std::vector<int64_t> one_lane(intervals.threads(), 0);
    static_cast<void>(intervals.clock(one_lane));
    static_cast<void>(intervals.outside({group, begin_ns, end_ns}));
  }
}

// Of a finished engine.
inline void check_promises(strata::Engine& engine) {
  check_uses(engine);
  read_rows(engine);
  read_middleware(engine);
  read_intervals(engine);
}

using Told = std::vector<std::pair<std::string, std::vector<int64_t>>>;

inline Told all_rows(strata::Engine& engine) {
  Told told;
  engine.rows().each([&](const char* table, auto& rows) {
    rows.each([&](const char* name, auto& column) {
      std::vector<int64_t> values;
      for (size_t row = 0; row < column.size(); ++row) {
        values.push_back(static_cast<int64_t>(column[row]));
      }
      told.emplace_back(std::string(table) + "." + name, std::move(values));
    });
  });
  for (const strata::ThreadIntervals& intervals : all_intervals(engine)) {
    std::vector<int64_t> values;
    for (size_t thread = 0; thread < intervals.threads(); ++thread) {
      values.push_back(static_cast<int64_t>(intervals.count(thread)));
      intervals.each(thread, [&](const strata::Interval& own) {
        values.push_back(own.start_ns);
        values.push_back(own.end_ns);
      });
    }
    told.emplace_back("intervals of threads", std::move(values));
  }
  return told;
}

inline void check_same(strata::Engine& one, strata::Engine& other) {
  check(one.counts() == other.counts(), "other counts");
  check(one.undeclared() == other.undeclared(), "other counts by name");
  check(one.first_ns() == other.first_ns() && one.last_ns() == other.last_ns(), "another span");
  check(one.namespaces().sharing() == other.namespaces().sharing(), "other namespaces");
  for (size_t i = 0; i < strata::kEventTypes * strata::kUses.size(); ++i) {
    const auto type = static_cast<strata::EventType>(i / strata::kUses.size());
    const auto use = static_cast<strata::Use>(i % strata::kUses.size());
    check(one.uses().counted(type, use) == other.uses().counted(type, use), "other uses");
  }
  const Told rows = all_rows(one), others = all_rows(other);
  for (size_t i = 0; i < rows.size(); ++i) check(rows[i] == others[i], rows[i].first.c_str());
  const auto& found = one.ledger().found();
  check(found.size() == other.ledger().found().size(), "other findings");
  for (const auto& [key, item] : found) {
    const auto known = other.ledger().found().find(key);
    check(known != other.ledger().found().end(), "another finding");
    const auto& same = known->second;
    check(
        item.count == same.count && item.first_ns == same.first_ns && item.last_ns == same.last_ns,
        "a finding of another count or time");
  }
}

}  // namespace fuzz
