// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Steps of service calls where the rmw traces none (Jazzy and older), from the DDS hooks.
//
// A service is two topics, and each of its four steps is a write or a take on one of them:
//
//     client     write of rq/NAMERequest            take of rr/NAMEReply
//     service    take of rq/NAMERequest             write of rr/NAMEReply
//
// Whose call each is, is said by what the hooks relate it to; else by the writer of the request,
// and of a response by what its thread took last for the service (StepRule::order, inferred). A
// client takes every response of its topic; those of others are none of its calls. The objects of
// the rmw are those of the init events of rcl: the writer and the reader that their thread made
// last for the topic before, or that the process made alone.
#pragma once

#include <cstdint>
#include <vector>

#include "model/context.hpp"
#include "model/entities.hpp"
#include "model/service_steps.hpp"

namespace strata::dds {

// A client that the hooks make known: as rmw_client_init does.
struct HookedClient {
  int64_t process;
  int64_t handle;
  int64_t gid;
  int64_t ns;
};

class Calls {
 public:
  Calls(Context& context, const Entities& entities, ServiceSteps& steps)
      : context_(context), entities_(entities), steps_(steps) {}

  // Lets the steps count that are of calls; returns the clients.
  std::vector<HookedClient> find();

 private:
  // A client or a service whose writer and reader are known.
  struct Party {
    int64_t process;
    int64_t handle;
    uint32_t writer;
    uint32_t reader;
    int64_t gid = kNone;
  };
  struct Asker {
    int64_t process;
    uint32_t thread;
    int64_t ns;
    int64_t handle;
    int64_t name;
  };

  void find_parties(bool services);
  std::vector<int64_t> made_by(const std::vector<Asker>& askers, bool services, bool writes) const;
  void leave_to_nearest();
  void read_relations();
  void name_clients();
  void order_responses();
  void know_again();
  void count();
  bool is_of(size_t row, StepKind kind) const {
    return party_of(row) != kNone && step_of(row).kind == kind;
  }
  int64_t party_of(size_t row) const { return party_of_step_[row]; }
  ServiceStep& step_of(size_t row) const { return steps_.steps()[steps_.hooked()[row].step]; }

  Context& context_;
  const Entities& entities_;
  ServiceSteps& steps_;
  std::vector<Party> parties_;
  std::vector<int64_t> party_of_end_;
  std::vector<int64_t> party_of_step_;  // kNone: no step of a call
};

}  // namespace strata::dds
