// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "decode/reader.hpp"

#include <algorithm>

#include "columns/text.hpp"

namespace ctf {
namespace {

// Sizes in the trace, in bytes: events from here on may be too large for their table...
constexpr uint64_t kLargeEvent = 1U << 20;
// ... and smaller ones wait together only up to here.
constexpr uint64_t kMostWaitingBytes = 16U << 20;

size_t bytes_of(const Table& table) {
  size_t total = 0;
  for (const auto& column : table.columns) total += column.bytes();
  return total;
}

std::shared_ptr<std::vector<ColumnType>> types_of(const EventClassRef& event,
                                                  const EventWish& wish) {
  auto types = std::make_shared<std::vector<ColumnType>>();
  types->push_back(integer_type(true));
  types->back().name = "timestamp";
  types->push_back(dictionary_type());
  types->back().name = "host";
  for (const auto& column : wish.columns) {
    types->push_back(type_of(wished_field(event, column)));
    types->back().name = column.name;
  }
  return types;
}

// Equal keys: the same bytes of an event go to the same columns.
std::string plan_key(const Plan& plan) {
  std::string key = std::to_string(reinterpret_cast<uintptr_t>(plan.table));
  const auto add = [&key](uint64_t value) { key += "," + std::to_string(value); };
  add(plan.program->aligned ? 1 : 0);
  for (const auto& segment : plan.program->segments) {
    add(segment.bytes);
    add(static_cast<uint64_t>(segment.end));
    add(segment.unit);
    add(segment.count_segment);
    add(segment.count_offset);
    add(segment.count_bytes);
    add(segment.count_swapped ? 1 : 0);
  }
  for (const auto& gather : plan.gathers) {
    add(static_cast<uint64_t>(gather.kind));
    add(gather.column);
    add(gather.member);
    add(gather.segment);
    add(gather.offset);
    if (gather.field == nullptr) continue;
    const FieldClass& field = gather.field->element ? *gather.field->element : *gather.field;
    add(field.size);
    add(static_cast<uint64_t>(field.order));
    add(field.is_signed ? 1 : 0);
    add(static_cast<uint64_t>(gather.field->kind));
    add(static_cast<uint64_t>(gather.field->encoding));
    add(gather.field->length.value_or(UINT64_MAX));
  }
  return key;
}

}  // namespace

Reader::Reader(const TraceSet& traces, const std::vector<std::optional<EventWish>>& wishes,
               const ReadOptions& options)
    : Merge(traces, options.begin, options.last), options_(options) {
  for (size_t i = 0; i < traces.event_classes().size(); ++i) make_plan(i, wishes.at(i));
  start();
}

Table& Reader::table_for(const EventClassRef& event, const EventWish& wish) {
  auto types = types_of(event, wish);
  std::string key = event.event->name;
  for (const auto& type : *types) key += '\n' + type.key();
  const auto [place, fresh] = table_by_key_.emplace(std::move(key), nullptr);
  if (fresh) {
    tables_.push_back({event.event->name, std::move(types), {}, 0, nullptr});
    place->second = &tables_.back();
  }
  return *place->second;
}

void Reader::make_plan(size_t number, const std::optional<EventWish>& wish) {
  const EventClassRef& event = traces().event_classes()[number];
  auto plan = std::make_unique<Plan>();
  plan->stream = event.stream;
  plan->event = event.event;
  plan->program = make_program(*event.stream, *event.event);
  std::string key;
  if (wish) {
    plan->table = &table_for(event, *wish);
    plan->is_wanted = true;
    if (plan->program && !make_gathers(*plan, wish->columns)) plan->program.reset();
    if (plan->program) key = plan_key(*plan);
    for (size_t i = 0; i < wish->columns.size(); ++i) {
      const ColumnWish& column = wish->columns[i];
      if (column.scope == Scope::packet_context) plan->copies_context = true;
      auto& wished = plan->wished[static_cast<size_t>(column.scope)];
      wished.resize(std::max(wished.size(), column.member + 1), -1);
      wished[column.member] = static_cast<int>(kFirstWish + i);
    }
  }
  read_by(event, plan_like(std::move(plan), key));
}

// A plan that does the same already, so that its events wait together; else this one.
Plan& Reader::plan_like(std::unique_ptr<Plan> plan, const std::string& key) {
  if (!key.empty()) {
    const auto known = plan_by_key_.find(key);
    if (known != plan_by_key_.end()) return *known->second;
    plan_by_key_[key] = plan.get();
  }
  plans_.push_back(std::move(plan));
  return *plans_.back();
}

std::vector<std::shared_ptr<Batch>> Reader::next() {
  if (failed_) return {};
  failed_ = true;  // Until the chunk is whole: what an exception leaves behind is not to be read.
  go_on();
  flush_all();
  failed_ = false;
  return finish();
}

bool Reader::take(StreamCursor& cursor) {
  Plan& plan = *cursor.plan;
  ++rows_;
  Plan*& active = plan.table->active;
  if (active != &plan) {
    // Events of another layout of this table wait: they come before this one.
    if (active != nullptr) flush_plan(*active);
    active = &plan;
  }
  if (plan.program) {
    keep(cursor);
  } else {
    append(cursor);
  }
  return !full_ && rows_ < options_.chunk_rows;
}

// Has an event wait with others of its plan.
void Reader::keep(const StreamCursor& cursor) {
  Plan& plan = *cursor.plan;
  // Of many classes few have events.
  if (plan.timestamps.empty()) plan.allocate();
  const size_t n = plan.waiting++;
  if (n == 0) dirty_.push_back(&plan);
  plan.timestamps[n] = cursor.time;
  plan.streams[n] = cursor.rank();
  for (size_t i = 0; i < plan.anchors.size(); ++i) plan.anchors[i][n] = cursor.anchor(i);
  plan.waiting_bytes += cursor.event_bytes();
  if (n + 1 >= plan.most_waiting || plan.waiting_bytes > kMostWaitingBytes) flush_plan(plan);
}

bool Reader::may_take(const StreamCursor& cursor) {
  return cursor.event_bytes() <= kLargeEvent || has_room(cursor);
}

// Whether a large event can be one more row of its table: offsets of text and lists have 31 bits.
bool Reader::has_room(const StreamCursor& cursor) {
  constexpr uint64_t kMostGrowth = 3;  // bytes of UTF-8 for a byte that is none
  Plan& plan = *cursor.plan;
  if (plan.table == nullptr) return true;
  if (plan.table->active != nullptr) flush_plan(*plan.table->active);
  const uint64_t before = bytes_of(*plan.table);
  const uint64_t most = std::min<uint64_t>(options_.chunk_bytes, INT32_MAX);
  return before == 0 || before + kMostGrowth * cursor.event_bytes() <= most;
}

void Reader::append(StreamCursor& cursor) {
  constexpr uint64_t kBetweenChecks = 1U << 16;  // bytes
  Plan& plan = *cursor.plan;
  append_event(plan, cursor.time, shared(cursor), cursor.slots(), cursor.body(), hosts(), pool_);
  plan.waiting_bytes += cursor.event_bytes();
  if (plan.waiting_bytes < kBetweenChecks) return;
  plan.waiting_bytes = 0;
  full_ = full_ || bytes_of(*plan.table) > options_.chunk_bytes;
}

void Reader::flush_plan(Plan& plan) {
  if (plan.waiting == 0) return;
  flush(plan, shared(), hosts(), pool_);
  full_ = full_ || bytes_of(*plan.table) > options_.chunk_bytes;
}

void Reader::flush_all() {
  for (Plan* plan : dirty_) flush_plan(*plan);
  dirty_.clear();
}

std::vector<std::shared_ptr<Batch>> Reader::finish() {
  std::vector<std::shared_ptr<Batch>> batches;
  for (size_t i = 0; i < tables_.size(); ++i) {
    Table& table = tables_[i];
    if (table.columns.empty()) continue;
    auto batch = std::make_shared<Batch>();
    batch->event = table.event;
    batch->table = i;
    batch->types = table.types;
    batch->rows = table.columns.front().length();
    table.usual_rows = static_cast<size_t>(batch->rows + batch->rows / 8);
    batch->columns = std::move(table.columns);
    table.columns.clear();
    batches.push_back(std::move(batch));
  }
  rows_ = 0;
  full_ = false;
  return batches;
}

}  // namespace ctf
