// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/uses/entity_uses.hpp"

#include <algorithm>

namespace strata {
namespace {

// Services of a lifecycle node, whose handles rclcpp_lifecycle copies.
constexpr int64_t kLifecycleServices = 5;

}  // namespace

EntityUses::Handles EntityUses::made(EventType type, int field) const {
  Handles found;
  for (const Event& event : entities_.inits(type)) found.insert({event.process, event[field]});
  return found;
}

EntityUses::Times EntityUses::times(EventType type) const {
  Times found;
  for (const Event& event : entities_.inits(type)) found.emplace_back(event.thread, event.ns);
  std::ranges::sort(found);
  return found;
}

// What an event names may be introduced after it, where `may_come_later`; `other` is why it is not
// used where it is not known.
void EntityUses::count(const Event& event, bool is_resolved, bool may_come_later, Use other) {
  const Losses& losses = context_.settings.losses;
  Use use = Use::entity;
  if (!is_resolved) {
    const bool is_lost = may_come_later ? !losses.none() : losses.touch(0, event.ns);
    if (other != Use::unexplained) {
      use = other;
    } else if (is_lost) {
      use = Use::names_lost;
    } else {
      use = context_.uses.is_older(event.process) ? Use::names_older : Use::unexplained;
    }
  }
  context_.uses.count(event.type, use);
}

void EntityUses::finish(const Announcements& announcements,
                        const std::vector<bool>& picked_timers) {
  using enum EventType;
  const auto add = [](Lifetimes& lives, const auto& rows) {
    for (size_t row = 0; row < rows.size(); ++row) {
      lives.add(rows.process[row], rows.handle[row], rows.begin_ns[row]);
    }
    lives.sort();
  };
  add(subscriptions_, context_.rows.subscriptions);
  add(publishers_, context_.rows.publishers);
  count_introduced(rcl_init, field::rcl_init::context_handle);
  count_introduced(rcl_node_init, field::rcl_node_init::node_handle);
  count_introduced(rmw_client_init, field::rmw_client_init::rmw_client_handle);
  count_introduced(rclcpp_construct_ring_buffer, field::rclcpp_construct_ring_buffer::buffer);
  count_chosen();
  count_timers(picked_timers);
  count_callbacks();
  count_endpoints(rmw_publisher_init, Use::publisher_gid, announcements.publishers(),
                  announcements);
  count_endpoints(rmw_subscription_init, Use::subscription_gid, announcements.subscriptions(),
                  announcements);
  count_links(message_link_periodic_async, field::message_link_periodic_async::subs,
              field::message_link_periodic_async::pubs);
  count_links(message_link_partial_sync, field::message_link_partial_sync::subs,
              field::message_link_partial_sync::pubs);
}

// Events that name others, which some event must have introduced.
void EntityUses::count_chosen() {
  using enum EventType;
  const Handles nodes = made(rcl_node_init, field::rcl_node_init::node_handle);
  const Handles timers = made(rcl_timer_init, field::rcl_timer_init::timer_handle);
  const Handles subscriptions =
      made(rcl_subscription_init, field::rcl_subscription_init::subscription_handle);
  const Handles objects =
      made(rclcpp_subscription_init, field::rclcpp_subscription_init::subscription);
  const Handles buffers =
      made(rclcpp_construct_ring_buffer, field::rclcpp_construct_ring_buffer::buffer);
  const Handles given = made(rclcpp_buffer_to_ipb, field::rclcpp_buffer_to_ipb::ipb);
  count_referring(rcl_publisher_init, {{field::rcl_publisher_init::node_handle, &nodes}});
  count_referring(rcl_subscription_init, {{field::rcl_subscription_init::node_handle, &nodes}});
  count_referring(rcl_service_init, {{field::rcl_service_init::node_handle, &nodes}});
  count_referring(rcl_client_init, {{field::rcl_client_init::node_handle, &nodes}});
  count_referring(rcl_lifecycle_state_machine_init,
                  {{field::rcl_lifecycle_state_machine_init::node_handle, &nodes}});
  count_referring(rclcpp_subscription_init,
                  {{field::rclcpp_subscription_init::subscription_handle, &subscriptions}});
  count_referring(rclcpp_timer_callback_added,
                  {{field::rclcpp_timer_callback_added::timer_handle, &timers}});
  count_referring(rclcpp_timer_link_node, {{field::rclcpp_timer_link_node::timer_handle, &timers},
                                           {field::rclcpp_timer_link_node::node_handle, &nodes}});
  count_referring(rclcpp_buffer_to_ipb, {{field::rclcpp_buffer_to_ipb::buffer, &buffers}});
  count_referring(rclcpp_ipb_to_subscription,
                  {{field::rclcpp_ipb_to_subscription::ipb, &given},
                   {field::rclcpp_ipb_to_subscription::subscription, &objects}});
  count_subscription_callbacks(subscriptions);
  count_service_callbacks(made(rcl_service_init, field::rcl_service_init::service_handle));
  count_transitions(made(rcl_lifecycle_state_machine_init,
                         field::rcl_lifecycle_state_machine_init::state_machine));
}

void EntityUses::count_introduced(EventType type, int field) {
  for (const Event& event : entities_.inits(type)) {
    const bool has = event[field] != kNone && event[field] != 0;
    context_.uses.count(type, has ? Use::entity : Use::unexplained);
  }
}

void EntityUses::count_referring(EventType type, std::initializer_list<End> ends) {
  for (const Event& event : entities_.inits(type)) {
    const bool is_resolved = std::ranges::all_of(ends, [&event](const End& end) {
      return end.known->contains({event.process, event[end.field]});
    });
    count(event, is_resolved, type == EventType::rclcpp_ipb_to_subscription);
  }
}

// The client library's subscription must be known, and be one of rcl's.
void EntityUses::count_subscription_callbacks(const Handles& subscriptions) {
  namespace init = field::rclcpp_subscription_init;
  namespace added = field::rclcpp_subscription_callback_added;
  const auto& inits = entities_.inits(EventType::rclcpp_subscription_init);
  Lifetimes objects;
  for (const Event& event : inits) objects.add(event.process, event[init::subscription], event.ns);
  objects.sort();
  for (const Event& event : entities_.inits(EventType::rclcpp_subscription_callback_added)) {
    const int64_t bound = objects.nearest(event.process, event[added::subscription], event.ns);
    bool is_resolved = false;
    if (bound != kNone) {
      const Event& made = inits[static_cast<size_t>(bound)];
      is_resolved = subscriptions.contains({made.process, made[init::subscription_handle]});
    }
    count(event, is_resolved, true);
  }
}

// The service must be known, or be one of those that a lifecycle node makes in rcl.
// rclcpp_lifecycle copies their handles: the callbacks of the five copies follow the node's state
// machine on its thread, before any other service is made.
void EntityUses::count_service_callbacks(const Handles& services) {
  using enum EventType;
  namespace f = field::rclcpp_service_callback_added;
  const Times machines = times(rcl_lifecycle_state_machine_init);
  const Times made = times(rcl_service_init);
  const Times added = times(rclcpp_service_callback_added);
  const auto between = [](const Times& all, uint32_t thread, int64_t begin_ns, int64_t end_ns) {
    const auto place = [&](int64_t ns) {
      return std::ranges::upper_bound(all, std::make_pair(thread, ns));
    };
    return place(end_ns) - place(begin_ns);
  };
  for (const Event& event : entities_.inits(rclcpp_service_callback_added)) {
    const int64_t handle = event[f::service_handle];
    if (is_of_action(handle) || services.contains({event.process, handle})) {
      count(event, true);
      continue;
    }
    const auto after = std::ranges::upper_bound(machines, std::make_pair(event.thread, event.ns));
    const bool has_machine = after != machines.begin() && (after - 1)->first == event.thread;
    const bool is_copy =
        has_machine && between(made, event.thread, (after - 1)->second, event.ns) == 0 &&
        between(added, event.thread, (after - 1)->second, event.ns) <= kLifecycleServices;
    count(event, false, false, is_copy ? Use::lifecycle_copy : Use::unexplained);
  }
}

void EntityUses::count_timers(const std::vector<bool>& picked) {
  const auto& inits = entities_.inits(EventType::rcl_timer_init);
  for (size_t i = 0; i < inits.size(); ++i) {
    const bool was_picked = i < picked.size() && picked[i];
    count(inits[i], entities_.timers()[i] != kNone, false,
          was_picked ? Use::unexplained : Use::spin_timer);
  }
}

// A callback that was registered must have been given to somebody.
void EntityUses::count_callbacks() {
  const auto& inits = entities_.inits(EventType::rclcpp_callback_register);
  for (size_t i = 0; i < inits.size(); ++i) {
    // The callbacks begin with those that were registered.
    const bool given =
        context_.rows.callbacks.kind[i] != static_cast<int64_t>(CallbackKind::unknown);
    count(inits[i], given, true);
  }
}

void EntityUses::count_endpoints(EventType type, Use gid, const Announcements::OfMiddleware& known,
                                 const Announcements& announcements) {
  const auto& inits = entities_.inits(type);
  for (size_t i = 0; i < inits.size(); ++i) {
    const Event& event = inits[i];
    Use use = Use::unexplained;
    if (known.announced[i]) {
      use = gid;
    } else if (announcements.is_before_node(event.thread, event.ns)) {
      use = Use::of_middleware;
    } else if (context_.settings.losses.touch(event.ns, INT64_MAX)) {
      use = Use::init_lost;
    } else if (announcements.is_last(event.thread, event.ns)) {
      use = Use::init_beyond;
    }
    context_.uses.count(type, use);
  }
}

// All ends of a link between messages must be known.
void EntityUses::count_links(EventType type, int subscriptions, int publishers) {
  for (const Event& event : entities_.inits(type)) {
    const auto are_known = [&](int field, const Lifetimes& lives) {
      if (event[field] == kNone) return false;
      const auto& handles = context_.strings.lists[static_cast<size_t>(event[field])];
      return !handles.empty() && std::ranges::all_of(handles, [&](int64_t handle) {
        return lives.find(event.process, handle, event.ns) != kNone;
      });
    };
    count(event, are_known(subscriptions, subscriptions_) && are_known(publishers, publishers_));
  }
}

void EntityUses::count_transitions(const Handles& machines) {
  EventUses& uses = context_.uses;
  for (const Transition& one : transitions_) {
    const bool is_known = machines.contains({one.process, one.machine});
    const bool may_be = context_.settings.losses.touch(0, one.ns) || uses.is_older(one.process);
    const Use other = may_be ? Use::unknown_node_state : Use::unexplained;
    uses.count(EventType::rcl_lifecycle_transition, is_known ? Use::node_state : other);
  }
}

}  // namespace strata
