// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Which client has which GID, and when.
//
// A client's GID is in its rmw_client_init. Where that is missing (the trace began late), its
// responses tell it: a response has one number and one source timestamp where it is sent, with the
// GID, and where it is taken, with the client's handle. Responses that tell different GIDs tell
// nothing, and a client whose responses contradict its init event is two clients.
#pragma once

#include <cstdint>
#include <vector>

#include "model/context.hpp"

namespace strata {

// Steps of one kind, in order of time.
struct StepsOfKind {
  std::vector<int64_t> row;  // of `service_steps`
  std::vector<int64_t> owner, gid, sequence, stamp, ns, clock;
  std::vector<uint8_t> told;

  size_t size() const { return row.size(); }
};

class Callers {
 public:
  Callers(const Context& context, const StepsOfKind& answered, const StepsOfKind& got);

  size_t size() const { return gid_.size(); }
  int64_t gid(int64_t client) const { return gid_[static_cast<size_t>(client)]; }
  int64_t begin_ns(int64_t client) const { return begin_ns_[static_cast<size_t>(client)]; }
  bool is_learned(int64_t client) const { return learned_[static_cast<size_t>(client)]; }
  bool is_contradictory(int64_t client) const { return odd_[static_cast<size_t>(client)]; }
  // Another client has its GID, too.
  bool is_reused(int64_t client) const { return reused_[static_cast<size_t>(client)]; }
  bool any_reused() const { return any_reused_; }

  // The client that had a GID at a time; kNone where none is known. By another clock than the
  // client's the time says nothing: a GID that one client alone has is that client's.
  int64_t at(int64_t gid, int64_t ns, int64_t clock) const;

 private:
  void learn(const StepsOfKind& answered, const StepsOfKind& got);
  void order();

  size_t known_;  // clients with an init event
  std::vector<int64_t> gid_, begin_ns_, clock_;
  std::vector<bool> learned_, odd_, reused_;
  bool any_reused_ = false;
  std::vector<int64_t> by_gid_;  // clients with a GID, by it and their begin
};

}  // namespace strata
