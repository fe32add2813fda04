// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// When a process id is another process than before. A further rcl_init with one id tells, but what
// it tells depends on what comes later; so it is decided when all events have gone by, and a trace
// that has such ids is read again, with the instants known.
//
// Stock events tell of no process's death. A second rcl_init with one process id is a second
// context of the same process, or another process; what decides:
//
// * another version of tracetools: another process (a process has one);
// * the main thread has another name from then on, and only then (until the next such rcl_init: an
//   old name may return with that), and no runtime event afterwards names a handle that was made
//   before and not made again: another process;
// * anything else: one process, as far as the trace can tell. It is counted.
//
// In the last case entities still do not merge where handles are made again, as each handle's life
// ends there. A process whose rcl_init was not recorded is never told from the one before.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/arrival.hpp"
#include "model/context.hpp"
#include "model/entities.hpp"

namespace strata {

class Restarts {
 public:
  explicit Restarts(Context& context) : context_(context) {}

  // `instant` has the events of its time, of which those that were looked at have a process.
  template <EventType type>
  void on(const Event& event, const Place& place, std::span<const Arrival> instant) {
    if constexpr (type != EventType::other) {
      constexpr bool is_init = kEvents[static_cast<size_t>(type)].is_init;
      if (is_init || is_news(event, place)) note(event, place, instant);
    }
  }
  // When the last event has gone by.
  void decide(const Entities& entities);

  // From decide() on, by process id and time.
  const std::vector<Restart>& found() const { return found_; }
  // Further contexts that are taken to be of the process that had the id before.
  int64_t undecided() const { return undecided_; }

 private:
  // Events of a main thread in a row under one name.
  struct Run {
    int64_t name;
    int64_t begin_ns;
    int64_t end_ns;
  };
  struct Init {
    int64_t ns;
    int64_t version;  // number of a text
  };
  using Times = std::unordered_map<int64_t, int64_t>;  // the last, by handle
  // A process id of a host.
  struct Id {
    int64_t host;
    int64_t vpid;
    std::vector<Init> inits;
    std::vector<Run> runs;                  // those before the last; from decide() on all
    Run last{kNone, INT64_MIN, INT64_MIN};  // without a name there is none yet
    bool has_made = false;                  // an event that makes an entity
    bool is_watched = false;  // something had been made when its main thread got another name
    Times used_ns;            // while it is watched
  };
  // An event of a main thread: the first of a run, or a later one.
  struct Position {
    size_t run;
    bool is_later;
  };

  // Nearly no event is: it is of a thread with the name that it had before, and of a process that
  // is not watched.
  bool is_news(const Event& event, const Place& place) {
    if (event.process >= id_of_process_.size()) return true;
    Id& id = *id_of_process_[event.process];
    if (id.is_watched) return true;
    if (place.vtid != place.vpid || event.procname == kNone) return false;
    if (id.last.name != event.procname) return true;
    id.last.end_ns = event.ns;
    return false;
  }
  void note(const Event& event, const Place& place, std::span<const Arrival> instant);
  Id& id_of(uint32_t process);
  static void note_name(Id& id, const Event& event, std::span<const Arrival> instant);
  static void note_handles(const Event& event, Times& times);
  void decide(Id& id, const Entities& entities);
  static Position first_since(const Id& id, int64_t ns);
  static size_t end_of_process(const Id& id, size_t init);
  static std::optional<size_t> renamed(const Id& id, int64_t begin_ns, int64_t at_ns, size_t end);
  static bool is_outlived(const Id& id, const Times& made_ns, int64_t begin_ns, int64_t at_ns);
  Times last_made(const Id& id, const Entities& entities) const;

  Context& context_;
  std::deque<Id> ids_;
  std::map<std::pair<int64_t, int64_t>, Id*> known_;  // by host and vpid
  std::vector<Id*> id_of_process_;
  std::vector<Restart> found_;
  int64_t undecided_ = 0;
};

}  // namespace strata
