// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// From decoded events to tables. A *table* is the columns of one event type; a *plan* fills a table
// from the events of one layout, many at a time.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "columns/column.hpp"
#include "decode/program.hpp"
#include "decode/trace_set.hpp"

namespace ctf {

// One chunk of one table. Immutable; lives as long as somebody reads it.
struct Batch {
  std::string event;
  size_t table = 0;  // its number: batches of equal numbers have equal columns
  std::shared_ptr<const std::vector<ColumnType>> types;
  std::vector<Column> columns;
  int64_t rows = 0;
};

struct ColumnWish {
  Scope scope;  // packet_context or one of an event's own
  size_t member;
  std::string name;
};

// What of an event class is wanted.
struct EventWish {
  std::vector<ColumnWish> columns;
};

struct Plan;

// Columns of every table; the wished ones follow.
constexpr size_t kTimestampColumn = 0;
constexpr size_t kHostColumn = 1;
constexpr size_t kFirstWish = 2;

struct Table {
  std::string event;
  std::shared_ptr<const std::vector<ColumnType>> types;  // timestamp, host, then the wished ones
  std::vector<Column> columns;                           // empty until there is a row
  size_t usual_rows = 0;                                 // of the chunk before
  Plan* active = nullptr;                                // the plan that has events waiting
};

// Of a stream, as of its packet: what every event of the packet shares.
struct PacketValues {
  int32_t host = 0;  // code of the source's label
  const uint8_t* packet = nullptr;
  uint64_t content_bits = 0;
  uint64_t context_at = 0;         // bits from the packet's first to its context
  std::vector<uint64_t> integers;  // top-level integers of the packet context, by member
};

// How one column is read from events that wait in a plan.
struct Gather {
  enum class Kind : uint8_t { integer, real, bytes, list, packet };

  Kind kind = Kind::integer;
  size_t column = 0;
  size_t member = 0;  // of the packet context
  const FieldClass* field = nullptr;
  uint32_t segment = 0;
  uint32_t offset = 0;
};

struct Plan {
  static constexpr size_t kWaiting = 1024;

  Table* table = nullptr;
  bool is_wanted = false;  // else events of the class are only passed
  const StreamClass* stream = nullptr;
  const EventClass* event = nullptr;
  std::optional<Program> program;
  std::vector<Gather> gathers;
  // Of the general way: the column of each member, by scope; -1 is not wanted.
  std::array<std::vector<int>, 6> wished;

  bool copies_context = false;  // fields of the packet context, decoded again for every event

  size_t waiting = 0;
  size_t most_waiting = kWaiting;  // fewer where a row has very many columns
  uint64_t waiting_bytes = 0;      // about: what the events have in the trace
  std::vector<int64_t> timestamps;
  std::vector<uint32_t> streams;
  std::vector<std::vector<const uint8_t*>> anchors;  // [segment][event]

  void allocate();
};

// Moves the waiting events of a plan into its table. `shared` is by stream.
void flush(Plan& plan, const std::vector<PacketValues>& shared,
           const std::vector<std::string>& hosts, const std::shared_ptr<BlockPool>& pool);

// Puts one event into its table, field by field. `at` is its first bit after the header.
void append_event(Plan& plan, int64_t timestamp, const PacketValues& shared, Slots& slots,
                  uint64_t at, const std::vector<std::string>& hosts,
                  const std::shared_ptr<BlockPool>& pool);

// The bit behind an event that has no program; throws DecodeError. Takes from the packet's `steps`.
uint64_t measure_event(const Plan& plan, const PacketValues& shared, Slots& slots, uint64_t at,
                       uint64_t& steps);

// The type of a wished column.
const FieldClass& wished_field(const EventClassRef& event, const ColumnWish& wish);

// Whether the plan can take the fast way with these wishes; fills `gathers`.
bool make_gathers(Plan& plan, const std::vector<ColumnWish>& wishes);

}  // namespace ctf
