// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What the events of service calls were used for; takes of nothing are counted as they go by
// (service_steps.hpp).
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "model/context.hpp"
#include "model/service_steps.hpp"

namespace strata {

class ServiceUses {
 public:
  explicit ServiceUses(Context& context) : context_(context) {}

  // After the calls, when it is known which processes are older than the trace.
  void finish();

 private:
  static constexpr size_t kKinds = 4;

  void find_calls();
  Use use_of(size_t step) const;
  Use use_of_sent_request(size_t step) const;
  Use use_of_taken_request(size_t step) const;
  Use use_without_partner(size_t step) const;
  bool is_asked(int64_t call, int64_t sequence) const;
  bool is_owned(size_t step, size_t known) const;
  bool is_older(size_t step) const;
  bool is_lost_before(size_t step) const;

  Context& context_;
  std::vector<int64_t> call_;                    // of each step
  std::set<std::pair<int64_t, int64_t>> asked_;  // clients and numbers of requests of calls
  std::vector<int64_t> latest_;                  // by client: its greatest number of a request
  std::vector<bool> is_client_;                  // by number of a GUID
};

}  // namespace strata
