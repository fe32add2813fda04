// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/driver/driver.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "model/arrange.hpp"
#include "model/differences.hpp"
#include "model/driver/frames.hpp"
#include "model/driver/losses.hpp"
#include "model/steps.hpp"
#include "model/uses/driver_uses.hpp"

namespace strata::driver {

void Driver::follow(const Event& event) {
  using enum EventType;
  switch (event.type) {
    case source_init:
      on_init(event);
      return;
    case packet_received:
      on_read(event, true);
      return;
    case buffer_pulled:
      on_read(event, false);
      return;
    case frame_boundary:
      on_frame_event(event, FrameEvent::boundary);
      return;
    case cloud_ready:
      on_frame_event(event, FrameEvent::cloud_ready);
      return;
    case copy_done:
      on_frame_event(event, FrameEvent::copy_done);
      return;
    case rmw_publish:
    case rclcpp_intra_publish:
      if (recorded_ && last_[event.thread].row != kNone) {
        candidates_.add(static_cast<int64_t>(event.at), last_[event.thread]);
      }
      return;
    default:
      if (!recorded_) return;
      if (event.type == callback_start || ends_wait_for_callback(event.type)) {
        last_[event.thread].row = kNone;
      }
  }
}

// All events of drivers name their source first.
size_t Driver::source_of(const Event& event) {
  static_assert(field::source_init::source == 0 && field::packet_received::source == 0 &&
                field::frame_boundary::source == 0 && field::buffer_pulled::source == 0 &&
                field::cloud_ready::source == 0 && field::copy_done::source == 0);
  const HandleKey key{event.process, event[0]};
  if (recorded_ && key == recent_key_) return recent_;
  recorded_ = true;
  const auto [known, fresh] = sources_.try_emplace(key, rows_.driver_sources.size());
  recent_key_ = key;
  recent_ = known->second;
  if (fresh) {
    auto& sources = rows_.driver_sources;
    sources.add();
    sources.process[recent_] = static_cast<int32_t>(event.process);
    sources.number[recent_] = key.handle;
    sources.reads[recent_] = sources.bytes[recent_] = 0;
    greatest_.push_back(0);
  }
  return recent_;
}

void Driver::on_init(const Event& event) {
  namespace f = field::source_init;
  const size_t source = source_of(event);
  auto& sources = rows_.driver_sources;
  const bool is_first = sources.begin_ns[source] == kNone;
  context_.uses.count(event.type, is_first ? Use::source : Use::unexplained);
  if (!is_first) return;
  sources.begin_ns[source] = event.ns;
  sources.kind[source] = event[f::kind];
  sources.name[source] = event[f::name];
  sources.address[source] = event[f::address];
}

void Driver::on_read(const Event& event, bool is_packet) {
  namespace packet = field::packet_received;
  namespace buffer = field::buffer_pulled;
  const size_t source = source_of(event);
  if (!is_packet) on_frame_event(event, FrameEvent::pulled);
  const int64_t queue_ns = event[is_packet ? packet::queue_ns : buffer::queue_ns];
  const int64_t counter = event[is_packet ? packet::dropped : buffer::dropped];
  greatest_[source] = std::max(greatest_[source], counter);

  auto& reads = rows_.driver_reads;
  const int64_t number = reads.add();
  const auto row = static_cast<size_t>(number);
  reads.source[row] = static_cast<int32_t>(source);
  reads.thread[row] = static_cast<int32_t>(event.thread);
  reads.number[row] = event[is_packet ? packet::sequence : buffer::frame];
  reads.ns[row] = event.ns;
  if (queue_ns >= 0) reads.arrival_ns[row] = minus(event.ns, queue_ns);
  reads.dropped_so_far[row] = greatest_[source];
  reads.is_packet[row] = is_packet ? 1 : 0;

  auto& sources = rows_.driver_sources;
  ++sources.reads[source];
  sources.bytes[source] =
      plus(sources.bytes[source], event[is_packet ? packet::bytes : buffer::bytes]);
  last_[event.thread] = {number, static_cast<int64_t>(event.at), event.ns,
                         executions_.innermost_open(event.thread), true};
}

void Driver::on_frame_event(const Event& event, FrameEvent kind) {
  namespace f = field::frame_boundary;
  static_assert(f::frame == 1 && field::buffer_pulled::frame == 1 &&
                field::cloud_ready::frame == 1 && field::copy_done::frame == 1);
  const size_t source = source_of(event);
  auto& events = rows_.driver_frame_events;
  const int64_t number = events.add();
  const auto row = static_cast<size_t>(number);
  events.source[row] = static_cast<int32_t>(source);
  events.thread[row] = static_cast<int32_t>(event.thread);
  events.ns[row] = event.ns;
  events.kind[row] = static_cast<uint8_t>(kind);
  number_.push_back(event[f::frame]);
  if (kind == FrameEvent::pulled) {
    rows_.driver_sources.is_pulled[source] = 1;
    return;
  }
  rows_.driver_sources.tells_frames[source] = 1;
  if (kind == FrameEvent::boundary) {
    boundaries_.packets.push_back(event[f::packets]);
    boundaries_.missing.push_back(event[f::missing]);
    boundaries_.first_sequence.push_back(event[f::first_sequence]);
    boundaries_.last_sequence.push_back(event[f::last_sequence]);
  }
  last_[event.thread] = {number, static_cast<int64_t>(event.at), event.ns,
                         executions_.innermost_open(event.thread), false};
}

void Driver::finish() {
  if (!recorded_) return;
  subtract_earlier_drops();
  sort_sources();
  find_frames(rows_, number_, boundaries_);
  link_publications(context_, executions_, candidates_);
  find_losses(context_);
  count_driver_uses(context_);
}

// What a queue dropped before the trace is not of the trace.
void Driver::subtract_earlier_drops() {
  auto& reads = rows_.driver_reads;
  const auto& sources = rows_.driver_sources;
  std::vector<int64_t> before(sources.size(), kNone);
  for (size_t row = 0; row < reads.size(); ++row) {
    const auto source = static_cast<size_t>(reads.source[row]);
    if (before[source] == kNone) {
      const bool whole = reads.number[row] == 0 || sources.begin_ns[source] != kNone;
      before[source] = whole ? 0 : reads.dropped_so_far[row];
    }
    reads.dropped_so_far[row] -= before[source];
  }
}

void Driver::sort_sources() {
  auto& sources = rows_.driver_sources;
  std::vector<size_t> order(sources.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto key = [&](size_t row) {
    const auto process = static_cast<size_t>(sources.process[row]);
    const int64_t host = rows_.processes.host[process];
    const std::string_view name = host == kNone ? std::string_view{} : context_.strings.texts[host];
    return std::make_tuple(name, rows_.processes.vpid[process], process, sources.number[row]);
  };
  std::ranges::sort(order, {}, key);
  arrange(sources, order);
  std::vector<int32_t> place(order.size());
  for (size_t row = 0; row < order.size(); ++row) place[order[row]] = static_cast<int32_t>(row);
  const auto renumber = [&](Column<int32_t>& column) {
    for (size_t row = 0; row < column.size(); ++row) {
      column[row] = place[static_cast<size_t>(column[row])];
    }
  };
  renumber(rows_.driver_reads.source);
  renumber(rows_.driver_frame_events.source);
}

}  // namespace strata::driver
