// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/stretches.hpp"

namespace strata {

int64_t Occupations::counted(const Stretches& all, size_t row, int64_t begin_ns,
                             int64_t end_ns) const {
  const int64_t whole = minus(end_ns, begin_ns);
  if (all.idle[row] == kNone) return whole;
  const int64_t waited = waits_.within(all.lane[row], begin_ns, end_ns);
  return all.idle[row] == 1 ? waited : minus(whole, waited);
}

int64_t Occupations::apart(const Stretches& all, size_t row, int64_t begin_ns,
                           int64_t end_ns) const {
  const int64_t counts = counted(all, row, begin_ns, end_ns);
  if (all.idle[row] != 0) return counts;
  const int64_t ran = callbacks_.within(all.thread[row], begin_ns, end_ns);
  const int64_t idle = both_.within(all.thread[row], all.lane[row], begin_ns, end_ns);
  return minus(counts, minus(ran, idle));
}

StretchRows cut_stretches(const std::vector<LayerColumns>& layers, Ints lane, Ints group) {
  StretchRows rows;
  for (const LayerColumns& one : layers) {
    require_one_length({{lane, group, one.thread, one.begin_ns, one.end_ns, one.duration_ns}});
    for (size_t message = 0; message < lane.size(); ++message) {
      const int64_t begin_ns = one.begin_ns[message], end_ns = one.end_ns[message];
      const int64_t ns = one.duration_ns[message];
      if (ns == kNone || one.thread[message] == kNone || begin_ns == kNone) continue;
      const bool is_whole = one.idle == kNone ? minus(end_ns, begin_ns) == ns
                                              : group[message] == kNone && end_ns >= begin_ns;
      if (!is_whole) continue;
      rows.message.push_back(static_cast<int64_t>(message));
      rows.layer.push_back(one.layer);
      rows.thread.push_back(one.thread[message]);
      rows.begin_ns.push_back(begin_ns);
      rows.end_ns.push_back(end_ns);
      rows.lane.push_back(lane[message]);
      rows.idle.push_back(one.idle);
    }
  }
  return rows;
}

}  // namespace strata
