// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Services and clients with their lifetimes, and what they sent and took, in order.
//
// A client has two init events: rmw_client_init, which knows its GID (Kilted and newer; before, the
// DDS hooks may), then rcl_client_init, which knows its node and name. It lives from the first of
// the two that was recorded.
//
// A callback_start belongs to a request that was taken when no other take, execute, wait or
// response lies between, and its callback is that service's (or nobody's, as far as is known).
// Nothing reaches over a time in which events were lost.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/context.hpp"
#include "model/dds/calls.hpp"
#include "model/entities.hpp"
#include "model/executions.hpp"
#include "model/lifetimes.hpp"
#include "model/service_steps.hpp"

namespace strata {

class Services {
 public:
  Services(Context& context, const Entities& entities, const Executions& executions,
           ServiceSteps& steps)
      : context_(context), entities_(entities), executions_(executions), steps_(steps) {}

  // Makes the rows of services, clients and of the steps that count.
  void finish(const std::vector<dds::HookedClient>& hooked);
  // Processes by the names of their hosts, their ids and first events; threads by theirs in these.
  static std::vector<int64_t> thread_order(const Context& context);

 private:
  // What a thread did of services until now.
  struct Before {
    Position barrier;  // took something or answered
    int64_t barrier_row = kNone;
    Position sent;  // sent a request or a response
    Position take;  // took a request
    bool took_goal = false;
    Position answer;
  };

  void find_services();
  void find_clients(const std::vector<dds::HookedClient>& hooked);
  void find_owners_of_callbacks();
  std::vector<uint32_t> ordered() const;
  int64_t owner_of(const ServiceStep& step, int64_t process);
  void add_row(const ServiceStep& step);
  void number_nameless();
  void look_back(size_t row, const ServiceStep& step, Before& before);
  void look_at_take(size_t row, const ServiceStep& step, const Before& before);
  bool is_written_for(const ServiceStep& step, int64_t client, const Before& before) const;
  void leave_foreign(size_t row, const ServiceStep& step);
  bool may_run(int64_t execution, int64_t service) const;
  void add_feedback(const std::vector<uint32_t>& order);
  void find_goals(const std::vector<uint32_t>& order);
  bool is_near(int64_t begin_ns, int64_t end_ns) const {
    return !context_.settings.losses.touch(begin_ns, end_ns);
  }

  Context& context_;
  const Entities& entities_;
  const Executions& executions_;
  ServiceSteps& steps_;
  Lifetimes node_lives_, service_lives_, client_lives_;
  std::vector<int64_t> service_of_callback_;
  std::vector<std::map<HandleKey, int64_t>> nameless_{2};  // of services, of clients
  std::vector<HandleKey> owner_key_;                       // of rows without a known owner
};

}  // namespace strata
