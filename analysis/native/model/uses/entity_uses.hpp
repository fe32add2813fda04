// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What the events were used for that introduce entities and link them: what they name must be
// known.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/context.hpp"
#include "model/entities.hpp"
#include "model/event.hpp"
#include "model/steps.hpp"
#include "model/uses/announcements.hpp"

namespace strata {

class EntityUses {
 public:
  EntityUses(Context& context, const Entities& entities) : context_(context), entities_(entities) {}

  static constexpr bool wants(EventType type) {
    return type == EventType::rcl_lifecycle_transition;
  }
  void on(const Event& event) {
    if (!wants(event.type)) return;
    transitions_.push_back(
        {event.process, event[field::rcl_lifecycle_transition::state_machine], event.ns});
  }
  // After entities; `picked_timers` are those of the init events that an executor picked.
  void finish(const Announcements& announcements, const std::vector<bool>& picked_timers);

 private:
  using Handles = std::unordered_set<HandleKey, HandleHash>;
  using Times = std::vector<std::pair<uint32_t, int64_t>>;  // thread, ns
  struct Transition {
    uint32_t process;
    int64_t machine;
    int64_t ns;
  };
  // A field, and the handles that it must be one of.
  struct End {
    int field;
    const Handles* known;
  };

  Handles made(EventType type, int field) const;
  Times times(EventType type) const;
  void count(const Event& event, bool is_resolved, bool may_come_later = false,
             Use other = Use::unexplained);
  void count_introduced(EventType type, int field);
  void count_referring(EventType type, std::initializer_list<End> ends);
  void count_chosen();
  void count_subscription_callbacks(const Handles& subscriptions);
  void count_service_callbacks(const Handles& services);
  void count_timers(const std::vector<bool>& picked);
  void count_callbacks();
  void count_endpoints(EventType type, Use gid, const Announcements::OfMiddleware& known,
                       const Announcements& announcements);
  void count_links(EventType type, int subscriptions, int publishers);
  void count_transitions(const Handles& machines);

  Context& context_;
  const Entities& entities_;
  std::vector<Transition> transitions_;
  Lifetimes subscriptions_;
  Lifetimes publishers_;
};

}  // namespace strata
