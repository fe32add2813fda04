// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What sensor drivers read, the frames that they made of it, and the messages of these frames.
//
// Data arrived at this host at the event's time less `queue_ns`. The counter of what a queue has
// dropped never falls. A frame of packets is complete when the driver says so; a frame of an
// appsink is one buffer.
//
// A publication is made of the frame of the last *mark* before it on its thread, when both lie in
// one execution of a callback or both outside of all, and the thread did no other work of the
// client library in between, read nothing and completed no other frame. Marks are cloud_ready and
// copy_done, and the frame_boundary of a frame of one packet of a source that has no others: that
// is known at the end only, so every publication after any of these is a candidate. Where a driver
// tells of no frames, it is made of what its thread had read last.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "model/context.hpp"
#include "model/driver/links.hpp"
#include "model/event.hpp"
#include "model/executions.hpp"
#include "model/lifetimes.hpp"
#include "model/steps.hpp"

namespace strata::driver {

enum class FrameEvent : uint8_t { boundary, pulled, cloud_ready, copy_done };

// What frame_boundary says of a frame; one row a boundary, in order of time.
struct Boundaries {
  Column<int64_t> packets;
  Column<int64_t> missing;
  Column<int64_t> first_sequence;
  Column<int64_t> last_sequence;
};

class Driver {
 public:
  Driver(Context& context, Executions& executions)
      : context_(context), executions_(executions), rows_(context.rows) {}

  static constexpr bool wants(EventType type) {
    return is_of_driver(type) || type == EventType::rmw_publish ||
           type == EventType::rclcpp_intra_publish || type == EventType::callback_start ||
           ends_wait_for_callback(type);
  }
  void on(const Event& event) {
    if (recorded_ || is_of_driver(event.type)) follow(event);
  }
  // Whole-run rules: after executions and published messages.
  void finish();

 private:
  void follow(const Event& event);
  size_t source_of(const Event& event);
  void on_init(const Event& event);
  void on_read(const Event& event, bool is_packet);
  void on_frame_event(const Event& event, FrameEvent kind);
  void sort_sources();
  void subtract_earlier_drops();

  Context& context_;
  Executions& executions_;
  Rows& rows_;
  bool recorded_ = false;  // any event of a driver
  std::unordered_map<HandleKey, size_t, HandleHash> sources_;
  HandleKey recent_key_{kNone, kNone};
  size_t recent_ = 0;
  Column<int64_t> greatest_;  // by source: its counter of drops
  Column<int64_t> number_;    // by frame event: that of its frame
  Boundaries boundaries_;
  PerThread<Mark> last_;  // that a publication may be made of
  Candidates candidates_;
};

}  // namespace strata::driver
