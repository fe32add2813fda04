// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "decode/reader.hpp"

#include <algorithm>

#include "columns/text.hpp"

namespace ctf {
namespace {

constexpr size_t kFirstWish = 2;
// Sizes in the trace, in bytes: events from here on may be too large for their table...
constexpr uint64_t kLargeEvent = 1U << 20;
// ... and smaller ones wait together only up to here.
constexpr uint64_t kMostWaitingBytes = 16U << 20;

// Whether `a` comes after `b`: the heap has the next one on top.
bool comes_after(const StreamCursor* a, const StreamCursor* b) {
  return a->time != b->time ? a->time > b->time : a->rank() > b->rank();
}

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
    : traces_(traces),
      options_(options),
      span_(static_cast<uint64_t>(options.last) - static_cast<uint64_t>(options.begin)),
      files_(traces.files()) {
  make_hosts();
  for (size_t i = 0; i < traces.event_classes().size(); ++i) make_plan(i, wishes.at(i));
  shared_.resize(traces.streams().size());
  for (size_t i = 0; i < traces.streams().size(); ++i) {
    cursors_.emplace_back(traces, traces.streams()[i], static_cast<uint32_t>(i));
    const bool any = options_.begin <= options_.last;
    if (any && wait_for_packet(cursors_.back())) push_heap(&cursors_.back());
  }
}

void Reader::make_hosts() {
  for (const auto& source : traces_.sources()) {
    const auto* label = reinterpret_cast<const uint8_t*>(source.label.data());
    const std::string host = to_utf8({label, source.label.size()}, Encoding::utf8);
    const auto known = std::ranges::find(hosts_, host);
    host_of_source_.push_back(static_cast<int32_t>(known - hosts_.begin()));
    if (known == hosts_.end()) hosts_.push_back(host);
  }
}

EventTable& Reader::events_of(const Packet& packet) {
  return event_tables_.at({traces_.source_of(packet), packet.stream});
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
  const EventClassRef& event = traces_.event_classes()[number];
  const Layout& layout = *traces_.sources()[event.source].layout;
  auto& events =
      event_tables_.try_emplace({event.source, event.stream}, layout, *event.stream).first->second;
  auto plan = std::make_unique<Plan>();
  plan->stream = event.stream;
  plan->event = event.event;
  plan->program = make_program(*event.stream, *event.event);
  std::string key;
  if (wish) {
    plan->table = &table_for(event, *wish);
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
  events.put(event.event->id, &plan_like(std::move(plan), key));
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

void Reader::push_heap(StreamCursor* cursor) {
  heap_.push_back(cursor);
  std::ranges::push_heap(heap_, comes_after);
}

StreamCursor* Reader::pop_heap() {
  std::ranges::pop_heap(heap_, comes_after);
  StreamCursor* cursor = heap_.back();
  heap_.pop_back();
  return cursor;
}

// Whether no event of the cursor's packet can be in the wanted time. Tracers have written events
// before their packet's begin (barectf) and behind its end (LTTng; after a crash it is 0), but
// never before the packet before, nor behind the one after.
bool Reader::is_outside(const StreamCursor& cursor, const ClockConverter& clock) const {
  const Packet& packet = cursor.packet();
  if (packet.begin == Packet::kNone || packet.end == Packet::kNone || packet.end < packet.begin) {
    return false;
  }
  const Packet* before = cursor.packet_before();
  const Packet* after = cursor.packet_after();
  const auto is_early = [&](uint64_t cycles) { return clock.nanoseconds(cycles) < options_.begin; };
  const auto is_late = [&](uint64_t cycles) { return clock.nanoseconds(cycles) > options_.last; };
  if (after != nullptr && after->begin != Packet::kNone && is_early(packet.end)) {
    return packet.end <= after->begin && is_early(after->begin);
  }
  if (before != nullptr && before->end != Packet::kNone && is_late(packet.begin)) {
    return before->begin <= before->end && before->end <= packet.begin && is_late(before->end);
  }
  return false;
}

// Goes to the next packet that may hold wanted events; false when there is none.
bool Reader::wait_for_packet(StreamCursor& cursor) {
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

void Reader::damaged(const StreamCursor& cursor, uint64_t bits, const char* reason) {
  const Packet& packet = cursor.packet();
  damage_.push_back({packet.file, packet.offset + (packet.content_bits - bits) / 8, (bits + 7) / 8,
                     false, reason});
}

// Leaves a packet that was read.
void Reader::leave(StreamCursor& cursor) {
  const Packet& packet = cursor.packet();
  if (cursor.misplaced() > 0) {
    misplaced_.push_back({packet.file, packet.offset, cursor.misplaced()});
  }
  cursor.skip_packet();
}

// Reads the packet that the cursor waits for; false when no event of it can be read.
bool Reader::load(StreamCursor& cursor) {
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

bool Reader::advance(StreamCursor& cursor) {
  try {
    return cursor.advance(shared_[cursor.rank()]);
  } catch (const DecodeError& error) {
    damaged(cursor, cursor.unread_bits(), error.reason);
    return false;
  }
}

std::vector<std::shared_ptr<Batch>> Reader::next() {
  if (failed_) return {};
  failed_ = true;  // Until the chunk is whole: what an exception leaves behind is not to be read.
  while (!heap_.empty() && !full_) {
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
    run(*cursor);
  }
  flush_all();
  failed_ = false;
  return finish();
}

// Takes events of a stream as long as they come before those of all others.
void Reader::run(StreamCursor& cursor) {
  const StreamCursor* other = heap_.empty() ? nullptr : heap_.front();
  // At the other's time, the stream of the smaller rank comes first.
  const int64_t limit = other == nullptr ? INT64_MAX : other->time;
  const bool first = other == nullptr || cursor.rank() < other->rank();
  while (cursor.time < limit || (cursor.time == limit && first)) {
    if (cursor.event_bytes() > kLargeEvent && !has_room(cursor)) {
      full_ = true;
      break;
    }
    take(cursor);
    if (!advance(cursor)) {
      // What waits points into the packet that is left now.
      flush_all();
      leave(cursor);
      if (wait_for_packet(cursor)) push_heap(&cursor);
      full_ = full_ || rows_ >= options_.chunk_rows;
      return;
    }
    if (full_ || rows_ >= options_.chunk_rows) break;
  }
  full_ = full_ || rows_ >= options_.chunk_rows;
  push_heap(&cursor);
}

void Reader::take(StreamCursor& cursor) {
  Plan& plan = *cursor.plan;
  if (plan.table == nullptr) return;
  if (static_cast<uint64_t>(cursor.time) - static_cast<uint64_t>(options_.begin) > span_) return;
  if (cursor.time < latest_) ++out_of_order_;
  latest_ = std::max(latest_, cursor.time);
  ++rows_;
  Plan*& active = plan.table->active;
  if (active != &plan) {
    // Events of another layout of this table wait: they come before this one.
    if (active != nullptr) flush_plan(*active);
    active = &plan;
  }
  if (!plan.program) return append(cursor);
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
  append_event(plan, cursor.time, shared_[cursor.rank()], cursor.slots(), cursor.body(), hosts_,
               pool_);
  plan.waiting_bytes += cursor.event_bytes();
  if (plan.waiting_bytes < kBetweenChecks) return;
  plan.waiting_bytes = 0;
  full_ = full_ || bytes_of(*plan.table) > options_.chunk_bytes;
}

void Reader::flush_plan(Plan& plan) {
  if (plan.waiting == 0) return;
  flush(plan, shared_, hosts_, pool_);
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
