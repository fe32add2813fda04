// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/service_callers.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "model/keys.hpp"

namespace strata {

Callers::Callers(const Context& context, const StepsOfKind& answered, const StepsOfKind& got)
    : known_(context.rows.clients.size()) {
  const auto& clients = context.rows.clients;
  const auto& nameless = context.rows.nameless_clients;
  const auto clock_of = [&](int64_t process) {
    return context.settings.clock_of(context.rows.processes.host[static_cast<size_t>(process)]);
  };
  for (size_t row = 0; row < known_; ++row) {
    gid_.push_back(clients.gid[row]);
    begin_ns_.push_back(clients.begin_ns[row]);
    clock_.push_back(clock_of(clients.process[row]));
  }
  for (size_t row = 0; row < nameless.size(); ++row) {
    gid_.push_back(kNone);
    begin_ns_.push_back(kNone);
    clock_.push_back(clock_of(nameless.process[row]));
  }
  learned_.assign(size(), false);
  odd_.assign(size(), false);
  learn(answered, got);
  order();
}

void Callers::learn(const StepsOfKind& answered, const StepsOfKind& got) {
  Keys sent, taken;
  for (size_t i = 0; i < answered.size(); ++i) {
    sent.emplace_back(answered.sequence[i], answered.stamp[i]);
  }
  for (size_t i = 0; i < got.size(); ++i) taken.emplace_back(got.sequence[i], got.stamp[i]);
  const auto codes = codes_of({sent, taken});
  std::vector<bool> usable;
  for (size_t i = 0; i < got.size(); ++i) usable.push_back(got.stamp[i] > 0);
  const Single one(codes[1], usable);
  const std::vector<bool> twice = repeated(codes[0]);
  std::map<int64_t, std::set<int64_t>> gids_of;  // by client: what its responses tell
  for (size_t i = 0; i < answered.size(); ++i) {
    if (answered.stamp[i] <= 0 || answered.gid[i] == kNone || twice[i]) continue;
    const int64_t found = one.of(codes[0][i]);
    if (found == kNone) continue;
    gids_of[got.owner[static_cast<size_t>(found)]].insert(answered.gid[i]);
  }
  const std::set<int64_t> known(gid_.begin(), gid_.end());
  std::map<int64_t, std::vector<int64_t>> learning;  // clients by GID
  for (const auto& [client, gids] : gids_of) {
    const auto row = static_cast<size_t>(client);
    if (gid_[row] != kNone) {
      odd_[row] = gids.size() > 1 || *gids.begin() != gid_[row];
    } else if (gids.size() == 1 && !known.contains(*gids.begin())) {
      learning[*gids.begin()].push_back(client);
    }
  }
  for (const auto& [gid, of] : learning) {
    if (of.size() > 1) continue;
    const auto row = static_cast<size_t>(of.front());
    gid_[row] = gid;
    begin_ns_[row] = INT64_MIN;
    learned_[row] = true;
  }
}

void Callers::order() {
  for (size_t row = 0; row < size(); ++row) {
    if (gid_[row] != kNone) by_gid_.push_back(static_cast<int64_t>(row));
  }
  std::ranges::sort(by_gid_, {}, [this](int64_t client) {
    return std::tuple(gid(client), begin_ns(client), client);
  });
  reused_.assign(size(), false);
  for (size_t i = 1; i < by_gid_.size(); ++i) {
    if (gid(by_gid_[i]) != gid(by_gid_[i - 1])) continue;
    reused_[static_cast<size_t>(by_gid_[i])] = reused_[static_cast<size_t>(by_gid_[i - 1])] = true;
    any_reused_ = true;
  }
}

int64_t Callers::at(int64_t gid, int64_t ns, int64_t clock) const {
  if (gid == kNone) return kNone;
  const auto of = [this](int64_t client) { return this->gid(client); };
  const std::span own(std::ranges::lower_bound(by_gid_, gid, {}, of),
                      std::ranges::upper_bound(by_gid_, gid, {}, of));
  if (own.empty()) return kNone;
  if (own.size() == 1 && clock_[static_cast<size_t>(own.front())] != clock) return own.front();
  const auto after =
      std::ranges::upper_bound(own, ns, {}, [this](int64_t client) { return begin_ns(client); });
  return after == own.begin() ? kNone : *(after - 1);
}

}  // namespace strata
