// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "decode/stream_cursor.hpp"

#include <algorithm>

namespace ctf {
namespace {

constexpr uint64_t kMostDenseIds = 4096;

bool is_plain(const FieldClass& field, unsigned size, unsigned alignment) {
  return field.kind == Kind::integer && field.size == size && field.alignment == alignment &&
         !field.is_signed && field.order == ByteOrder::little && !field.is_reversed;
}

bool ranges_are(const Member& option, uint64_t low, uint64_t high) {
  return option.ranges.size() == 1 && option.ranges[0].low == low && option.ranges[0].high == high;
}

bool is_timestamp(const FieldClass& structure, unsigned size, unsigned alignment) {
  return structure.kind == Kind::structure && structure.members.size() == 1 &&
         structure.alignment == alignment &&
         is_plain(*structure.members[0].field, size, alignment) &&
         structure.members[0].field->clock >= 0;
}

bool is_extended(const FieldClass& structure) {
  return structure.kind == Kind::structure && structure.members.size() == 2 &&
         structure.alignment == 8 && is_plain(*structure.members[0].field, 32, 8) &&
         (structure.members[0].field->roles & event_class_id) != 0 &&
         is_plain(*structure.members[1].field, 64, 8) && structure.members[1].field->clock >= 0;
}

// `event_header_compact` and `event_header_large` of LTTng: an id that is small or an escape, then
// a short timestamp, or the whole id and timestamp.
bool is_lttng(const FieldClass& header, unsigned id_bits, unsigned id_alignment,
              unsigned time_bits) {
  if (header.members.size() != 2 || header.alignment > 8) return false;
  const FieldClass& id = *header.members[0].field;
  const FieldClass& choice = *header.members[1].field;
  const uint64_t escape = (1ULL << id_bits) - 1;
  return is_plain(id, id_bits, id_alignment) && (id.roles & event_class_id) != 0 &&
         choice.kind == Kind::variant && choice.members.size() == 2 && choice.alignment == 1 &&
         choice.reference.slot == id.slot && ranges_are(choice.members[0], 0, escape - 1) &&
         ranges_are(choice.members[1], escape, escape) &&
         is_timestamp(*choice.members[0].field, time_bits, id_alignment) &&
         is_extended(*choice.members[1].field);
}

// Collects what an event header says.
struct ReadEventHeader : Skip {
  uint64_t id = 0;
  uint64_t clock;
  bool is_whole = false;

  explicit ReadEventHeader(uint64_t before) : clock(before) {}

  void integer(const FieldClass& field, uint64_t value) {
    if ((field.roles & event_class_id) != 0) id = value;
    if (field.clock < 0) return;
    clock = advance_clock(clock, value, field.size == 0 ? 64 : field.size);
    is_whole = field.size == 0 || field.size >= 64;
  }
};

// The top-level integers of a packet context, in order; 0 for members of other kinds.
struct ReadIntegers : Skip {
  std::vector<uint64_t>& out;
  size_t depth = 0;
  size_t index = 0;

  explicit ReadIntegers(std::vector<uint64_t>& values) : out(values) {}

