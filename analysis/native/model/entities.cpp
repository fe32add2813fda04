// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/entities.hpp"

#include <map>
#include <string>

namespace strata {
namespace {

struct PublisherFields {
  static constexpr int handle = field::rcl_publisher_init::publisher_handle;
  static constexpr int node = field::rcl_publisher_init::node_handle;
  static constexpr int rmw_handle = field::rcl_publisher_init::rmw_publisher_handle;
  static constexpr int topic = field::rcl_publisher_init::topic_name;
  static constexpr int queue_depth = field::rcl_publisher_init::queue_depth;
  static PublishersRows& rows(Rows& rows) { return rows.publishers; }
};

struct SubscriptionFields {
  static constexpr int handle = field::rcl_subscription_init::subscription_handle;
  static constexpr int node = field::rcl_subscription_init::node_handle;
  static constexpr int rmw_handle = field::rcl_subscription_init::rmw_subscription_handle;
  static constexpr int topic = field::rcl_subscription_init::topic_name;
  static constexpr int queue_depth = field::rcl_subscription_init::queue_depth;
  static SubscriptionsRows& rows(Rows& rows) { return rows.subscriptions; }
};

}  // namespace

// What a callback address was given to.
struct Entities::Owner {
  int64_t process = kNone;
  int64_t address = kNone;
  int64_t begin_ns = kNone;
  CallbackKind kind = CallbackKind::unknown;
  int64_t trigger = kNone;
  int64_t subscription = kNone;
  int64_t timer = kNone;
  int64_t node = kNone;
};

void Entities::on(const Event& event) {
  if (event.type == EventType::callback_start) {
    const HandleKey key{event.process, event[field::callback_start::callback]};
    if (registered_.find(key.process, key.handle) == kNone) {
      ran_unregistered_.try_emplace(key, event.ns);
    }
    return;
  }
  if (!introduces(event.type)) return;
  inits_[static_cast<size_t>(event.type)].push_back(event);
  switch (event.type) {
    case EventType::rcl_node_init:
      add_node(event);
      break;
    case EventType::rcl_publisher_init: {
      const int64_t row = add_endpoint<PublisherFields>(event);
      publishers_.begin(event.process, event[PublisherFields::handle], row);
      rmw_publishers_.begin(event.process, event[PublisherFields::rmw_handle], row);
      break;
    }
    case EventType::rcl_subscription_init: {
      const int64_t row = add_endpoint<SubscriptionFields>(event);
      subscriptions_.begin(event.process, event[SubscriptionFields::handle], row);
      rmw_subscriptions_.begin(event.process, event[SubscriptionFields::rmw_handle], row);
      break;
    }
    case EventType::rcl_timer_init:
      living_timers_.begin(event.process, event[field::rcl_timer_init::timer_handle],
                           static_cast<int64_t>(inits(event.type).size()) - 1);
      break;
    case EventType::rclcpp_callback_register:
      registered_.begin(event.process, event[field::rclcpp_callback_register::callback], 0);
      break;
    default:
      break;
  }
}

void Entities::add_node(const Event& event) {
  namespace f = field::rcl_node_init;
  const auto text = [this](int64_t number) {
    return number == kNone ? std::string("None") : std::string(context_.strings.texts[number]);
  };
  std::string name = text(event[f::namespace_]);
  name.resize(name.find_last_not_of('/') + 1);
  name += '/' + text(event[f::node_name]);
  const auto row = static_cast<size_t>(rows_.nodes.add());
  rows_.nodes.process[row] = event.process;
  rows_.nodes.handle[row] = event[f::node_handle];
  rows_.nodes.name[row] = context_.strings.texts.number(name);
  rows_.nodes.begin_ns[row] = event.ns;
  nodes_.begin(event.process, event[f::node_handle], static_cast<int64_t>(row));
}

template <typename Fields>
int64_t Entities::add_endpoint(const Event& event) {
  auto& rows = Fields::rows(rows_);
  const int64_t number = rows.add();
  const auto row = static_cast<size_t>(number);
  rows.process[row] = event.process;
  rows.handle[row] = event[Fields::handle];
  rows.rmw_handle[row] = event[Fields::rmw_handle];
  rows.node[row] = nodes_.find(event.process, event[Fields::node]);
  rows.topic[row] = event[Fields::topic];
  rows.queue_depth[row] = event[Fields::queue_depth];
  rows.begin_ns[row] = event.ns;
  return number;
}

void Entities::finish() {
  for (size_t row = 0; row < rows_.nodes.size(); ++row) {
    node_lives_.add(rows_.nodes.process[row], rows_.nodes.handle[row], rows_.nodes.begin_ns[row]);
  }
  node_lives_.sort();
  find_timers();
  find_callbacks();
}

// rclpy makes an rcl timer for each spin with a timeout and never tells a callback of it: only
// timers that a callback or a node was announced for are entities.
void Entities::find_timers() {
  namespace link = field::rclcpp_timer_link_node;
  const auto& made = inits(EventType::rcl_timer_init);
  for (const Event& event : made) {
    timer_lives_.add(event.process, event[field::rcl_timer_init::timer_handle], event.ns);
  }
  timer_lives_.sort();
  std::vector<int64_t> node(made.size(), kNone);
  std::vector<bool> kept(made.size(), false);
  for (const Event& event : inits(EventType::rclcpp_timer_callback_added)) {
    const int64_t row = timer_lives_.find(
        event.process, event[field::rclcpp_timer_callback_added::timer_handle], event.ns);
    if (row != kNone) kept[static_cast<size_t>(row)] = true;
  }
  for (const Event& event : inits(EventType::rclcpp_timer_link_node)) {
    const int64_t owner = node_at(event.process, event[link::node_handle], event.ns);
    link_lives_.add(event.process, event[link::timer_handle], event.ns);
    node_of_link_.push_back(owner);
    const int64_t row = timer_lives_.find(event.process, event[link::timer_handle], event.ns);
    if (row == kNone) continue;
    kept[static_cast<size_t>(row)] = true;
    node[static_cast<size_t>(row)] = owner;
  }
  link_lives_.sort();
  for (size_t i = 0; i < made.size(); ++i) {
    timer_row_.push_back(kept[i] ? rows_.timers.add() : kNone);
    if (!kept[i]) continue;
    const auto row = static_cast<size_t>(timer_row_.back());
    rows_.timers.process[row] = made[i].process;
    rows_.timers.handle[row] = made[i][field::rcl_timer_init::timer_handle];
    rows_.timers.period_ns[row] = made[i][field::rcl_timer_init::period];
    rows_.timers.node[row] = node[i];
    rows_.timers.begin_ns[row] = made[i].ns;
  }
}

int64_t Entities::timer_at(int64_t process, int64_t handle, int64_t ns) const {
  const int64_t row = timer_lives_.find(process, handle, ns);
  return row == kNone ? kNone : timer_row_[static_cast<size_t>(row)];
}

int64_t Entities::subscription_of_object(int64_t process, int64_t object, int64_t ns) const {
  const int64_t row = object_lives_.nearest(process, object, ns);
  return row == kNone ? kNone : subscription_of_object_[static_cast<size_t>(row)];
}

Entities::Owner Entities::owner_by_subscription(const Event& added) const {
  namespace f = field::rclcpp_subscription_callback_added;
  Owner owner{.process = added.process,
              .address = added[f::callback],
              .begin_ns = added.ns,
              .kind = CallbackKind::subscription};
  owner.subscription = subscription_of_object(added.process, added[f::subscription], added.ns);
  owner.trigger = pick(rows_.subscriptions.topic, owner.subscription);
  owner.node = pick(rows_.subscriptions.node, owner.subscription);
  return owner;
}

Entities::Owner Entities::owner_by_timer(const Event& added) const {
  namespace f = field::rclcpp_timer_callback_added;
  Owner owner{.process = added.process,
              .address = added[f::callback],
              .begin_ns = added.ns,
              .kind = CallbackKind::timer};
  owner.timer = timer_at(added.process, added[f::timer_handle], added.ns);
  // By the link itself, not by way of the timer, whose init event may be missing.
  const int64_t link = link_lives_.nearest(added.process, added[f::timer_handle], added.ns);
  if (link != kNone) owner.node = node_of_link_[static_cast<size_t>(link)];
  return owner;
}

Entities::Owner Entities::owner_by_service(const Event& added) const {
  namespace f = field::rclcpp_service_callback_added;
  const int64_t handle = added[f::service_handle];
  Owner owner{.process = added.process,
              .address = added[f::callback],
              .begin_ns = added.ns,
              .kind = is_of_action(handle) ? CallbackKind::action : CallbackKind::service};
  const int64_t service = service_lives_.find(added.process, handle, added.ns);
  if (service == kNone) return owner;
  const Event& init = inits(EventType::rcl_service_init)[static_cast<size_t>(service)];
  owner.trigger = init[field::rcl_service_init::service_name];
  owner.node = node_of_service_[static_cast<size_t>(service)];
  return owner;
}

std::vector<Entities::Owner> Entities::owners() const {
  std::vector<Owner> found;
  for (const Event& event : inits(EventType::rclcpp_subscription_callback_added)) {
    found.push_back(owner_by_subscription(event));
  }
  for (const Event& event : inits(EventType::rclcpp_timer_callback_added)) {
    found.push_back(owner_by_timer(event));
  }
  for (const Event& event : inits(EventType::rclcpp_service_callback_added)) {
    found.push_back(owner_by_service(event));
  }
  return found;
}

void Entities::find_callbacks() {
  Lifetimes subscription_lives;
  for (size_t row = 0; row < rows_.subscriptions.size(); ++row) {
    const auto& known = rows_.subscriptions;
    subscription_lives.add(known.process[row], known.handle[row], known.begin_ns[row]);
  }
  subscription_lives.sort();
  for (const Event& event : inits(EventType::rclcpp_subscription_init)) {
    namespace f = field::rclcpp_subscription_init;
    object_lives_.add(event.process, event[f::subscription], event.ns);
    subscription_of_object_.push_back(
        subscription_lives.find(event.process, event[f::subscription_handle], event.ns));
  }
  object_lives_.sort();
  for (const Event& event : inits(EventType::rcl_service_init)) {
    namespace f = field::rcl_service_init;
    service_lives_.add(event.process, event[f::service_handle], event.ns);
    node_of_service_.push_back(node_at(event.process, event[f::node_handle], event.ns));
  }
  service_lives_.sort();

  const std::vector<Owner> given = owners();
  Lifetimes registrations;
  Lifetimes owner_lives;
  for (const Event& event : inits(EventType::rclcpp_callback_register)) {
    namespace f = field::rclcpp_callback_register;
    registrations.add(event.process, event[f::callback], event.ns);
    add_callback(event.process, event[f::callback], event[f::symbol], event.ns);
  }
  registrations.sort();
  // Callbacks that ran before, or were given to an owner without, any registration.
  std::map<HandleKey, int64_t> rest(ran_unregistered_.begin(), ran_unregistered_.end());
  for (const Owner& owner : given) {
    owner_lives.add(owner.process, owner.address, owner.begin_ns);
    if (registrations.has(owner.process, owner.address)) continue;
    const auto [known, fresh] =
        rest.try_emplace(HandleKey{owner.process, owner.address}, owner.begin_ns);
    if (!fresh) known->second = std::min(known->second, owner.begin_ns);
  }
  owner_lives.sort();
  for (const auto& [key, begin_ns] : rest) add_callback(key.process, key.handle, kNone, begin_ns);
  callback_lives_.sort();

  auto& callbacks = rows_.callbacks;
  for (size_t row = 0; row < callbacks.size(); ++row) {
    // Over all kinds at once: an address that was a subscription's callback may become a timer's.
    const int64_t found = owner_lives.nearest(callbacks.process[row], callbacks.address[row],
                                              callbacks.begin_ns[row]);
    if (found == kNone) continue;
    const Owner& owner = given[static_cast<size_t>(found)];
    callbacks.kind[row] = static_cast<int64_t>(owner.kind);
    callbacks.trigger[row] = owner.trigger;
    callbacks.subscription[row] = owner.subscription;
    callbacks.timer[row] = owner.timer;
    callbacks.node[row] = owner.node;
  }
}

void Entities::add_callback(int64_t process, int64_t address, int64_t symbol, int64_t begin_ns) {
  auto& callbacks = rows_.callbacks;
  const auto row = static_cast<size_t>(callbacks.add());
  callbacks.process[row] = process;
  callbacks.address[row] = address;
  callbacks.symbol[row] = symbol;
  callbacks.kind[row] = static_cast<int64_t>(CallbackKind::unknown);
  callbacks.begin_ns[row] = begin_ns;
  callback_lives_.add(process, address, begin_ns);
}

}  // namespace strata
