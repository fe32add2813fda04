// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "decode/merge.hpp"

#include <algorithm>

#include "columns/text.hpp"

namespace ctf {
namespace {

// Whether `a` comes after `b`: the heap has the next one on top.
bool comes_after(const StreamCursor* a, const StreamCursor* b) {
  return a->time != b->time ? a->time > b->time : a->rank() > b->rank();
}

}  // namespace

Merge::Merge(const TraceSet& traces, int64_t begin, int64_t last)
    : traces_(traces),
      begin_(begin),
      last_(last),
      span_(static_cast<uint64_t>(last) - static_cast<uint64_t>(begin)),
      files_(traces.files()) {
  make_hosts();
}

void Merge::read_by(const EventClassRef& event, Plan& plan) {
  const Layout& layout = *traces_.sources()[event.source].layout;
  auto& events =
      event_tables_.try_emplace({event.source, event.stream}, layout, *event.stream).first->second;
  events.put(event.event->id, &plan);
}

void Merge::start() {
  shared_.resize(traces_.streams().size());
  for (size_t i = 0; i < traces_.streams().size(); ++i) {
    cursors_.emplace_back(traces_, traces_.streams()[i], static_cast<uint32_t>(i));
    if (begin_ <= last_ && wait_for_packet(cursors_.back())) push_heap(&cursors_.back());
  }
}

void Merge::make_hosts() {
  for (const auto& source : traces_.sources()) {
    const auto* label = reinterpret_cast<const uint8_t*>(source.label.data());
    const std::string host = to_utf8({label, source.label.size()}, Encoding::utf8);
    const auto known = std::ranges::find(hosts_, host);
    host_of_source_.push_back(static_cast<int32_t>(known - hosts_.begin()));
    if (known == hosts_.end()) hosts_.push_back(host);
  }
}

EventTable& Merge::events_of(const Packet& packet) {
  return event_tables_.at({traces_.source_of(packet), packet.stream});
}

void Merge::push_heap(StreamCursor* cursor) {
  heap_.push_back(cursor);
  std::ranges::push_heap(heap_, comes_after);
}

StreamCursor* Merge::pop_heap() {
  std::ranges::pop_heap(heap_, comes_after);
  StreamCursor* cursor = heap_.back();
  heap_.pop_back();
  return cursor;
}

// Whether no event of the cursor's packet can be in the wanted time. Tracers have written events
// before their packet's begin (barectf) and behind its end (LTTng; after a crash it is 0), but
// never before the packet before, nor behind the one after.
bool Merge::is_outside(const StreamCursor& cursor, const ClockConverter& clock) const {
  const Packet& packet = cursor.packet();
  if (packet.begin == Packet::kNone || packet.end == Packet::kNone || packet.end < packet.begin) {
    return false;
  }
  const Packet* before = cursor.packet_before();
  const Packet* after = cursor.packet_after();
  const auto is_early = [&](uint64_t cycles) { return clock.nanoseconds(cycles) < begin_; };
  const auto is_late = [&](uint64_t cycles) { return clock.nanoseconds(cycles) > last_; };
  if (after != nullptr && after->begin != Packet::kNone && is_early(packet.end)) {
    return packet.end <= after->begin && is_early(after->begin);
  }
  if (before != nullptr && before->end != Packet::kNone && is_late(packet.begin)) {
    return before->begin <= before->end && before->end <= packet.begin && is_late(before->end);
  }
  return false;
}

// Goes to the next packet that may hold wanted events; false when there is none.
bool Merge::wait_for_packet(StreamCursor& cursor) {
  for (; cursor.has_packet(); cursor.skip_packet()) {
    const Packet& packet = cursor.packet();
    const auto events = event_tables_.find({traces_.source_of(packet), packet.stream});
    // A stream class without event classes has only empty packets.
    if (events == event_tables_.end()) {
      if (packet.content_bits > packet.events_at) {
        damage_.push_back({packet.file, packet.offset + packet.events_at / 8,
                           (packet.content_bits - packet.events_at + 7) / 8, false,
                           "an event has an id that the metadata do not declare"});
      }
      continue;
    }
    const EventTable& table = events->second;
    if (table.has_clock && is_outside(cursor, table.clock)) continue;
    cursor.expect(table);
    return true;
  }
  cursor.free_buffer();
  return false;
}

void Merge::damaged(const StreamCursor& cursor, uint64_t bits, const char* reason) {
  const Packet& packet = cursor.packet();
  damage_.push_back({packet.file, packet.offset + (packet.content_bits - bits) / 8, (bits + 7) / 8,
                     false, reason});
}

// Leaves a packet that was read.
void Merge::leave(StreamCursor& cursor) {
  const Packet& packet = cursor.packet();
  if (cursor.misplaced() > 0) {
    misplaced_.push_back({packet.file, packet.offset, cursor.misplaced()});
  }
  cursor.skip_packet();
}

// Reads the packet that the cursor waits for; false when no event of it can be read.
bool Merge::load(StreamCursor& cursor) {
  PacketValues& shared = shared_[cursor.rank()];
  try {
    cursor.load(files_, events_of(cursor.packet()), shared);
  } catch (const DecodeError& error) {
    damaged(cursor, cursor.packet().content_bits, error.reason);
    return false;
  }
  shared.host = host_of_source_[traces_.source_of(cursor.packet())];
  return advance(cursor);
}

bool Merge::advance(StreamCursor& cursor) {
  try {
    return cursor.advance(shared_[cursor.rank()]);
  } catch (const DecodeError& error) {
    damaged(cursor, cursor.unread_bits(), error.reason);
    return false;
  }
}

bool Merge::go_on() {
  if (failed_) return false;
  failed_ = true;  // Until this is over: what an exception leaves behind is not to be read.
  bool enough = false;
  while (!heap_.empty() && !enough) {
    StreamCursor* cursor = pop_heap();
    if (cursor->plan == nullptr) {
      if (load(*cursor)) {
        push_heap(cursor);
      } else {
        leave(*cursor);
        if (wait_for_packet(*cursor)) push_heap(cursor);
      }
      continue;
    }
    enough = run(*cursor);
  }
  failed_ = false;
  return enough || !heap_.empty();
}

// Takes events of a stream as long as they come before those of all others; true when it is enough.
bool Merge::run(StreamCursor& cursor) {
  const StreamCursor* other = heap_.empty() ? nullptr : heap_.front();
  // At the other's time, the stream of the smaller rank comes first.
  const int64_t limit = other == nullptr ? INT64_MAX : other->time;
  const bool first = other == nullptr || cursor.rank() < other->rank();
  bool enough = false;
  while (!enough && (cursor.time < limit || (cursor.time == limit && first))) {
    if (!may_take(cursor)) {
      enough = true;
      break;
    }
    enough = !look_at(cursor);
    if (!advance(cursor)) {
      // What waits points into the packet that is left now.
      leaving();
      leave(cursor);
      if (wait_for_packet(cursor)) push_heap(&cursor);
      return enough;
    }
  }
  push_heap(&cursor);
  return enough;
}

bool Merge::look_at(StreamCursor& cursor) {
  if (static_cast<uint64_t>(cursor.time) - static_cast<uint64_t>(begin_) > span_) return true;
  if (!cursor.plan->is_wanted) return true;
  if (cursor.time < latest_) note_late(cursor.time);
  latest_ = std::max(latest_, cursor.time);
  return take(cursor);
}

void Merge::note_late(int64_t time) {
  ++out_of_order_;
  const uint64_t by = static_cast<uint64_t>(latest_) - static_cast<uint64_t>(time);
  latest_by_ = std::max(latest_by_, static_cast<int64_t>(std::min<uint64_t>(by, INT64_MAX)));
}

}  // namespace ctf