  void begin_structure(const FieldClass& field) {
    if (depth++ == 0) out.assign(field.members.size(), 0);
  }
  void end_structure(const FieldClass&) { --depth; }
  void member(const FieldClass&, size_t number) {
    if (depth == 1) index = number;
  }
  void integer(const FieldClass&, uint64_t value) {
    if (depth == 1) out[index] = value;
  }
};

}  // namespace

EventTable::EventTable(const Layout& layout, const StreamClass& class_of_stream)
    : stream(&class_of_stream) {
  if (stream->event_header) {
    if (is_lttng(*stream->event_header, 5, 1, 27)) header = Header::lttng_compact;
    if (is_lttng(*stream->event_header, 16, 8, 32)) header = Header::lttng_large;
  }
  if (header != Header::any) {
    id_slot = static_cast<size_t>(stream->event_header->members[0].field->slot);
  }
  has_clock = stream->clock >= 0;
  if (has_clock) clock = ClockConverter(layout.clocks[static_cast<size_t>(stream->clock)]);
  has_ids = stream->event_header && has_role(*stream->event_header, event_class_id);
}

void EventTable::put(uint64_t id, Plan* plan) {
  if (!has_ids) id = 0;  // There is but one.
  if (id >= kMostDenseIds) {
    sparse[id] = plan;
    return;
  }
  if (id >= dense.size()) dense.resize(id + 1, nullptr);
  dense[id] = plan;
}

void StreamCursor::expect(const EventTable& table) {
  plan = nullptr;
  if (table.has_clock && packet().begin != Packet::kNone) {
    time = table.clock.nanoseconds(packet().begin);
  }
}

void StreamCursor::reserve(uint64_t bytes) {
  if (bytes <= capacity_) return;
  // Not zeroed: of a sparse file's packet only what is read is touched twice.
  buffer_ = std::make_unique_for_overwrite<uint8_t[]>(bytes);
  capacity_ = bytes;
}

void StreamCursor::load(OpenFiles& files, const EventTable& table, PacketValues& shared) {
  const Packet& found = packet();
  misplaced_ = 0;
  const uint64_t wanted = (found.content_bits + 7) / 8;
  reserve(wanted + kSlack);
  std::memset(buffer_.get() + wanted, 0, kSlack);
  if (files.read(found.file, found.offset, buffer_.get(), wanted) != wanted) {
    throw DecodeError{"the file became shorter while it was read"};
  }
  table_ = &table;
  const Layout& layout = *traces_->sources()[traces_->source_of(found)].layout;
  slots_.assign(static_cast<size_t>(layout.slot_count), 0);
  steps_ = steps_of_packet(found.content_bits);
  const PacketHeader header =
      read_packet_header(layout, buffer_.get(), found.content_bits, slots_, steps_);
  shared.packet = buffer_.get();
  shared.content_bits = found.content_bits;
  shared.context_at = header.context_at;
  BitCursor cursor(buffer_.get(), header.context_at, found.content_bits);
  ReadIntegers integers(shared.integers);
  const uint64_t before = steps_;
  decode_field(table.stream->packet_context.get(), cursor, slots_, integers, steps_);
  context_steps_ = before - steps_;
  context_bytes_ = (header.bits - header.context_at + 7) / 8;
  if (found.begin != Packet::kNone) clock_ = found.begin;
  next_ = header.bits;
  end_ = found.content_bits;
  bound_times();
}

// A damaged time is one that is not of its packet, where the producer writes none such.
void StreamCursor::bound_times() {
  const Packet& found = packet();
  clock_is_lost_ = found.begin_is_lost;
  has_bounds_ = table_->has_clock && found.has_strict_times && found.begin != Packet::kNone;
  if (!has_bounds_) return;
  first_ = found.begin;
  // A begin that nothing confirms may be too late.
  const Packet* before = packet_before();
  if (!found.is_confirmed && before != nullptr && before->end < first_) first_ = before->end;
  uint64_t last = found.end;
  if (last == Packet::kNone || last < first_) {
    const Packet* after = packet_after();
    last = after != nullptr && after->begin != Packet::kNone && after->begin >= first_
               ? after->begin
               : UINT64_MAX;
  }
  span_ = last - first_;
}

bool StreamCursor::advance(const PacketValues& shared) {
  for (;;) {
    at_ = next_;
    if (at_ >= end_) return false;
    const uint64_t before = clock_;
    const uint64_t id = read_header();
    plan = table_->find(id);
    if (plan == nullptr) throw DecodeError{"an event has an id that the metadata do not declare"};
    find_end(shared);
    if (next_ == at_) throw DecodeError{"an event has no bits"};
    if (!has_bounds_ || !is_misplaced(before)) break;
    ++misplaced_;
  }
  time = table_->has_clock ? table_->clock.nanoseconds(clock_) : 0;
  return true;
}

// Whether the time of the event at which the cursor stands is damaged; then the clock is set back
// to that of the event before. Short times count from the last whole one: behind one that is
// damaged they tell nothing.
bool StreamCursor::is_misplaced(uint64_t before) {
  if (time_is_whole_) clock_is_lost_ = false;
  if (!clock_is_lost_ && clock_ - first_ <= span_) return false;
  if (time_is_whole_) clock_is_lost_ = true;
  clock_ = before;
  return true;
}

uint64_t StreamCursor::read_header() {
  if (table_->header == EventTable::Header::any || at_ % 8 != 0) return read_any_header();
  const uint8_t* bytes = buffer_.get() + at_ / 8;
  const uint64_t left = end_ - at_;
  const bool compact = table_->header == EventTable::Header::lttng_compact;
  const uint64_t word = load_bytes(bytes, 8);
  const uint64_t id = compact ? word & 31 : word & 0xFFFF;
  const uint64_t escape = compact ? 31 : 0xFFFF;
  slots_[table_->id_slot] = id;
  if (id != escape) {
    const uint64_t bits = compact ? 32 : 48;
    if (left < bits) return read_any_header();
    clock_ = compact ? advance_clock(clock_, word >> 5U & 0x7FFFFFF, 27)
                     : advance_clock(clock_, word >> 16U & 0xFFFFFFFF, 32);
    body_ = at_ + bits;
    time_is_whole_ = false;
    return id;
  }
  const unsigned before = compact ? 1 : 2;
  const uint64_t bits = before * 8ULL + 96;
  if (left < bits) return read_any_header();
  clock_ = load_bytes(bytes + before + 4, 8);
  time_is_whole_ = true;
  body_ = at_ + bits;
  return load_bytes(bytes + before, 4);
}

uint64_t StreamCursor::read_any_header() {
  BitCursor cursor(buffer_.get(), at_, end_);
  ReadEventHeader visitor(clock_);
  decode_field(table_->stream->event_header.get(), cursor, slots_, visitor, steps_);
  clock_ = visitor.clock;
  time_is_whole_ = visitor.is_whole;
  body_ = cursor.at();
  return visitor.id;
}

void StreamCursor::find_end(const PacketValues& shared) {
  if (!plan->program) {
    measure(shared);
    return;
  }
  if (plan->program->aligned) body_ = (body_ + 7) & ~7ULL;
  if (body_ > end_) throw DecodeError{"a field is aligned beyond the packet's content", true};
  if (!plan->program->is_fixed()) return walk();
  const uint64_t bits = static_cast<uint64_t>(plan->program->segments[0].bytes) * 8;
  if (bits > end_ - body_) throw DecodeError{"a field ends beyond the packet's content", true};
  anchors_[0] = buffer_.get() + body_ / 8;
  next_ = body_ + bits;
  bytes_ = plan->program->segments[0].bytes;
}

void StreamCursor::measure(const PacketValues& shared) {
  const uint64_t before = steps_;
  bytes_ = 0;
  if (plan->copies_context) {
    if (context_steps_ > steps_) throw DecodeError{kTooManyFields};
    steps_ -= context_steps_;
    bytes_ = context_bytes_;
  }
  next_ = measure_event(*plan, shared, slots_, body_, steps_);
  bytes_ += (next_ - body_) / 8 + 8 * (before - steps_);
}

void StreamCursor::walk() {
  const uint8_t* at = buffer_.get() + body_ / 8;
  const uint8_t* end = buffer_.get() + end_ / 8;
  const auto left = [&] { return static_cast<uint64_t>(end - at); };
  const auto& segments = plan->program->segments;
  for (size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    anchors_[i] = at;
    if (segment.bytes > left()) throw DecodeError{"a field ends beyond the packet's content"};
    at += segment.bytes;
    if (segment.end == Segment::End::string) {
      const void* zero = left() == 0 ? nullptr : std::memchr(at, 0, left());
      if (zero == nullptr) throw DecodeError{"a string does not end in the packet's content"};
      at = static_cast<const uint8_t*>(zero) + 1;
    } else if (segment.end == Segment::End::run) {
      const uint64_t count = load_swapped(anchors_[segment.count_segment] + segment.count_offset,
                                          segment.count_bytes, segment.count_swapped);
      if (count > left() / segment.unit) {
        throw DecodeError{"a field ends beyond the packet's content"};
      }
      at += count * segment.unit;
    } else if (segment.end == Segment::End::padding) {
      const auto offset = static_cast<uint64_t>(at - buffer_.get());
      const uint64_t padding = (segment.unit - offset % segment.unit) % segment.unit;
      if (padding > left()) throw DecodeError{"a field is aligned beyond the packet's content"};
      at += padding;
    }
  }
  next_ = static_cast<uint64_t>(at - buffer_.get()) * 8;
  bytes_ = (next_ - body_) / 8;
}

}  // namespace ctf
