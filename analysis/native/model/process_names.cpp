// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/process_names.hpp"

#include <algorithm>

namespace strata {

void ProcessNames::note(const Event& event, const Place& place) {
  const int64_t name = event[field::procname::process_name];
  if (name == kNone) return;
  names_[{place.host, place.vpid}].emplace_back(event.ns, name);
  const auto& processes = context_.rows.processes;
  for (size_t i = 0; i < now_.size(); ++i) {
    if (processes.host[i] == place.host && processes.vpid[i] == place.vpid) {
      now_[i] = static_cast<int32_t>(name);
    }
  }
}

void ProcessNames::number(uint32_t process) {
  const auto& processes = context_.rows.processes;
  while (process >= now_.size()) {
    const size_t i = now_.size();
    const auto known = names_.find({processes.host[i], processes.vpid[i]});
    now_.push_back(known == names_.end() ? -1 : static_cast<int32_t>(known->second.back().second));
  }
}

int64_t ProcessNames::name_of(int64_t host, int64_t vpid, int64_t until_ns) const {
  const auto found = names_.find({host, vpid});
  if (found == names_.end()) return kNone;
  // A process of which nothing was seen before its name has the first one.
  const auto& names = found->second;
  const auto after =
      std::ranges::upper_bound(names, until_ns, {}, &std::pair<int64_t, int64_t>::first);
  return after == names.begin() ? names.front().second : (after - 1)->second;
}

void ProcessNames::finish() {
  if (names_.empty()) return;
  Rows& rows = context_.rows;
  std::vector<int32_t> name(rows.processes.size(), -1);
  for (size_t i = 0; i < name.size(); ++i) {
    const auto& processes = rows.processes;
    name[i] =
        static_cast<int32_t>(name_of(processes.host[i], processes.vpid[i], processes.last_ns[i]));
  }
  const auto fill = [&](auto& names, const auto& threads) {
    for (size_t row = 0; row < names.size(); ++row) {
      if (names[row] >= 0 || threads[row] < 0) continue;
      names[row] =
          name[static_cast<size_t>(rows.threads.process[static_cast<size_t>(threads[row])])];
    }
  };
  fill(rows.names.name, rows.names.thread);
  fill(rows.publishes.procname, rows.publishes.thread);
  fill(rows.intra_publishes.procname, rows.intra_publishes.thread);
  auto& bystanders = rows.bystanders;
  for (size_t row = 0; row < bystanders.size(); ++row) {
    if (bystanders.name[row] >= 0) continue;
    bystanders.name[row] =
        static_cast<int32_t>(name_of(bystanders.host[row], bystanders.vpid[row], INT64_MAX));
  }
}

}  // namespace strata
