// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Messages within one process: what went into ring buffers and came out of them.
//
// A ring buffer has slots that are written and read in turn. A dequeue takes what the last enqueue
// before it put into its slot. Both tell the number of messages in the buffer, which proves it: the
// messages that a dequeue leaves are exactly those that were stored after the one that it took.
// When the numbers do not agree, events were lost in between and the pair is refused.
//
// A full buffer overwrites its oldest message: the enqueue that does it says so. A buffer that
// belongs to a publisher (transient local) has no subscription; its enqueues are no transfers.
#pragma once

#include <cstdint>
#include <vector>

#include "model/context.hpp"
#include "model/entities.hpp"
#include "model/event.hpp"
#include "model/steps.hpp"

namespace strata {

class RingBuffers {
 public:
  RingBuffers(Context& context, const Entities& entities)
      : context_(context), entities_(entities) {}

  // Adds the row of an enqueue or a dequeue; counts what a clear was used for.
  static constexpr bool wants(EventType type) {
    return type == EventType::rclcpp_construct_ring_buffer ||
           type == EventType::rclcpp_ring_buffer_enqueue ||
           type == EventType::rclcpp_ring_buffer_dequeue ||
           type == EventType::rclcpp_ring_buffer_clear;
  }
  void on(const Event& event);
  // Whose buffers are, and which dequeue took which enqueue's message; counts their uses.
  void finish();

 private:
  int64_t add(const Event& event, int64_t address);
  int64_t buffer_of(const Event& event, int64_t address);
  void on_clear(const Event& event);
  void find_subscriptions();
  void find_stored();
  void pair();

  Context& context_;
  const Entities& entities_;
  Living known_;
  Column<int32_t> place_;  // by buffer: the first one of its address
  // Which buffers were cleared, in order of time.
  Column<int32_t> cleared_;
  Column<int64_t> cleared_ns_;
};

}  // namespace strata
