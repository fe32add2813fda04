// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/uses/service_uses.hpp"

#include <algorithm>
#include <array>

#include "model/service_calls.hpp"

namespace strata {
namespace {

constexpr std::array kTypes = {EventType::rmw_send_request, EventType::rmw_take_request,
                               EventType::rmw_send_response, EventType::rmw_take_response};

}  // namespace

void ServiceUses::finish() {
  const auto& steps = context_.rows.service_steps;
  find_calls();
  for (size_t step = 0; step < steps.size(); ++step) {
    if (static_cast<StepRule>(steps.told[step]) != StepRule::event) continue;
    context_.uses.count(kTypes[steps.kind[step]], use_of(step));
  }
}

void ServiceUses::find_calls() {
  const auto& steps = context_.rows.service_steps;
  const auto& calls = context_.rows.service_calls;
  const auto& clients = context_.rows.clients;
  call_.assign(steps.size(), kNone);
  for (size_t call = 0; call < calls.size(); ++call) {
    for (const int64_t step : {calls.request[call], calls.taken[call], calls.response[call],
                               calls.taken_response[call]}) {
      if (step != kNone) call_[static_cast<size_t>(step)] = static_cast<int64_t>(call);
    }
    if (calls.request[call] == kNone) continue;
    const auto request = static_cast<size_t>(calls.request[call]);
    asked_.emplace(calls.client[call], steps.sequence[request]);
  }
  latest_.assign(clients.size() + context_.rows.nameless_clients.size(), 0);
  for (size_t step = 0; step < steps.size(); ++step) {
    if (static_cast<StepKind>(steps.kind[step]) != StepKind::send_request) continue;
    int64_t& latest = latest_[static_cast<size_t>(steps.owner[step])];
    latest = std::max(latest, steps.sequence[step]);
  }
  is_client_.assign(context_.strings.bytes.size(), false);
  for (size_t row = 0; row < clients.size(); ++row) {
    if (clients.gid[row] != kNone) is_client_[static_cast<size_t>(clients.gid[row])] = true;
  }
}

Use ServiceUses::use_of(size_t step) const {
  const auto& calls = context_.rows.service_calls;
  const int64_t call = call_[step];
  bool is_called = false;
  switch (static_cast<StepKind>(context_.rows.service_steps.kind[step])) {
    case StepKind::send_request:
      return use_of_sent_request(step);
    case StepKind::take_request:
      return use_of_taken_request(step);
    case StepKind::send_response:
      is_called = call != kNone && calls.taken[static_cast<size_t>(call)] != kNone &&
                  is_owned(step, context_.rows.services.size());
      break;
    case StepKind::take_response: {
      if (call == kNone || !is_owned(step, context_.rows.clients.size())) break;
      const auto row = static_cast<size_t>(call);
      // Of a service that took the request in the trace, the response must be there, too.
      is_called = calls.response[row] != kNone ||
                  (calls.request[row] != kNone && calls.taken[row] == kNone);
      break;
    }
  }
  return is_called ? Use::service_call : use_without_partner(step);
}

// A request is the first of its call: only its client must be known.
Use ServiceUses::use_of_sent_request(size_t step) const {
  const auto& calls = context_.rows.service_calls;
  const int64_t call = call_[step];
  if (call == kNone) return use_without_partner(step);
  const auto owner = static_cast<size_t>(context_.rows.service_steps.owner[step]);
  if (owner < context_.rows.clients.size()) {
    const auto method = static_cast<CallMethod>(calls.method[static_cast<size_t>(call)]);
    return method == CallMethod::none ? Use::request_untaken : Use::service_call;
  }
  const bool is_explained = is_older(step) || is_lost_before(step);
  return is_explained ? Use::request_unannounced : Use::unexplained;
}

Use ServiceUses::use_of_taken_request(size_t step) const {
  const auto& steps = context_.rows.service_steps;
  const int64_t call = call_[step];
  if (call == kNone || !is_owned(step, context_.rows.services.size())) {
    return use_without_partner(step);
  }
  const int64_t sequence = steps.sequence[step];
  if (is_asked(call, sequence)) return Use::service_call;
  const int64_t gid = steps.gid[step];
  if (gid != kNone && !is_client_[static_cast<size_t>(gid)]) return Use::request_of_absent;
  // rmw_send_request comes after the write: a request may be taken before.
  const int64_t client = context_.rows.service_calls.client[static_cast<size_t>(call)];
  const bool is_next =
      client != kNone && static_cast<uint64_t>(sequence) ==
                             static_cast<uint64_t>(latest_[static_cast<size_t>(client)]) + 1;
  return is_next ? Use::request_early : use_without_partner(step);
}

// Another service may have taken the request, too: it has the call.
bool ServiceUses::is_asked(int64_t call, int64_t sequence) const {
  const auto& calls = context_.rows.service_calls;
  const auto row = static_cast<size_t>(call);
  if (calls.request[row] != kNone) return true;
  const int64_t client = calls.client[row];
  return client != kNone && asked_.contains({client, sequence});
}

// Its client or service (of so many known ones) is known, or need not be.
bool ServiceUses::is_owned(size_t step, size_t known) const {
  const auto owner = static_cast<size_t>(context_.rows.service_steps.owner[step]);
  return owner < known || is_older(step) || is_lost_before(step);
}

Use ServiceUses::use_without_partner(size_t step) const {
  if (is_lost_before(step)) return Use::partner_lost;
  return is_older(step) ? Use::partner_earlier : Use::unexplained;
}

bool ServiceUses::is_older(size_t step) const {
  const auto thread = static_cast<size_t>(context_.rows.service_steps.thread[step]);
  return context_.uses.is_older(context_.rows.threads.process[thread]);
}

bool ServiceUses::is_lost_before(size_t step) const {
  return context_.settings.losses.touch(0, context_.rows.service_steps.ns[step]);
}

}  // namespace strata
