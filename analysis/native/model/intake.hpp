// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Events on their way to the engine that are not in order of time as they come: those of streams
// whose clocks went back, the steps of operations, which are known when the operation is over, and
// what processes announce when a session starts that they had made before.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "model/late_events.hpp"
#include "model/operations.hpp"
#include "model/statedumps.hpp"

namespace strata {

class Intake {
 public:
  // How long every event waits at least: of what takes longer the hooks have told by then.
  static constexpr int64_t kUsualNs = 250'000'000;
  // No event waits longer: of an operation that lasted longer, steps are left out, and counted.
  static constexpr int64_t kMostNs = 10'000'000'000;

  // What was there before is there for so long before the first event, in the order in which it was
  // announced.
  static constexpr int64_t kBeforeNs = 1'000'000;

  // `engine` must live as long. `latest_by`: how late an event or step comes at most, as an earlier
  // reading found; if it is later than that, the events are to be read again. `has_dumps`: that
  // processes may announce what was there before the trace.
  explicit Intake(Engine& engine, int64_t latest_by = 0, bool has_dumps = true)
      : engine_(engine),
        allowed_(std::max(latest_by, kUsualNs)),
        late_(engine, allowed_),
        notes_firsts_(has_dumps) {}

  // What was there before the trace, as another session recorded it: init events, before any other.
  void announce(std::span<const Arrival> announcements) {
    announced_.assign(announcements.begin(), announcements.end());
  }

  // Space for the next event, of a time, to be filled at once; as Engine::next.
  Arrival& next(int64_t ns) {
    settle();
    is_filled_ = true;
    if (begin_ns_ == kNone) begin(ns);
    return late_.next(ns);
  }
  // No event comes after this.
  void finish();

  // Whether an event of a type changes what comes before it.
  static constexpr bool looks_back(EventType type) {
    return is_operation(type) || Statedumps::wants(type);
  }

  // How late an event or a step came at most, if that is too late; else 0. Such steps are left out.
  int64_t too_late_by() {
    settle();
    return too_late_by_;
  }

 private:
  void settle() {
    if (is_filled_) {
      if (notes_firsts_) note_first(late_.last());
      if (looks_back(late_.last().event.type)) look_back();
    }
    is_filled_ = false;
  }
  // The place of a process, and the time of its first event.
  struct First {
    std::array<int64_t, 3> process{kNone, kNone, kNone};
    int64_t ns = kNone;
  };
  void note_first(const Arrival& arrival) {
    const Place& place = arrival.place;
    const std::array<int64_t, 3> process{arrival.event.host, place.pid_ns, place.vpid};
    First& recent = recent_[static_cast<uint64_t>(place.vpid) % recent_.size()];
    if (recent.process != process) [[unlikely]]
      recent = {process, firsts_.try_emplace(process, arrival.event.ns).first->second};
  }
  void begin(int64_t ns);
  void look_back();
  void bring_forward(Arrival announcement, int64_t before_ns);
  void put(const Operations::Steps& steps);

  Engine& engine_;
  int64_t allowed_;
  int64_t too_late_by_ = 0;
  LateEvents late_;
  int64_t begin_ns_ = kNone;  // of the first event
  bool notes_firsts_;
  std::map<std::array<int64_t, 3>, int64_t> firsts_;
  std::array<First, 256> recent_{};
  int64_t brought_ = 0;
  std::vector<Arrival> announced_;
  Operations operations_;
  Statedumps statedumps_;
  bool is_filled_ = false;  // the last event may have steps
};

}  // namespace strata
