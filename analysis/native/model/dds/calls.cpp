// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/dds/calls.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace strata::dds {

std::vector<HookedClient> Calls::find() {
  auto& hooked = steps_.hooked();
  if (steps_.ends().empty() || !steps_.has_samples()) return {};
  party_of_end_.assign(steps_.ends().size(), kNone);
  find_parties(false);
  find_parties(true);
  party_of_step_.resize(hooked.size());
  for (size_t row = 0; row < hooked.size(); ++row) {
    party_of_step_[row] = party_of_end_[hooked[row].end];
  }
  leave_to_nearest();
  read_relations();
  name_clients();
  order_responses();
  know_again();
  count();
  std::vector<HookedClient> clients;
  for (const Party& party : parties_) {
    const ServiceEnd& writer = steps_.ends()[party.writer];
    if (writer.is_of_service) continue;
    clients.push_back({writer.process, party.handle, party.gid, writer.ns});
  }
  return clients;
}

void Calls::find_parties(bool services) {
  const EventType init = services ? EventType::rcl_service_init : EventType::rcl_client_init;
  static_assert(field::rcl_service_init::rmw_service_handle ==
                    field::rcl_client_init::rmw_client_handle &&
                field::rcl_service_init::service_name == field::rcl_client_init::service_name);
  std::vector<Asker> askers;
  for (const Event& event : entities_.inits(init)) {
    askers.push_back({event.process, event.thread, event.ns,
                      event[field::rcl_client_init::rmw_client_handle],
                      event[field::rcl_client_init::service_name]});
  }
  const std::vector<int64_t> writer = made_by(askers, services, true);
  const std::vector<int64_t> reader = made_by(askers, services, false);
  for (size_t i = 0; i < askers.size(); ++i) {
    if (writer[i] == kNone || reader[i] == kNone || steps_.is_traced(askers[i].process)) continue;
    const auto party = static_cast<int64_t>(parties_.size());
    parties_.push_back({askers[i].process, askers[i].handle, static_cast<uint32_t>(writer[i]),
                        static_cast<uint32_t>(reader[i])});
    party_of_end_[static_cast<size_t>(writer[i])] = party;
    party_of_end_[static_cast<size_t>(reader[i])] = party;
  }
}

// The writer or reader that each client or service made; kNone for none.
std::vector<int64_t> Calls::made_by(const std::vector<Asker>& askers, bool services,
                                    bool writes) const {
  const bool request = services != writes;
  const auto& ends = steps_.ends();
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> by_thread, by_process;
  for (size_t row = 0; row < ends.size(); ++row) {
    const ServiceEnd& end = ends[row];
    if (end.writes != writes || end.is_of_service != services) continue;
    by_thread[{end.thread, end.topic}].push_back(static_cast<int64_t>(row));
    by_process[{end.process, end.topic}].push_back(static_cast<int64_t>(row));
  }
  std::vector<int64_t> topic(askers.size(), kNone);
  std::map<std::pair<int64_t, int64_t>, int64_t> asked;
  for (size_t i = 0; i < askers.size(); ++i) {
    if (askers[i].name == kNone) continue;
    const std::string name(context_.strings.texts[askers[i].name]);
    topic[i] =
        context_.strings.texts.number(request ? "rq" + name + "Request" : "rr" + name + "Reply");
    ++asked[{askers[i].process, topic[i]}];
  }
  std::vector<int64_t> found(askers.size(), kNone);
  std::unordered_map<int64_t, int64_t> taken;  // by row: the time of whose it is
  for (size_t i = 0; i < askers.size(); ++i) {
    if (topic[i] == kNone) continue;
    const auto near = by_thread.find({askers[i].thread, topic[i]});
    if (near != by_thread.end()) {
      for (const int64_t row : near->second) {
        if (ends[static_cast<size_t>(row)].ns <= askers[i].ns) found[i] = row;
      }
    }
    // One that lies nearer to another client or service is that one's.
    if (found[i] != kNone && !taken.try_emplace(found[i], askers[i].ns).second) found[i] = kNone;
    if (found[i] != kNone || asked[{askers[i].process, topic[i]}] != 1) continue;
    const auto alone = by_process.find({askers[i].process, topic[i]});
    if (alone != by_process.end() && alone->second.size() == 1) found[i] = alone->second.front();
  }
  return found;
}

// What the hooks say beside a write or take belongs to the nearest one.
void Calls::leave_to_nearest() {
  struct Last {
    int64_t at = kNone;
    size_t row = 0;
  };
  PerThread<std::array<std::array<Last, 3>, 4>> last;
  auto& hooked = steps_.hooked();
  for (size_t row = 0; row < hooked.size(); ++row) {
    if (party_of(row) == kNone) continue;
    const ServiceStep& step = step_of(row);
    const bool writes = steps_.ends()[hooked[row].end].writes;
    auto& own = last[step.thread][static_cast<size_t>(step.kind)];
    constexpr std::array<int64_t HookedStep::*, 3> kBeside = {
        &HookedStep::related_at, &HookedStep::sent_at, &HookedStep::added_at};
    for (size_t i = 0; i < kBeside.size(); ++i) {
      int64_t& at = hooked[row].*kBeside[i];
      if (at == kNone) continue;
      if (own[i].at == at) {
        const bool before = i == 0 && writes;
        if (before || step_of(own[i].row).ns == step.ns) {
          at = kNone;
          continue;
        }
        hooked[own[i].row].*kBeside[i] = kNone;
      }
      own[i] = {at, row};
    }
  }
}

