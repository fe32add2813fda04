// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Goes through all streams of a set, event after event.
//
// Order: by time. Events of equal times: by source (in the order of `TraceSet::add`), then by the
// file in which their stream begins (LTTng: by channel and CPU); events of one stream keep the
// stream's order, even where its clock goes back (which is counted).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "decode/file.hpp"
#include "decode/stream_cursor.hpp"
#include "decode/trace_set.hpp"

namespace ctf {

// Events of a packet that were left out, as their times are not of the packet.
struct Misplaced {
  size_t file = 0;
  uint64_t offset = 0;  // of the packet, in bytes
  uint64_t events = 0;
};

class Merge {
 public:
  virtual ~Merge() = default;
  Merge(const Merge&) = delete;
  Merge& operator=(const Merge&) = delete;

  // Of what was read so far.
  const std::vector<Damage>& damage() const { return damage_; }
  const std::vector<Misplaced>& misplaced() const { return misplaced_; }
  uint64_t out_of_order() const { return out_of_order_; }
  // How much earlier than an event before it any event is, in ns; 0 when all are in order.
  int64_t latest_by() const { return latest_by_; }

 protected:
  // Events from `begin` to `last`, both included. `traces` must live as long.
  Merge(const TraceSet& traces, int64_t begin, int64_t last);

  // Events of a class are read by a plan, which must live as long; every class needs one.
  void read_by(const EventClassRef& event, Plan& plan);
  // To be called once, after the last `read_by`.
  void start();
  // Goes on until `take` or `may_take` says that it is enough (true), or nothing is left (false).
  // Throws std::system_error when a file cannot be read; then nothing is left.
  bool go_on();

  // Whether the event at which the cursor is may be taken now; else it comes again later.
  virtual bool may_take(const StreamCursor&) { return true; }
  // One event within the time, of a plan that is wanted; false when it is enough for now.
  virtual bool take(StreamCursor& cursor) = 0;
  // The bytes of a packet are about to go: what points into it has to be read before.
  virtual void leaving() {}

  const TraceSet& traces() const { return traces_; }
  // What all events of the packet share in which the cursor is.
  const PacketValues& shared(const StreamCursor& cursor) const { return shared_[cursor.rank()]; }
  const std::vector<PacketValues>& shared() const { return shared_; }
  const std::vector<std::string>& hosts() const { return hosts_; }

 private:
  using EventTables = std::map<std::pair<size_t, const StreamClass*>, EventTable>;

  void make_hosts();
  EventTable& events_of(const Packet& packet);
  void push_heap(StreamCursor* cursor);
  StreamCursor* pop_heap();
  bool wait_for_packet(StreamCursor& cursor);
  bool load(StreamCursor& cursor);
  bool run(StreamCursor& cursor);
  bool advance(StreamCursor& cursor);
  bool is_outside(const StreamCursor& cursor, const ClockConverter& clock) const;
  bool look_at(StreamCursor& cursor);
  void note_late(int64_t time);
  void leave(StreamCursor& cursor);
  void damaged(const StreamCursor& cursor, uint64_t bits, const char* reason);

  const TraceSet& traces_;
  int64_t begin_;
  int64_t last_;
  uint64_t span_;  // last - begin, for one comparison an event
  OpenFiles files_;
  std::vector<std::string> hosts_;
  std::vector<int32_t> host_of_source_;
  EventTables event_tables_;
  std::deque<StreamCursor> cursors_;
  std::vector<PacketValues> shared_;  // by stream
  std::vector<StreamCursor*> heap_;
  bool failed_ = false;
  int64_t latest_ = INT64_MIN;
  std::vector<Damage> damage_;
  std::vector<Misplaced> misplaced_;
  uint64_t out_of_order_ = 0;
  int64_t latest_by_ = 0;
};

}  // namespace ctf
