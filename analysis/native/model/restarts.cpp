// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/restarts.hpp"

#include <algorithm>
#include <set>

namespace strata {

void Restarts::note(const Event& event, const Place& place, std::span<const Arrival> instant) {
  Id& id = id_of(event.process);
  const bool is_init = kEvents[static_cast<size_t>(event.type)].is_init;
  if (place.vtid == place.vpid && event.procname != kNone) note_name(id, event, instant);
  if (is_init) {
    id.has_made = true;
    if (event.type == EventType::rcl_init) {
      id.inits.push_back({event.ns, event[field::rcl_init::version]});
    }
  } else if (id.is_watched) {
    note_handles(event, id.used_ns);
  }
}

Restarts::Id& Restarts::id_of(uint32_t process) {
  while (process >= id_of_process_.size()) {
    const ProcessesRows& rows = context_.rows.processes;
    const size_t row = id_of_process_.size();
    Id*& known = known_[{rows.host[row], rows.vpid[row]}];
    if (known == nullptr) {
      known = &ids_.emplace_back();
      known->host = rows.host[row];
      known->vpid = rows.vpid[row];
    }
    id_of_process_.push_back(known);
  }
  return *id_of_process_[process];
}

void Restarts::note_name(Id& id, const Event& event, std::span<const Arrival> instant) {
  if (id.last.name == event.procname) {
    id.last.end_ns = event.ns;
    return;
  }
  const bool is_first = id.last.name == kNone;
  if (!is_first) id.runs.push_back(id.last);
  id.last = {event.procname, event.ns, event.ns};
  if (is_first || !id.has_made || id.is_watched) return;
  id.is_watched = true;
  // What is used in the instant of the new name counts, wherever in it.
  for (const Arrival& arrival : instant) {
    const Event& other = arrival.event;
    if (other.process != event.process || other.type == EventType::other) continue;
    if (!kEvents[static_cast<size_t>(other.type)].is_init) note_handles(other, id.used_ns);
  }
}

void Restarts::note_handles(const Event& event, Times& times) {
  const unsigned handles = kEvents[static_cast<size_t>(event.type)].handles & event.present;
  for (int field = 0; handles >> field != 0; ++field) {
    if ((handles >> field & 1U) == 0) continue;
    const auto [known, fresh] = times.try_emplace(event[field], event.ns);
    if (!fresh) known->second = std::max(known->second, event.ns);
  }
}

void Restarts::decide(const Entities& entities) {
  for (Id& id : ids_) {
    if (id.last.name != kNone) id.runs.push_back(id.last);
    if (id.inits.size() > 1) decide(id, entities);
  }
}

void Restarts::decide(Id& id, const Entities& entities) {
  std::ranges::stable_sort(id.inits, {}, &Init::ns);
  std::optional<Times> made_ns;
  int64_t begin_ns = INT64_MIN;
  for (size_t init = 1; init < id.inits.size(); ++init) {
    const int64_t at_ns = id.inits[init].ns;
    const auto run = renamed(id, begin_ns, at_ns, end_of_process(id, init));
    bool is_other = id.inits[init].version != id.inits[init - 1].version;
    if (!is_other && run) {
      if (!made_ns) made_ns = last_made(id, entities);
      is_other = !is_outlived(id, *made_ns, begin_ns, id.runs[*run].begin_ns);
    }
    if (!is_other) {
      ++undecided_;
      continue;
    }
    begin_ns = run ? id.runs[*run].begin_ns : at_ns;
    found_.push_back({id.host, id.vpid, begin_ns});
  }
}

// The first event of the main thread at an instant or after it; one past all runs for none.
Restarts::Position Restarts::first_since(const Id& id, int64_t ns) {
  const auto run = std::ranges::lower_bound(id.runs, ns, {}, &Run::end_ns);
  return {static_cast<size_t>(run - id.runs.begin()), run != id.runs.end() && run->begin_ns < ns};
}

// The run behind the last that may be of the process of an rcl_init: with a further one under
// another name, or of another version, that ends. What carries the name of that one before it is of
// that one.
size_t Restarts::end_of_process(const Id& id, size_t init) {
  const Position begin = first_since(id, id.inits[init].ns);
  for (size_t next = init + 1; next < id.inits.size(); ++next) {
    const Position at = first_since(id, id.inits[next].ns);
    const bool is_there = begin.run < id.runs.size() && at.run < id.runs.size();
    if (is_there && id.runs[at.run].name != id.runs[begin.run].name) return at.run;
    if (id.inits[next].version != id.inits[init].version) return at.run + (at.is_later ? 1 : 0);
  }
  return id.runs.size();
}

// The run since which the main thread has, up to the run `end`, only names that it had not before;
// what it had before `begin_ns` does not count.
std::optional<size_t> Restarts::renamed(const Id& id, int64_t begin_ns, int64_t at_ns, size_t end) {
  const size_t since = first_since(id, at_ns).run;
  const size_t first = first_since(id, begin_ns).run;
  if (since >= id.runs.size() || first >= since) return std::nullopt;
  std::set<int64_t> before;
  for (size_t run = first; run < since; ++run) before.insert(id.runs[run].name);
  for (size_t run = since; run < end; ++run) {
    if (before.contains(id.runs[run].name)) return std::nullopt;
  }
  return since;
}

// Whether a handle that was made before an instant is used after it, and not made again.
bool Restarts::is_outlived(const Id& id, const Times& made_ns, int64_t begin_ns, int64_t at_ns) {
  return std::ranges::any_of(made_ns, [&](const auto& made) {
    if (made.second < begin_ns || made.second >= at_ns) return false;
    const auto used = id.used_ns.find(made.first);
    return used != id.used_ns.end() && used->second >= at_ns;
  });
}

Restarts::Times Restarts::last_made(const Id& id, const Entities& entities) const {
  Times times;
  for (size_t type = 0; type < kEventTypes; ++type) {
    if (!kEvents[type].is_init) continue;
    for (const Event& event : entities.inits(static_cast<EventType>(type))) {
      if (id_of_process_[event.process] == &id) note_handles(event, times);
    }
  }
  return times;
}

}  // namespace strata
