// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/layer_times.hpp"

#include <algorithm>
#include <tuple>

namespace strata {
namespace {

constexpr int64_t kIdle = 0;

// The intervals of one state.
class Picked {
 public:
  Picked(const StateColumns& states, ThreadState wanted) {
    require_one_length({{states.spans.group, states.spans.begin_ns, states.spans.end_ns,
                         states.state, states.cpu}});
    for (size_t row = 0; row < states.spans.size(); ++row) {
      if (states.state[row] != static_cast<int64_t>(wanted)) continue;
      thread_.push_back(states.spans.group[row]);
      begin_ns_.push_back(states.spans.begin_ns[row]);
      end_ns_.push_back(states.spans.end_ns[row]);
      cpu_.push_back(states.cpu[row]);
    }
  }

  Spans spans() const { return {thread_, begin_ns_, end_ns_}; }
  int64_t cpu(size_t row) const { return cpu_[row]; }

 private:
  std::vector<int64_t> thread_;
  std::vector<int64_t> begin_ns_;
  std::vector<int64_t> end_ns_;
  std::vector<int64_t> cpu_;
};

struct Preemption {
  int64_t message;
  int64_t layer;
  int64_t tid;
  int64_t name;
  int64_t duration_ns;

  auto key() const { return std::tie(message, layer, tid, name); }
};

Preemptions added_up(std::vector<Preemption>& found) {
  std::ranges::sort(found, {}, &Preemption::key);
  Preemptions rows;
  for (size_t i = 0; i < found.size(); ++i) {
    if (i > 0 && found[i].key() == found[i - 1].key()) {
      rows.duration_ns.back() = plus(rows.duration_ns.back(), found[i].duration_ns);
      continue;
    }
    rows.message.push_back(found[i].message);
    rows.layer.push_back(found[i].layer);
    rows.tid.push_back(found[i].tid);
    rows.name.push_back(found[i].name);
    rows.duration_ns.push_back(found[i].duration_ns);
  }
  return rows;
}

}  // namespace

std::array<std::vector<int64_t>, 4> layer_times(const Stretches& stretches,
                                                const StateColumns& states, const Spans& waits,
                                                Ints lane_of) {
  stretches.require_one_length();
  const Occupations did(waits, {}, {});
  std::array<std::vector<int64_t>, 4> spent;
  std::vector<int64_t>& unknown = spent[3];
  for (size_t row = 0; row < stretches.size(); ++row) {
    unknown.push_back(did.counted(stretches, row, stretches.begin_ns[row], stretches.end_ns[row]));
  }
  for (size_t state = 0; state < 3; ++state) {
    const Clock clock(Picked(states, static_cast<ThreadState>(state)).spans());
    const Overlap both(clock, did.waits(), lane_of);
    for (size_t row = 0; row < stretches.size(); ++row) {
      const int64_t thread = stretches.thread[row];
      const int64_t begin_ns = stretches.begin_ns[row], end_ns = stretches.end_ns[row];
      const int64_t only = stretches.idle[row];
      const int64_t whole = only == 1 ? 0 : clock.within(thread, begin_ns, end_ns);
      const int64_t part =
          only == kNone ? 0 : both.within(thread, stretches.lane[row], begin_ns, end_ns);
      spent[state].push_back(only == 1 ? part : minus(whole, part));
      unknown[row] = minus(unknown[row], spent[state].back());
    }
  }
  return spent;
}

Preemptions preemptions(const Stretches& stretches, const StateColumns& states,
                        const OccupancyColumns& occupancy, const Occupations& did) {
  stretches.require_one_length();
  require_one_length({{occupancy.spans.group, occupancy.tid, occupancy.name}});
  const Picked own(states, ThreadState::preempted);
  const Pieces queued(own.spans());
  const Pieces had(occupancy.spans);
  std::vector<Preemption> found;
  for (size_t row = 0; row < stretches.size(); ++row) {
    const auto note = [&](int64_t tid, int64_t name, int64_t ns) {
      if (ns > 0) found.push_back({stretches.message[row], stretches.layer[row], tid, name, ns});
    };
    const auto look_at = [&](size_t piece, int64_t begin_ns, int64_t end_ns) {
      int64_t seen_ns = 0;
      had.each_within(own.cpu(piece), begin_ns, end_ns,
                      [&](size_t by, int64_t from_ns, int64_t until_ns) {
                        const int64_t ns = did.apart(stretches, row, from_ns, until_ns);
                        const int64_t tid = occupancy.tid[by];
                        const bool is_named = tid != kNone && tid != kIdle;
                        note(tid, is_named ? occupancy.name[by] : kNone, ns);
                        seen_ns = plus(seen_ns, ns);
                      });
      // Where nobody is known to have had the CPU: its first and last moments, and lost events.
      note(kNone, kNone, minus(did.apart(stretches, row, begin_ns, end_ns), seen_ns));
    };
    queued.each_within(stretches.thread[row], stretches.begin_ns[row], stretches.end_ns[row],
                       look_at);
  }
  return added_up(found);
}

}  // namespace strata
