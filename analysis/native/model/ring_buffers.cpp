// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/ring_buffers.hpp"

#include <unordered_map>

namespace strata {

void RingBuffers::on(const Event& event) {
  switch (event.type) {
    case EventType::rclcpp_construct_ring_buffer: {
      auto& rows = context_.rows.ring_buffers;
      const int64_t number = rows.add();
      const auto row = static_cast<size_t>(number);
      rows.process[row] = static_cast<int32_t>(event.process);
      rows.address[row] = event[field::rclcpp_construct_ring_buffer::buffer];
      rows.begin_ns[row] = event.ns;
      rows.thread[row] = static_cast<int32_t>(event.thread);
      known_.begin(event.process, rows.address[row], number);
      break;
    }
    case EventType::rclcpp_ring_buffer_enqueue: {
      namespace f = field::rclcpp_ring_buffer_enqueue;
      auto& rows = context_.rows.enqueues;
      const auto row = static_cast<size_t>(rows.add());
      rows.thread[row] = static_cast<int32_t>(event.thread);
      rows.ns[row] = event.ns;
      rows.at[row] = static_cast<int64_t>(event.at);
      rows.buffer[row] = static_cast<int32_t>(buffer_of(event, event[f::buffer]));
      rows.slot[row] = event[f::index];
      rows.overwrites[row] = event[f::overwritten] == 1 ? 1 : 0;
      break;
    }
    case EventType::rclcpp_ring_buffer_dequeue: {
      namespace f = field::rclcpp_ring_buffer_dequeue;
      auto& rows = context_.rows.dequeues;
      const auto row = static_cast<size_t>(rows.add());
      rows.thread[row] = static_cast<int32_t>(event.thread);
      rows.ns[row] = event.ns;
      rows.at[row] = static_cast<int64_t>(event.at);
      rows.buffer[row] = static_cast<int32_t>(buffer_of(event, event[f::buffer]));
      rows.slot[row] = event[f::index];
      rows.size_left[row] = event[f::size];
      break;
    }
    default:
      break;
  }
}

// One that was made before the trace began gets its row when an event first names it.
int64_t RingBuffers::buffer_of(const Event& event, int64_t address) {
  const int64_t known = known_.find(event.process, address);
  if (known != kNone) return known;
  auto& rows = context_.rows.ring_buffers;
  const int64_t row = rows.add();
  rows.process[static_cast<size_t>(row)] = static_cast<int32_t>(event.process);
  rows.address[static_cast<size_t>(row)] = address;
  known_.begin(event.process, address, row);
  return row;
}

void RingBuffers::finish() {
  find_subscriptions();
  find_stored();
  pair();
}

// By way of the buffer's owner: buffer, intra-process buffer, rclcpp's subscription. The
// subscription is announced after its buffer.
void RingBuffers::find_subscriptions() {
  namespace given = field::rclcpp_buffer_to_ipb;
  namespace owned = field::rclcpp_ipb_to_subscription;
  const auto& givens = entities_.inits(EventType::rclcpp_buffer_to_ipb);
  const auto& owners = entities_.inits(EventType::rclcpp_ipb_to_subscription);
  Lifetimes of_buffer, of_ipb;
  for (const Event& event : givens) of_buffer.add(event.process, event[given::buffer], event.ns);
  for (const Event& event : owners) of_ipb.add(event.process, event[owned::ipb], event.ns);
  of_buffer.sort();
  of_ipb.sort();
  auto& rows = context_.rows.ring_buffers;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows.begin_ns[row] == kNone) continue;
    const int64_t process = rows.process[row];
    const int64_t ipb = of_buffer.nearest(process, rows.address[row], rows.begin_ns[row]);
    if (ipb == kNone) continue;
    const Event& to_ipb = givens[static_cast<size_t>(ipb)];
    const int64_t owner = of_ipb.nearest(process, to_ipb[given::ipb], to_ipb.ns);
    if (owner == kNone) continue;
    const Event& to_subscription = owners[static_cast<size_t>(owner)];
    rows.subscription[row] = static_cast<int32_t>(entities_.subscription_of_object(
        process, to_subscription[owned::subscription], to_subscription.ns));
  }
}

// A buffer of no known making may be a subscription's; one that was made and given to none is a
// publisher's.
void RingBuffers::find_stored() {
  const auto& buffers = context_.rows.ring_buffers;
  auto& rows = context_.rows.enqueues;
  int64_t of_publishers = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    const auto buffer = static_cast<size_t>(rows.buffer[row]);
    const bool stored = buffers.begin_ns[buffer] == kNone || buffers.subscription[buffer] != kNone;
    rows.stored[row] = stored ? 1 : 0;
    of_publishers += stored ? 0 : 1;
  }
  context_.ledger.add(Finding::publisher_buffer_enqueues, of_publishers);
}

// Enqueues come before dequeues of the same instant.
void RingBuffers::pair() {
  struct Slot {
    int64_t enqueue = kNone;  // the last event of the slot, if it was one
    int64_t number = 0;       // of this enqueue among those of its buffer
  };
  auto& enqueues = context_.rows.enqueues;
  auto& dequeues = context_.rows.dequeues;
  std::vector<int64_t> stored(context_.rows.ring_buffers.size(), 0);  // enqueues, by buffer
  std::unordered_map<HandleKey, Slot, HandleHash> slots;              // by buffer and slot
  int64_t contradictory = 0, overwrites = 0, unmatched = 0;
  size_t next = 0;
  const auto enqueue = [&](size_t row) {
    const auto buffer = static_cast<size_t>(enqueues.buffer[row]);
    Slot& slot = slots[{enqueues.buffer[row], enqueues.slot[row]}];
    if (slot.enqueue != kNone && enqueues.overwrites[row] != 0) {
      const auto lost = static_cast<size_t>(slot.enqueue);
      enqueues.displaced[lost] = enqueues.stored[lost];
      overwrites += enqueues.displaced[lost];
    }
    slot = {static_cast<int64_t>(row), ++stored[buffer]};
  };
  for (size_t row = 0; row < dequeues.size(); ++row) {
    while (next < enqueues.size() && enqueues.ns[next] <= dequeues.ns[row]) enqueue(next++);
    Slot& slot = slots[{dequeues.buffer[row], dequeues.slot[row]}];
    const int64_t taken = slot.enqueue;
    slot.enqueue = kNone;
    ++unmatched;
    if (taken == kNone || enqueues.stored[static_cast<size_t>(taken)] == 0) continue;
    const int64_t younger = stored[static_cast<size_t>(dequeues.buffer[row])] - slot.number;
    if (younger != dequeues.size_left[row]) {
      ++contradictory;
      continue;
    }
    --unmatched;
    dequeues.enqueue[row] = static_cast<int32_t>(taken);
    enqueues.dequeue[static_cast<size_t>(taken)] = static_cast<int32_t>(row);
  }
  while (next < enqueues.size()) enqueue(next++);
  context_.ledger.add(Finding::contradictory_ring_buffers, contradictory);
  context_.ledger.add(Finding::ring_buffer_overwrites, overwrites);
  context_.ledger.add(Finding::unmatched_dequeues, unmatched);
}

}  // namespace strata
