// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What threads announced to rcl, and when: which endpoints are the middleware's own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "model/context.hpp"
#include "model/entities.hpp"
#include "model/lifetimes.hpp"

namespace strata {

class Announcements {
 public:
  // After all init events.
  void find(const Rows& rows, const Entities& entities) {
    for (const EventType type : {EventType::rcl_node_init, EventType::rcl_publisher_init,
                                 EventType::rcl_subscription_init}) {
      for (const Event& event : entities.inits(type)) {
        made_.push_back({event.thread, event.ns, type != EventType::rcl_node_init});
      }
    }
    std::ranges::stable_sort(made_, {}, &Made::order);
    find_own(entities.inits(EventType::rmw_publisher_init),
             field::rmw_publisher_init::rmw_publisher_handle, rows.publishers, publishers_);
    find_own(entities.inits(EventType::rmw_subscription_init),
             field::rmw_subscription_init::rmw_subscription_handle, rows.subscriptions,
             subscriptions_);
  }

  // Of the middleware's publishers or subscriptions, in the order of their init events.
  struct OfMiddleware {
    std::vector<bool> announced;  // rcl announced it afterwards
    Lifetimes own;                // those that it did not, but then a node, or nothing more
  };
  const OfMiddleware& publishers() const { return publishers_; }
  const OfMiddleware& subscriptions() const { return subscriptions_; }

  // Whether the next that a thread announced after a time is a node. The middleware makes its own
  // endpoints, and tells of the node, before rcl announces it.
  bool is_before_node(uint32_t thread, int64_t ns) const {
    const auto next = after(thread, ns);
    return next != made_.end() && next->thread == thread && next->is_endpoint == 0;
  }
  bool is_last(uint32_t thread, int64_t ns) const {
    const auto next = after(thread, ns);
    return next == made_.end() || next->thread != thread;
  }

 private:
  struct Made {
    uint32_t thread;
    int64_t ns;
    int is_endpoint;
    std::tuple<uint32_t, int64_t, int> order() const { return {thread, ns, is_endpoint}; }
  };

  std::vector<Made>::const_iterator after(uint32_t thread, int64_t ns) const {
    return std::ranges::lower_bound(made_, std::make_tuple(thread, ns, -1), {}, &Made::order);
  }

  template <typename Endpoints>
  void find_own(const std::vector<Event>& inits, int handle, const Endpoints& known,
                OfMiddleware& found) {
    Lifetimes lives;
    for (const Event& event : inits) lives.add(event.process, event[handle], event.ns);
    lives.sort();
    found.announced.assign(inits.size(), false);
    for (size_t row = 0; row < known.size(); ++row) {
      const int64_t own =
          lives.find(known.process[row], known.rmw_handle[row], known.begin_ns[row]);
      if (own != kNone) found.announced[static_cast<size_t>(own)] = true;
    }
    for (size_t row = 0; row < inits.size(); ++row) {
      const Event& event = inits[row];
      if (found.announced[row]) continue;
      if (!is_before_node(event.thread, event.ns) && !is_last(event.thread, event.ns)) continue;
      found.own.add(event.process, event[handle], event.ns);
    }
    found.own.sort();
  }

  std::vector<Made> made_;
  OfMiddleware publishers_;
  OfMiddleware subscriptions_;
};

}  // namespace strata
