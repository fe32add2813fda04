// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/ring_buffers.hpp"

#include <unordered_map>
#include <vector>

#include "model/uses/ring_buffer_uses.hpp"

namespace strata {

void RingBuffers::on(const Event& event) {
  switch (event.type) {
    case EventType::rclcpp_construct_ring_buffer: {
      auto& rows = context_.rows.ring_buffers;
      const int64_t row = add(event, event[field::rclcpp_construct_ring_buffer::buffer]);
      rows.begin_ns[static_cast<size_t>(row)] = event.ns;
      rows.thread[static_cast<size_t>(row)] = static_cast<int32_t>(event.thread);
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
    case EventType::rclcpp_ring_buffer_clear:
      on_clear(event);
      break;
    default:
      break;
  }
}

int64_t RingBuffers::add(const Event& event, int64_t address) {
  auto& rows = context_.rows.ring_buffers;
  const int64_t before = known_.find(event.process, address);
  const int64_t row = rows.add();
  rows.process[static_cast<size_t>(row)] = static_cast<int32_t>(event.process);
  rows.address[static_cast<size_t>(row)] = address;
  place_.push_back(static_cast<int32_t>(before == kNone ? row : pick(place_, before)));
  known_.begin(event.process, address, row);
  return row;
}

// One that was made before the trace began gets its row when an event first names it.
int64_t RingBuffers::buffer_of(const Event& event, int64_t address) {
  const int64_t known = known_.find(event.process, address);
  return known != kNone ? known : add(event, address);
}

// What was cleared is never dequeued.
void RingBuffers::on_clear(const Event& event) {
  const int64_t buffer = buffer_of(event, event[field::rclcpp_ring_buffer_clear::buffer]);
  cleared_.push_back(static_cast<int32_t>(buffer));
  cleared_ns_.push_back(event.ns);
  const bool is_made = pick(context_.rows.ring_buffers.begin_ns, buffer) != kNone;
  if (is_made || context_.settings.losses.touch(0, event.ns)) {
    context_.uses.count(event.type, Use::cleared);
  } else {
    context_.uses.count_by_age(event.type, event.process, Use::cleared, Use::unexplained);
  }
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

namespace {

// Follows the slots of all buffers in order of time; enqueues come before dequeues of the same
// instant.
class Pairing {
 public:
  Pairing(Rows& rows, RingBufferUses& uses)
      : enqueues_(rows.enqueues),
        dequeues_(rows.dequeues),
        uses_(uses),
        stored_(rows.ring_buffers.size(), 0) {}

  void enqueue(size_t row) {
    const int32_t buffer = enqueues_.buffer[row];
    const bool overwrites = enqueues_.overwrites[row] != 0;
    Slot& slot = slots_[{buffer, enqueues_.slot[row]}];
    if (slot.enqueue != kNone) {
      const auto before = static_cast<size_t>(slot.enqueue);
      if (overwrites) {
        enqueues_.displaced[before] = enqueues_.stored[before];
        overwritten += enqueues_.displaced[before];
      }
      uses_.count_enqueue(before, {.ns = enqueues_.ns[row], .overwrites = overwrites});
    }
    slot = {static_cast<int64_t>(row), ++stored_[static_cast<size_t>(buffer)], enqueues_.ns[row],
            true};
  }

  void dequeue(size_t row) {
    Slot& slot = slots_[{dequeues_.buffer[row], dequeues_.slot[row]}];
    const bool is_paired = take(slot, row);
    if (slot.enqueue != kNone) {
      uses_.count_enqueue(static_cast<size_t>(slot.enqueue),
                          {.ns = dequeues_.ns[row], .takes = is_paired});
    }
    uses_.count_dequeue(row, is_paired, slot.is_used, slot.ns);
    slot = {kNone, 0, dequeues_.ns[row], true};
    unmatched += is_paired ? 0 : 1;
  }

  void finish() {
    for (const auto& [key, slot] : slots_) {
      if (slot.enqueue != kNone) uses_.count_left(static_cast<size_t>(slot.enqueue));
    }
  }

  int64_t overwritten = 0;
  int64_t contradictory = 0;
  int64_t unmatched = 0;

 private:
  struct Slot {
    int64_t enqueue = kNone;  // the last event of the slot, if it was one
    int64_t number = 0;       // of this enqueue among those of its buffer
    int64_t ns = kNone;       // of the last event of the slot
    bool is_used = false;     // it had an event
  };

  bool take(const Slot& slot, size_t row) {
    if (slot.enqueue == kNone) return false;
    const auto taken = static_cast<size_t>(slot.enqueue);
    if (enqueues_.stored[taken] == 0) return false;
    const int64_t younger = stored_[static_cast<size_t>(dequeues_.buffer[row])] - slot.number;
    if (younger != dequeues_.size_left[row]) {
      ++contradictory;
      return false;
    }
    dequeues_.enqueue[row] = static_cast<int32_t>(taken);
    enqueues_.dequeue[taken] = static_cast<int32_t>(row);
    return true;
  }

  EnqueuesRows& enqueues_;
  DequeuesRows& dequeues_;
  RingBufferUses& uses_;
  std::vector<int64_t> stored_;                            // enqueues, by buffer
  std::unordered_map<HandleKey, Slot, HandleHash> slots_;  // by buffer and slot
};

}  // namespace

void RingBuffers::pair() {
  auto& enqueues = context_.rows.enqueues;
  auto& dequeues = context_.rows.dequeues;
  RingBufferUses uses(context_, entities_, place_);
  Pairing pairing(context_.rows, uses);
  size_t cleared = 0, enqueue = 0;
  const auto clear_until = [&](int64_t ns) {
    for (; cleared < cleared_.size() && cleared_ns_[cleared] <= ns; ++cleared) {
      uses.clear(cleared_[cleared], cleared_ns_[cleared]);
    }
  };
  const auto enqueue_until = [&](int64_t ns) {
    for (; enqueue < enqueues.size() && enqueues.ns[enqueue] <= ns; ++enqueue) {
      clear_until(enqueues.ns[enqueue]);
      pairing.enqueue(enqueue);
    }
  };
  for (size_t row = 0; row < dequeues.size(); ++row) {
    enqueue_until(dequeues.ns[row]);
    clear_until(dequeues.ns[row]);
    pairing.dequeue(row);
  }
  enqueue_until(INT64_MAX);
  clear_until(INT64_MAX);
  pairing.finish();
  context_.ledger.add(Finding::contradictory_ring_buffers, pairing.contradictory);
  context_.ledger.add(Finding::ring_buffer_overwrites, pairing.overwritten);
  context_.ledger.add(Finding::unmatched_dequeues, pairing.unmatched);
}

}  // namespace strata
