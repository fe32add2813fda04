// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Merges streams by time into tables, a chunk at a time.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode/merge.hpp"

namespace ctf {

struct ReadOptions {
  int64_t begin = INT64_MIN;  // ns, inclusive
  int64_t last = INT64_MAX;   // ns, inclusive
  uint64_t chunk_rows = 1U << 18;
  uint64_t chunk_bytes = 64U << 20;
};

class Reader : public Merge {
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

 protected:
  bool may_take(const StreamCursor& cursor) override;
  bool take(StreamCursor& cursor) override;
  void leaving() override { flush_all(); }

 private:
  void make_plan(size_t number, const std::optional<EventWish>& wish);
  Table& table_for(const EventClassRef& event, const EventWish& wish);
  Plan& plan_like(std::unique_ptr<Plan> plan, const std::string& key);
  bool has_room(const StreamCursor& cursor);
  void keep(const StreamCursor& cursor);
  void append(StreamCursor& cursor);
  void flush_plan(Plan& plan);
  void flush_all();
  std::vector<std::shared_ptr<Batch>> finish();

  ReadOptions options_;
  std::shared_ptr<BlockPool> pool_ = std::make_shared<BlockPool>();
  std::deque<Table> tables_;
  std::map<std::string, Table*> table_by_key_;
  std::deque<std::unique_ptr<Plan>> plans_;
  std::map<std::string, Plan*> plan_by_key_;
  std::vector<Plan*> dirty_;
  uint64_t rows_ = 0;  // of this chunk
  bool full_ = false;
  bool failed_ = false;
};

}  // namespace ctf
