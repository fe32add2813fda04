// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Which steps are of one service call.
//
//   client    rmw_send_request (number)                     rmw_take_response (number, timestamp)
//                    \                                        /
//   service     rmw_take_request (GID, number) .. rmw_send_response (GID, number, timestamp)
//
// A client numbers its requests; its GID and that number travel with the request and the response.
// Handles and GIDs that are used again are told apart by the lifetimes of their clients.
//
// * Several services may answer to one name: each of them takes the request. A response belongs to
//   the serving with its source timestamp. The call goes with the serving whose response was taken
//   first (none was: with the one that took it first); the others are further rows, counted.
// * A client whose GID is unknown is known by its responses (service_callers.hpp).
// * Two requests of one client with one number, or two takes of one by one service, cannot be told
//   apart (an init event was lost): they stay unmatched.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/context.hpp"
#include "model/service_callers.hpp"
#include "model/service_steps.hpp"

namespace strata {

enum class CallMethod : uint8_t { gid, client, response, identity, order, none = 255 };

class ServiceCalls {
 public:
  explicit ServiceCalls(Context& context) : context_(context) {}

  // Makes the rows of calls from those of steps.
  void finish(const ServiceSteps& steps);

 private:
  enum : size_t { kSent, kTaken, kAnswered, kGot };
  using Codes = std::vector<std::vector<int64_t>>;
  using Flags = std::vector<bool>;
  // What a service did with a request, or one row of a call; rows of kinds.
  struct Serving {
    int64_t sent = kNone;
    int64_t taken = kNone;
    int64_t answered = kNone;
    int64_t got = kNone;
    int64_t code = kNone;  // of the call
    bool alone = false;    // matches nothing else
    bool further = false;
    bool lacks = false;  // its response's take may be known without its sending
  };

  void read_steps();
  void find_parties(const Callers& callers);
  void find_alone(const Callers& callers);
  Flags late(const Callers& callers, size_t first, size_t second) const;
  void find_servings();
  void choose_primary();
  void add_requests();
  void find_untold();
  void add_rows(const Callers& callers);
  CallMethod method_of(const Serving& serving, int64_t client, const Callers& callers) const;
  void count(const ServiceSteps& steps);
  const StepsOfKind& of(size_t kind) const { return kinds_[kind]; }
  static int64_t value(const std::vector<int64_t>& values, int64_t row) {
    return row == kNone ? kNone : values[static_cast<size_t>(row)];
  }
  std::vector<bool> unrivalled() const;

  Context& context_;
  std::array<StepsOfKind, 4> kinds_;
  std::array<std::vector<int64_t>, 4> party_;
  std::array<Flags, 4> alone_;
  Codes call_;     // by kind
  Codes serving_;  // of takes and of responses
  Codes stamped_;  // of responses and of their takes
  std::vector<Serving> servings_;
};

}  // namespace strata