void Calls::read_relations() {
  auto& hooked = steps_.hooked();
  for (size_t row = 0; row < hooked.size(); ++row) {
    if (party_of(row) == kNone) continue;
    HookedStep& one = hooked[row];
    ServiceStep& step = step_of(row);
    const ServiceEnd& end = steps_.ends()[one.end];
    const bool related = one.related_at != kNone;
    // When a writer goes, Cyclone DDS hands its readers a sample without a value.
    if (!end.writes && !related && steps_.relates_takes(end.process)) {
      party_of_step_[row] = kNone;
      continue;
    }
    if (end.writes) {
      const bool added = one.added_at != kNone, sent = one.sent_at != kNone;
      one.sample = added ? one.added_number : sent ? one.sent_number : 0;
      step.stamp = added ? one.added_stamp : sent ? one.sent_stamp : 0;
    }
    step.gid = related ? one.related_guid : -1;
    step.sequence = related && one.related_sequence > 0 ? one.related_sequence : one.sample;
    step.handle = parties_[static_cast<size_t>(party_of(row))].handle;
  }
}

// A client is what its requests say; else its reader (Fast DDS), or where the hooks relate nothing
// at all, its writer, which names its requests.
void Calls::name_clients() {
  std::vector<bool> said(parties_.size(), false);
  for (Party& party : parties_) {
    party.gid = steps_.ends()[steps_.has_relations() ? party.reader : party.writer].guid;
  }
  auto& hooked = steps_.hooked();
  for (size_t row = 0; row < hooked.size(); ++row) {
    if (!is_of(row, StepKind::send_request) || step_of(row).gid == -1) continue;
    const auto party = static_cast<size_t>(party_of(row));
    if (!said[party]) parties_[party].gid = step_of(row).gid;
    said[party] = true;
  }
  for (size_t row = 0; row < hooked.size(); ++row) {
    if (is_of(row, StepKind::send_request)) {
      step_of(row).gid = static_cast<int32_t>(parties_[static_cast<size_t>(party_of(row))].gid);
    } else if (is_of(row, StepKind::take_request) && step_of(row).gid == -1) {
      step_of(row).gid = hooked[row].by;
    }
  }
}

// Gives responses that name no request the one that their thread took last for the service; a
// request that two would be given is neither's.
void Calls::order_responses() {
  std::map<std::pair<uint32_t, int64_t>, size_t> taken;
  std::vector<std::pair<size_t, size_t>> found;  // response, request
  const size_t count = steps_.hooked().size();
  for (size_t row = 0; row < count; ++row) {
    if (is_of(row, StepKind::take_request)) {
      taken[{step_of(row).thread, party_of(row)}] = row;
    } else if (is_of(row, StepKind::send_response) && step_of(row).gid == -1) {
      const auto request = taken.find({step_of(row).thread, party_of(row)});
      if (request == taken.end()) {
        step_of(row).sequence = 0;
      } else {
        found.emplace_back(row, request->second);
      }
    }
  }
  std::ranges::sort(found, {}, [](const auto& pair) { return std::pair(pair.second, pair.first); });
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [response, request] = found[i];
    const bool several = (i > 0 && found[i - 1].second == request) ||
                         (i + 1 < found.size() && found[i + 1].second == request);
    ServiceStep& step = step_of(response);
    step.sequence = several ? 0 : step_of(request).sequence;
    if (several) continue;
    step.gid = step_of(request).gid;
    step.told = StepRule::order;
  }
}

// Gives taken responses that name no request that of the response which was written.
void Calls::know_again() {
  std::vector<std::tuple<int32_t, int64_t, size_t>> sent;  // writer, number, row
  const auto& hooked = steps_.hooked();
  bool lacking = false;
  for (size_t row = 0; row < hooked.size(); ++row) {
    if (is_of(row, StepKind::send_response)) {
      sent.emplace_back(hooked[row].by, hooked[row].sample, row);
    } else if (is_of(row, StepKind::take_response) && step_of(row).gid == -1) {
      lacking = true;
    }
  }
  if (!lacking) return;
  std::ranges::sort(sent);
  for (size_t row = 0; row < hooked.size(); ++row) {
    if (!is_of(row, StepKind::take_response) || step_of(row).gid != -1) continue;
    const int64_t sample = hooked[row].sample;
    if (sample <= 0) continue;
    const auto first =
        std::ranges::lower_bound(sent, std::tuple(hooked[row].by, sample, size_t{0}));
    const auto is_same = [&](auto at) {
      return at != sent.end() && std::get<0>(*at) == hooked[row].by && std::get<1>(*at) == sample;
    };
    if (!is_same(first) || is_same(first + 1)) continue;
    const ServiceStep& response = step_of(std::get<2>(*first));
    ServiceStep& step = step_of(row);
    step.gid = response.gid;
    step.sequence = response.sequence;
    step.told = response.told;
  }
}

void Calls::count() {
  for (size_t row = 0; row < steps_.hooked().size(); ++row) {
    if (party_of(row) == kNone) continue;
    ServiceStep& step = step_of(row);
    const Party& party = parties_[static_cast<size_t>(party_of(row))];
    const bool own = step.kind != StepKind::take_response || step.gid == party.gid;
    step.counts = own && step.gid != -1 && step.sequence > 0;
    if (step.counts && step.kind == StepKind::take_request) steps_.note_request(party.process);
    // The rmw tells no stamp of a request, and the number of its client with neither of its own.
    if (step.kind == StepKind::send_request || step.kind == StepKind::take_request) {
      step.stamp = kNone;
    }
    if (step.kind == StepKind::send_request || step.kind == StepKind::take_response) step.gid = -1;
  }
}

}  // namespace strata::dds
