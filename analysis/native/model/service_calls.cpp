// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/service_calls.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "model/entities.hpp"
#include "model/keys.hpp"

namespace strata {

void ServiceCalls::finish(const ServiceSteps& steps) {
  read_steps();
  const Callers callers(context_, of(kAnswered), of(kGot));
  find_parties(callers);
  find_alone(callers);
  find_servings();
  choose_primary();
  add_requests();
  find_untold();
  add_rows(callers);
  count(steps);
}

void ServiceCalls::read_steps() {
  const auto& rows = context_.rows.service_steps;
  const auto& threads = context_.rows.threads;
  for (size_t row = 0; row < rows.size(); ++row) {
    StepsOfKind& kind = kinds_[rows.kind[row]];
    const auto process =
        static_cast<size_t>(threads.process[static_cast<size_t>(rows.thread[row])]);
    kind.row.push_back(static_cast<int64_t>(row));
    kind.owner.push_back(rows.owner[row]);
    kind.gid.push_back(rows.gid[row]);
    kind.sequence.push_back(rows.sequence[row]);
    kind.stamp.push_back(rows.stamp[row]);
    kind.ns.push_back(rows.ns[row]);
    kind.clock.push_back(context_.settings.clock_of(context_.rows.processes.host[process]));
    kind.told.push_back(rows.told[row]);
  }
}

// Whose call each step is of: a client's number, or past them all the number of a GID.
void ServiceCalls::find_parties(const Callers& callers) {
  const auto past = static_cast<int64_t>(callers.size()) + 1;
  party_[kSent] = of(kSent).owner;
  party_[kGot] = of(kGot).owner;
  for (const size_t kind : {size_t{kTaken}, size_t{kAnswered}}) {
    const StepsOfKind& steps = of(kind);
    for (size_t i = 0; i < steps.size(); ++i) {
      const int64_t client = callers.at(steps.gid[i], steps.ns[i], steps.clock[i]);
      party_[kind].push_back(client != kNone ? client : past + steps.gid[i]);
    }
  }
  std::vector<Keys> calls(4);
  for (size_t kind = 0; kind < 4; ++kind) {
    for (size_t i = 0; i < of(kind).size(); ++i) {
      calls[kind].emplace_back(party_[kind][i], of(kind).sequence[i]);
    }
  }
  call_ = codes_of(calls);
  const auto keys = [this](size_t kind, const std::vector<int64_t>& second) {
    Keys found;
    for (size_t i = 0; i < second.size(); ++i) found.emplace_back(call_[kind][i], second[i]);
    return found;
  };
  serving_ = codes_of({keys(kTaken, of(kTaken).owner), keys(kAnswered, of(kAnswered).owner)});
  stamped_ = codes_of({keys(kAnswered, of(kAnswered).stamp), keys(kGot, of(kGot).stamp)});
}

// Which steps cannot be told apart from another of their kind, and so match nothing.
void ServiceCalls::find_alone(const Callers& callers) {
  const std::array<Flags, 3> twice = {repeated(call_[kSent]), repeated(serving_[0]),
                                      repeated(serving_[1])};
  const Flags late_taken = late(callers, kSent, kTaken);
  const Flags late_answer = late(callers, kTaken, kAnswered);
  const auto clients = static_cast<int64_t>(callers.size());
  for (size_t kind = 0; kind < 4; ++kind) {
    Flags& alone = alone_[kind];
    for (size_t i = 0; i < of(kind).size(); ++i) {
      const int64_t party = party_[kind][i];
      bool is_alone = party < clients && callers.is_contradictory(party);
      if (kind != kGot) is_alone |= twice[kind][i];
      if (kind == kTaken) is_alone |= of(kind).gid[i] == kNone || late_taken[i];
      if (kind == kAnswered) is_alone |= of(kind).gid[i] == kNone || late_answer[i];
      alone.push_back(is_alone);
    }
  }
}

// Second steps that may be of an earlier client of their GID, whose own has not come.
ServiceCalls::Flags ServiceCalls::late(const Callers& callers, size_t first, size_t second) const {
  Flags found(of(second).size(), false);
  if (!callers.any_reused()) return found;
  const auto clients = static_cast<int64_t>(callers.size());
  const auto is_reused = [&](int64_t party) { return party < clients && callers.is_reused(party); };
  std::vector<int64_t> came(call_[second]);
  std::ranges::sort(came);
  std::map<std::pair<int64_t, int64_t>, int64_t> due;  // by GID and number: the earliest client's
  for (size_t i = 0; i < of(first).size(); ++i) {
    const int64_t party = party_[first][i];
    if (!is_reused(party) || std::ranges::binary_search(came, call_[first][i])) continue;
    const int64_t begin_ns = callers.begin_ns(party);
    const auto [one, fresh] =
        due.try_emplace({callers.gid(party), of(first).sequence[i]}, begin_ns);
    if (!fresh) one->second = std::min(one->second, begin_ns);
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const int64_t party = party_[second][i];
    if (!is_reused(party)) continue;
    const auto one = due.find({callers.gid(party), of(second).sequence[i]});
    found[i] = one != due.end() && one->second < callers.begin_ns(party);
  }
  return found;
}

void ServiceCalls::find_servings() {
  const StepsOfKind &taken = of(kTaken), &answered = of(kAnswered);
  Flags usable(alone_[kAnswered]);
  usable.flip();
  const Single response_of(serving_[1], usable);
  Flags takes(alone_[kGot]);
  takes.flip();
  const Single take_of(stamped_[1], takes);
  const Flags twice = repeated(stamped_[0]);
  const auto got = [&](int64_t response) {
    if (response == kNone) return kNone;
    const auto row = static_cast<size_t>(response);
    const bool told = usable[row] && answered.stamp[row] > 0 && !twice[row];
    return told ? take_of.of(stamped_[0][row]) : kNone;
  };
  Flags is_answer(answered.size(), false);
  for (size_t i = 0; i < taken.size(); ++i) {
    int64_t response = alone_[kTaken][i] ? kNone : response_of.of(serving_[0][i]);
    if (response != kNone && answered.ns[static_cast<size_t>(response)] < taken.ns[i]) {
      response = kNone;
    }
    if (response != kNone) is_answer[static_cast<size_t>(response)] = true;
    servings_.push_back({.taken = static_cast<int64_t>(i),
                         .answered = response,
                         .got = got(response),
                         .code = call_[kTaken][i],
                         .alone = alone_[kTaken][i]});
  }
  for (size_t i = 0; i < answered.size(); ++i) {
    if (is_answer[i]) continue;
    servings_.push_back({.answered = static_cast<int64_t>(i),
                         .got = got(static_cast<int64_t>(i)),
                         .code = call_[kAnswered][i],
                         .alone = alone_[kAnswered][i]});
  }
}

// Services that have their name alone.
std::vector<bool> ServiceCalls::unrivalled() const {
  const auto& services = context_.rows.services;
  std::map<int64_t, int64_t> times;
  for (size_t row = 0; row < services.size(); ++row) ++times[services.name[row]];
  std::vector<bool> found;
  for (size_t row = 0; row < services.size(); ++row)
    found.push_back(times[services.name[row]] == 1);
  return found;
}

// The serving of each call that counts: its response was taken first, else it came first.
void ServiceCalls::choose_primary() {
  std::vector<size_t> order;
  for (size_t row = 0; row < servings_.size(); ++row) {
    if (!servings_[row].alone) order.push_back(row);
    servings_[row].further = !servings_[row].alone;
  }
  const auto rank = [this](size_t row) {
    const Serving& one = servings_[row];
    const int64_t got_ns = one.got != kNone ? value(of(kGot).ns, one.got) : INT64_MAX;
    const int64_t first_ns = one.taken != kNone ? value(of(kTaken).ns, one.taken)
                                                : value(of(kAnswered).ns, one.answered);
    return std::tuple(one.code, got_ns, first_ns, row);
  };
  std::ranges::sort(order, {}, rank);
  Flags usable(alone_[kSent]);
  usable.flip();
  const Single request_of(call_[kSent], usable);
  const Flags unrivalled = this->unrivalled();
  for (size_t i = 0; i < order.size(); ++i) {
    Serving& one = servings_[order[i]];
    if (i > 0 && servings_[order[i - 1]].code == one.code) continue;
    one.further = false;
    one.sent = request_of.of(one.code);
    // Where a response was not recorded, its take may be known without; not if others serve, too.
    const int64_t service = value(of(kTaken).owner, one.taken);
    one.lacks = one.got == kNone && service != kNone &&
                service < static_cast<int64_t>(unrivalled.size()) &&
                unrivalled[static_cast<size_t>(service)];
  }
  int64_t further = 0, alone = 0;
  for (const Serving& one : servings_) further += one.further ? 1 : 0;
  for (const Flags& flags : alone_) alone += std::ranges::count(flags, true);
  context_.ledger.add(Finding::requests_taken_by_several, further);
  context_.ledger.add(Finding::ambiguous_service_events, alone);
}

void ServiceCalls::add_requests() {
  Flags served(of(kSent).size(), false);
  for (const Serving& one : servings_) {
    if (one.sent != kNone) served[static_cast<size_t>(one.sent)] = true;
  }
  for (size_t i = 0; i < served.size(); ++i) {
    if (served[i]) continue;
    servings_.push_back(
        {.sent = static_cast<int64_t>(i), .code = call_[kSent][i], .lacks = !alone_[kSent][i]});
  }
}

// The one take of a response whose sending is not known.
void ServiceCalls::find_untold() {
  Flags usable(alone_[kGot]);
  usable.flip();
  int64_t codes = 0;
  for (const Serving& one : servings_) codes = std::max(codes, one.code + 1);
  Flags told(static_cast<size_t>(codes), false);
  for (const Serving& one : servings_) {
    if (one.got == kNone) continue;
    usable[static_cast<size_t>(one.got)] = false;
    told[static_cast<size_t>(one.code)] = true;
  }
  const Single take_of(call_[kGot], usable);
  for (Serving& one : servings_) {
    if (!one.lacks || told[static_cast<size_t>(one.code)]) continue;
    const int64_t found = take_of.of(one.code);
    // Where both have a timestamp, it differs: the response is another service's.
    const bool other =
        value(of(kAnswered).stamp, one.answered) > 0 && value(of(kGot).stamp, found) > 0;
    if (found != kNone && !other) one.got = found;
  }
}

void ServiceCalls::add_rows(const Callers& callers) {
  const auto first_ns = [this](const Serving& one) {
    int64_t ns = INT64_MAX;
    const std::array<int64_t, 4> rows = {one.sent, one.taken, one.answered, one.got};
    for (size_t kind = 0; kind < 4; ++kind) {
      if (rows[kind] != kNone) ns = std::min(ns, value(of(kind).ns, rows[kind]));
    }
    return ns;
  };
  std::ranges::stable_sort(servings_, {}, first_ns);
  auto& rows = context_.rows.service_calls;
  for (const Serving& one : servings_) {
    const auto either = [](int64_t first, int64_t second) {
      return first != kNone ? first : second;
    };
    const StepsOfKind &taken = of(kTaken), &answered = of(kAnswered);
    int64_t gid = either(value(taken.gid, one.taken), value(answered.gid, one.answered));
    const int64_t ns = either(value(taken.ns, one.taken), value(answered.ns, one.answered));
    const int64_t clock =
        either(value(taken.clock, one.taken), value(answered.clock, one.answered));
    int64_t client = either(value(of(kSent).owner, one.sent), value(of(kGot).owner, one.got));
    client = either(client, callers.at(gid, ns, clock));
    const CallMethod method = method_of(one, client, callers);
    if (gid == kNone && client != kNone) gid = callers.gid(client);
    const auto row = static_cast<size_t>(rows.add());
    rows.request[row] = static_cast<int32_t>(value(of(kSent).row, one.sent));
    rows.taken[row] = static_cast<int32_t>(value(taken.row, one.taken));
    rows.response[row] = static_cast<int32_t>(value(answered.row, one.answered));
    rows.taken_response[row] = static_cast<int32_t>(value(of(kGot).row, one.got));
    rows.client[row] = static_cast<int32_t>(client);
    rows.service[row] = static_cast<int32_t>(
        either(value(taken.owner, one.taken), value(answered.owner, one.answered)));
    rows.gid[row] = static_cast<int32_t>(gid);
    rows.method[row] = static_cast<uint8_t>(method);
    rows.further[row] = one.further ? 1 : 0;
  }
}

CallMethod ServiceCalls::method_of(const Serving& serving, int64_t client,
                                   const Callers& callers) const {
  const std::array<int64_t, 4> rows = {serving.sent, serving.taken, serving.answered, serving.got};
  auto rule = StepRule::event;
  for (size_t kind = 0; kind < 4; ++kind) {
    if (rows[kind] == kNone) continue;
    rule = std::max(rule, static_cast<StepRule>(of(kind).told[static_cast<size_t>(rows[kind])]));
  }
  const bool request = serving.sent != kNone, take = serving.taken != kNone;
  const bool response = serving.answered != kNone, got = serving.got != kNone;
  const bool called = request || got, served = take || response;
  CallMethod method = CallMethod::none;
  if ((served && called) || (take && response)) {
    const bool learned = client != kNone && callers.is_learned(client);
    method = called && learned ? CallMethod::response : CallMethod::gid;
  } else if (!served && request && got) {
    method = CallMethod::client;
  }
  if (method == CallMethod::gid && rule == StepRule::identity) method = CallMethod::identity;
  if (method != CallMethod::none && rule == StepRule::order) method = CallMethod::order;
  return method;
}

void ServiceCalls::count(const ServiceSteps& steps) {
  Rows& rows = context_.rows;
  const auto& calls = rows.service_calls;
  Ledger& ledger = context_.ledger;
  const auto is = [](int64_t row) { return row != kNone; };
  int64_t unmatched = static_cast<int64_t>(of(kGot).size());
  for (size_t row = 0; row < calls.size(); ++row) {
    const bool request = is(calls.request[row]), take = is(calls.taken[row]);
    const bool response = is(calls.response[row]), got = is(calls.taken_response[row]);
    if (request && !take && !response) {
      ledger.add(got ? Finding::calls_of_unseen_services : Finding::untaken_requests);
    }
    if (take && !request && calls.further[row] == 0) ledger.add(Finding::unmatched_requests);
    if (take && !response && !got) ledger.add(Finding::unanswered_requests);
    if (response && !got) ledger.add(Finding::untaken_responses);
    if (got) --unmatched;
    const auto method = static_cast<CallMethod>(calls.method[row]);
    if (method == CallMethod::response) ledger.add(Finding::inferred_calls);
    if (method == CallMethod::order) ledger.add(Finding::calls_by_thread_order);
    // A callback that began after the answer is a later request's.
    if (!take || !response) continue;
    auto& execution = rows.service_steps.execution[static_cast<size_t>(calls.taken[row])];
    const int64_t start_ns = pick(rows.executions.start_ns, execution);
    const int64_t answered_ns = pick(rows.service_steps.ns, calls.response[row]);
    if (start_ns > answered_ns) execution = kNone;
  }
  ledger.add(Finding::unmatched_responses, unmatched);
  for (const int64_t row : of(kTaken).row) {
    if (rows.service_steps.execution[static_cast<size_t>(row)] == kNone) {
      ledger.add(Finding::requests_without_callback);
    }
  }
  // Service callbacks of processes whose requests are not in the trace (Jazzy and older).
  for (size_t row = 0; row < rows.executions.size(); ++row) {
    const int64_t callback = rows.executions.callback[row];
    if (callback == kNone) continue;
    const auto at = static_cast<size_t>(callback);
    const bool of_service = rows.callbacks.kind[at] == static_cast<int64_t>(CallbackKind::service);
    if (of_service && !steps.takes_requests(rows.callbacks.process[at])) {
      ledger.add(Finding::service_calls_unseen);
    }
  }
}

}  // namespace strata
