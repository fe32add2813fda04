// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Merges streams by time into tables, a chunk at a time.
//
// Order: by time. Events of equal times: by source (in the order of `TraceSet::add`), then by the
// file in which their stream begins (LTTng: by channel and CPU); events of one stream keep the
// stream's order, even where its clock goes back (which is counted).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode/stream_cursor.hpp"

namespace ctf {

struct ReadOptions {
  int64_t begin = INT64_MIN;  // ns, inclusive
  int64_t last = INT64_MAX;   // ns, inclusive
  uint64_t chunk_rows = 1U << 18;
  uint64_t chunk_bytes = 64U << 20;
};

// Events of a packet that were left out, as their times are not of the packet.
struct Misplaced {
  size_t file = 0;
  uint64_t offset = 0;  // of the packet, in bytes
  uint64_t events = 0;
};

class Reader {
 public:
  // `wishes`: by the number of TraceSet::event_classes; none for what is not wanted. `traces` must
  // live as long as the reader.
  Reader(const TraceSet& traces, const std::vector<std::optional<EventWish>>& wishes,
         const ReadOptions& options);

  // The tables of the next chunk, those without rows left out; empty when all was read, and after
  // an exception. Throws std::system_error when a file cannot be read.
  std::vector<std::shared_ptr<Batch>> next();

  // In the order of Batch::table.
  const std::deque<Table>& tables() const { return tables_; }

  // Of the chunks so far.
  const std::vector<Damage>& damage() const { return damage_; }
  const std::vector<Misplaced>& misplaced() const { return misplaced_; }
  uint64_t out_of_order() const { return out_of_order_; }

 private:
  using EventTables = std::map<std::pair<size_t, const StreamClass*>, EventTable>;

  void make_hosts();
  void make_plan(size_t number, const std::optional<EventWish>& wish);
  Table& table_for(const EventClassRef& event, const EventWish& wish);
  Plan& plan_like(std::unique_ptr<Plan> plan, const std::string& key);
  EventTable& events_of(const Packet& packet);

  void push_heap(StreamCursor* cursor);
  StreamCursor* pop_heap();
  bool wait_for_packet(StreamCursor& cursor);
  bool load(StreamCursor& cursor);
  void run(StreamCursor& cursor);
  bool advance(StreamCursor& cursor);
  bool is_outside(const StreamCursor& cursor, const ClockConverter& clock) const;
  bool has_room(const StreamCursor& cursor);
  void take(StreamCursor& cursor);
  void append(StreamCursor& cursor);
  void flush_plan(Plan& plan);
  void flush_all();
  void leave(StreamCursor& cursor);
  void damaged(const StreamCursor& cursor, uint64_t bits, const char* reason);
  std::vector<std::shared_ptr<Batch>> finish();

  const TraceSet& traces_;
  ReadOptions options_;
  uint64_t span_;  // last - begin, for one comparison an event
  OpenFiles files_;
  std::shared_ptr<BlockPool> pool_ = std::make_shared<BlockPool>();
  std::vector<std::string> hosts_;
  std::vector<int32_t> host_of_source_;
  std::deque<Table> tables_;
  std::map<std::string, Table*> table_by_key_;
  std::deque<std::unique_ptr<Plan>> plans_;
  std::map<std::string, Plan*> plan_by_key_;
  EventTables event_tables_;
  std::deque<StreamCursor> cursors_;
  std::vector<PacketValues> shared_;  // by stream
  std::vector<StreamCursor*> heap_;
  std::vector<Plan*> dirty_;
  uint64_t rows_ = 0;  // of this chunk
  bool full_ = false;
  bool failed_ = false;
  int64_t latest_ = INT64_MIN;
  std::vector<Damage> damage_;
  std::vector<Misplaced> misplaced_;
  uint64_t out_of_order_ = 0;
};

}  // namespace ctf
