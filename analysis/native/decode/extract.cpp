// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "decode/extract.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <stdexcept>

#include "decode/stream_cursor.hpp"

namespace ctf {
namespace {

constexpr const char* kNoBytes = "its events do not begin and end at whole bytes";

bool moves_by_bytes(const FieldClass* field) {
  if (field == nullptr) return true;
  if (field->alignment > 8 || field->size % 8 != 0) return false;
  if (field->element && !moves_by_bytes(field->element.get())) return false;
  return std::ranges::all_of(
      field->members, [](const Member& member) { return moves_by_bytes(member.field.get()); });
}

class Extractor {
 public:
  Extractor(const TraceSet& traces, const std::vector<bool>& wanted)
      : traces_(traces), files_(traces.files()) {
    for (size_t i = 0; i < traces.event_classes().size(); ++i) add_class(i, wanted.at(i));
  }

  std::vector<ExtractedEvent> run() {
    for (size_t i = 0; i < traces_.streams().size(); ++i) {
      StreamCursor cursor(traces_, traces_.streams()[i], 0);
      for (size_t packet = 0; cursor.has_packet(); cursor.skip_packet(), ++packet) {
        take_packet(cursor, i, packet);
      }
    }
    return std::move(found_);
  }

 private:
  void add_class(size_t number, bool wanted) {
    const EventClassRef& event = traces_.event_classes()[number];
    const Layout& layout = *traces_.sources()[event.source].layout;
    auto& table =
        tables_.try_emplace({event.source, event.stream}, layout, *event.stream).first->second;
    Plan& plan = plans_.emplace_back();
    plan.stream = event.stream;
    plan.event = event.event;
    plan.program = make_program(*event.stream, *event.event);
    table.put(event.event->id, &plan);
    if (!wanted) return;
    if (table.header == EventTable::Header::any ||
        !moves_by_bytes(event.stream->event_context.get()) ||
        !moves_by_bytes(event.event->context.get()) ||
        !moves_by_bytes(event.event->payload.get())) {
      throw std::invalid_argument("the layout of " + event.event->name + " is not LTTng-UST's");
    }
    wanted_[&plan] = number;
  }

  void take_packet(StreamCursor& cursor, size_t stream, size_t packet) {
    const auto table = tables_.find({traces_.source_of(cursor.packet()), cursor.packet().stream});
    if (table == tables_.end()) return;
    try {
      cursor.load(files_, table->second, shared_);
      while (cursor.advance(shared_)) {
        const auto known = wanted_.find(cursor.plan);
        if (known == wanted_.end()) continue;
        ExtractedEvent event;
        event.event_class = known->second;
        event.stream = stream;
        event.packet = packet;
        event.cycles = cursor.cycles();
        copy(cursor, table->second.header, event);
        found_.push_back(std::move(event));
      }
    } catch (const DecodeError&) {
      // What is behind cannot be found.
    }
  }

  static void copy(StreamCursor& cursor, EventTable::Header header, ExtractedEvent& event) {
    auto& bytes = event.bytes;
    const auto put = [&](uint64_t value, unsigned count) {
      for (unsigned i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(value >> 8 * i));
    };
    if (cursor.body() % 8 != 0 || cursor.end() % 8 != 0) throw std::invalid_argument(kNoBytes);
    const bool compact = header == EventTable::Header::lttng_compact;
    put(compact ? 31 : 0xFFFF, compact ? 1 : 2);
    put(cursor.plan->event->id, 4);
    put(event.cycles, 8);
    const uint64_t begin = cursor.body();
    const auto head = static_cast<uint32_t>(bytes.size());
    bytes.insert(bytes.end(), cursor.bytes() + begin / 8, cursor.bytes() + cursor.end() / 8);
    event.fields.push_back(head);
    BitCursor at(cursor.bytes(), begin, cursor.end());
    uint64_t steps = UINT64_MAX;
    Skip visitor;
    for (const FieldClass* scope :
         {cursor.plan->stream->event_context.get(), cursor.plan->event->context.get(),
          cursor.plan->event->payload.get()}) {
      if (scope == nullptr) continue;
      for (const auto& member : scope->members) {
        decode_field(member.field.get(), at, cursor.slots(), visitor, steps);
        event.fields.push_back(head + static_cast<uint32_t>((at.at() - begin) / 8));
      }
    }
  }

  const TraceSet& traces_;
  OpenFiles files_;
  std::map<std::pair<size_t, const StreamClass*>, EventTable> tables_;
  std::deque<Plan> plans_;
  std::map<const Plan*, size_t> wanted_;
  PacketValues shared_;
  std::vector<ExtractedEvent> found_;
};

}  // namespace

std::vector<ExtractedEvent> extract_events(const TraceSet& traces,
                                           const std::vector<bool>& wanted) {
  return Extractor(traces, wanted).run();
}

}  // namespace ctf
