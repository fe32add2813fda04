// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/uses/ring_buffer_uses.hpp"

#include <algorithm>
#include <unordered_map>

namespace strata {

RingBufferUses::RingBufferUses(Context& context, const Entities& entities,
                               const Column<int32_t>& place)
    : context_(context),
      place_(place),
      cleared_ns_(place.size(), kNone),
      given_ns_(place.size(), INT64_MAX),
      taken_ns_(place.size(), kNone) {
  namespace f = field::rclcpp_buffer_to_ipb;
  std::unordered_map<HandleKey, int64_t, HandleHash> first_ns;
  for (const Event& event : entities.inits(EventType::rclcpp_buffer_to_ipb)) {
    const auto [known, fresh] = first_ns.try_emplace({event.process, event[f::buffer]}, event.ns);
    if (!fresh) known->second = std::min(known->second, event.ns);
  }
  const auto& buffers = context.rows.ring_buffers;
  for (size_t row = 0; row < buffers.size(); ++row) {
    const auto known = first_ns.find({buffers.process[row], buffers.address[row]});
    if (known != first_ns.end()) given_ns_[row] = known->second;
  }
}

void RingBufferUses::clear(int64_t buffer, int64_t ns) {
  cleared_ns_[static_cast<size_t>(place_[static_cast<size_t>(buffer)])] = ns;
}

void RingBufferUses::count_enqueue(size_t row, const Next& next) {
  const auto& rows = context_.rows.enqueues;
  if (next.takes) taken_ns_[static_cast<size_t>(rows.buffer[row])] = rows.ns[row];
  const Use use = use_of_enqueue(row, next, false);
  context_.uses.count(EventType::rclcpp_ring_buffer_enqueue, use);
}

void RingBufferUses::count_left(size_t row) {
  context_.uses.count(EventType::rclcpp_ring_buffer_enqueue, use_of_enqueue(row, {}, true));
}

bool RingBufferUses::is_known(size_t buffer, int64_t ns) const {
  const auto& buffers = context_.rows.ring_buffers;
  return buffers.subscription[buffer] != kNone || context_.uses.is_older(buffers.process[buffer]) ||
         context_.settings.losses.touch(0, ns);
}

Use RingBufferUses::use_of_enqueue(size_t row, const Next& next, bool is_last) const {
  const auto& rows = context_.rows.enqueues;
  const Losses& losses = context_.settings.losses;
  const auto buffer = static_cast<size_t>(rows.buffer[row]);
  const int64_t ns = rows.ns[row];
  if (rows.stored[row] != 0 && is_known(buffer, ns)) {
    if (next.takes) return Use::stored;
    if (next.overwrites) return Use::stored_overwritten;
    if (cleared_ns_[static_cast<size_t>(place_[buffer])] > ns) return Use::stored_cleared;
    if (is_last && ns > taken_ns_[buffer]) return Use::stored_left;
  }
  if (rows.stored[row] == 0 && given_ns_[buffer] <= ns) return Use::stored_by_publisher;
  const bool is_lost = losses.touch(ns, next.ns) || (rows.stored[row] == 0 && losses.touch(0, ns));
  return is_lost ? Use::partner_lost : Use::unexplained;
}

void RingBufferUses::count_dequeue(size_t row, bool is_paired, bool has_before, int64_t before_ns) {
  const auto& rows = context_.rows.dequeues;
  const auto& buffers = context_.rows.ring_buffers;
  const Losses& losses = context_.settings.losses;
  const auto buffer = static_cast<size_t>(rows.buffer[row]);
  const int64_t ns = rows.ns[row];
  Use use = Use::unexplained;
  if (is_paired && is_known(buffer, ns)) {
    use = Use::take;
  } else if (losses.touch(has_before ? before_ns : 0, ns) ||
             (buffers.subscription[buffer] == kNone && losses.touch(0, ns))) {
    use = Use::take_lost;
  } else if (!has_before && context_.uses.is_older(buffers.process[buffer])) {
    use = Use::take_earlier;
  }
  context_.uses.count(EventType::rclcpp_ring_buffer_dequeue, use);
}

}  // namespace strata
