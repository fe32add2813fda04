// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What each process emitted, under which names its threads ran, and when all of it was silent.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/context.hpp"
#include "model/differences.hpp"
#include "model/event.hpp"
#include "model/steps.hpp"
#include "model/threads.hpp"

namespace strata {

class Census {
 public:
  explicit Census(Context& context) : context_(context) {}

  static constexpr bool wants(EventType type) { return type != EventType::other; }
  [[gnu::always_inline]] void on(const Event& event);
  // An event that no machine sees.
  void pass_by(const Event& event, const Place& place);
  void finish();

 private:
  static constexpr int64_t kPauseNs = 1'000'000;
  struct OfType {
    int64_t count = 0;
    uint16_t present = 0;
    uint16_t absent = 0;
  };
  struct OfProcess {
    std::array<OfType, kEventTypes> types;
    int64_t last_ns = kNone;  // of what shows that it runs
  };
  struct Bystander {
    Place place;
    int32_t name = 0;
    bool operator==(const Bystander&) const = default;
  };
  struct Hash {
    size_t operator()(const Bystander& one) const;
  };
  struct OfThread {
    std::vector<std::pair<int32_t, int64_t>> names;  // with how many events of each
    size_t last = 0;
  };

  [[gnu::always_inline]] void note_name(const Event& event);

  Context& context_;
  PerThread<OfProcess> processes_;  // of processes
  PerThread<OfThread> threads_;
  std::unordered_map<Bystander, size_t, Hash> bystanders_;  // rows of them
};

// In place, so that it is compiled for each type of event by itself.
inline void Census::on(const Event& event) {
  if (event.type == EventType::other) return;
  OfProcess& process = processes_[event.process];
  OfType& type = process.types[static_cast<size_t>(event.type)];
  ++type.count;
  type.present |= event.present;
  type.absent |= static_cast<uint16_t>(~event.present);
  if (!event.is_step) note_name(event);
  if (!shows_running(event.type)) return;
  if (process.last_ns != kNone && minus(event.ns, process.last_ns) >= kPauseNs) {
    auto& pauses = context_.rows.pauses;
    const auto row = static_cast<size_t>(pauses.add());
    pauses.process[row] = static_cast<int32_t>(event.process);
    pauses.begin_ns[row] = process.last_ns;
    pauses.end_ns[row] = event.ns;
  }
  process.last_ns = event.ns;
}

inline void Census::note_name(const Event& event) {
  OfThread& thread = threads_[event.thread];
  if (thread.last >= thread.names.size() || thread.names[thread.last].first != event.procname) {
    const auto found =
        std::ranges::find(thread.names, event.procname, &std::pair<int32_t, int64_t>::first);
    thread.last = static_cast<size_t>(found - thread.names.begin());
    if (found == thread.names.end()) thread.names.emplace_back(event.procname, 0);
  }
  ++thread.names[thread.last].second;
}

}  // namespace strata
