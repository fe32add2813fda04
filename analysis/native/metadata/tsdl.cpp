// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The blocks of TSDL: trace, env, clock, stream, event, callsite.
#include <set>

#include "metadata/metadata.hpp"
#include "metadata/tsdl_types.hpp"

namespace ctf {
namespace tsdl {
namespace {

class Parser : public TypeParser {
 public:
  using TypeParser::TypeParser;

  Layout parse();

 private:
  struct Block {
    std::string place;
    std::vector<std::pair<std::string, Value>> values;
    std::map<std::string, FieldPtr> types;

    const Value* find(std::string_view name) const;
    FieldPtr take(const std::string& name);
  };

  Block block();
  void statement(Block& block);
  void trace_block();
  void environment_block();
  void clock_block();
  void stream_block();
  void event_block();
  uint64_t integer_of(const Block& block, std::string_view name, uint64_t otherwise) const;
  static std::string text_of(const Block& block, std::string_view name);

  struct PendingEvent {
    EventClass event;
    std::optional<uint64_t> stream;
    std::string place;
  };

  Layout layout_;
  std::vector<PendingEvent> events_;
  bool seen_trace_ = false;
};

const Parser::Value* Parser::Block::find(std::string_view name) const {
  for (const auto& [key, value] : values) {
    if (key == name) return &value;
  }
  return nullptr;
}

FieldPtr Parser::Block::take(const std::string& name) {
  const auto found = types.find(name);
  return found == types.end() ? nullptr : std::move(found->second);
}

Parser::Block Parser::block() {
  Block found;
  found.place = take().place();
  expect("{");
  open_scope();
  while (!take_symbol("}")) statement(found);
  close_scope();
  take_symbol(";");
  return found;
}

void Parser::statement(Block& block) {
  if (type_declaration()) return;
  if (is_word("struct") || is_word("enum") || is_word("variant")) {
    type_specifier();
    expect(";");
    return;
  }
  const std::string place = token().place();
  std::string name = path();
  if (take_symbol(":=")) {
    if (!block.types.emplace(name, type_specifier()).second) {
      fail(place, "`" + name + "` stands twice in its block");
    }
  } else {
    expect("=");
    block.values.emplace_back(std::move(name), value());
  }
  expect(";");
}

uint64_t Parser::integer_of(const Block& block, std::string_view name, uint64_t otherwise) const {
  const Value* found = block.find(name);
  return found == nullptr ? otherwise : unsigned_of(*found, UINT64_MAX);
}

std::string Parser::text_of(const Block& block, std::string_view name) {
  const Value* found = block.find(name);
  return found == nullptr ? "" : found->text;
}

void Parser::trace_block() {
  Block found = block();
  if (seen_trace_) fail(found.place, "a second trace block");
  seen_trace_ = true;
  if (integer_of(found, "major", 1) != 1 || integer_of(found, "minor", 8) != 8) {
    fail(found.place, "only CTF 1.8 is supported in TSDL");
  }
  const Value* order = found.find("byte_order");
  if (order == nullptr) fail(found.place, "the trace has no byte_order");
  layout_.order = byte_order_of(*order);
  if (layout_.order == ByteOrder::native) fail(order->place, "the trace's byte order is not given");
  if (const Value* uuid = found.find("uuid")) {
    layout_.uuid = parse_uuid(uuid->text);
    if (!layout_.uuid) fail(uuid->place, "`" + uuid->text + "` is no UUID");
  }
  layout_.packet_header = found.take("packet.header");
}

void Parser::environment_block() {
  for (const auto& [name, value] : block().values) {
    if (value.kind == Value::Kind::integer) {
      const uint64_t pattern = value.negative ? 0 - value.integer : value.integer;
      layout_.environment.emplace_back(name, static_cast<int64_t>(pattern));
    } else {
      layout_.environment.emplace_back(name, value.text);
    }
  }
}

void Parser::clock_block() {
  const Block found = block();
  Clock clock;
  clock.name = text_of(found, "name");
  if (clock.name.empty()) fail(found.place, "the clock has no name");
  clock.uuid = text_of(found, "uuid");
  clock.frequency = integer_of(found, "freq", clock.frequency);
  if (clock.frequency == 0) fail(found.place, "the clock's frequency is 0");
  if (const Value* seconds = found.find("offset_s")) {
    if (seconds->kind != Value::Kind::integer || seconds->integer > INT64_MAX) {
      fail(seconds->place, "offset_s is no integer of 64 bits");
    }
    const auto count = static_cast<int64_t>(seconds->integer);
    clock.offset_seconds = seconds->negative ? -count : count;
  }
  clock.offset_cycles = integer_of(found, "offset", 0);
  layout_.clocks.push_back(std::move(clock));
}

void Parser::stream_block() {
  Block found = block();
  StreamClass stream;
  stream.id = integer_of(found, "id", 0);
  stream.packet_context = found.take("packet.context");
  stream.event_header = found.take("event.header");
  stream.event_context = found.take("event.context");
  const uint64_t id = stream.id;
  if (!layout_.streams.emplace(id, std::move(stream)).second) {
    fail(found.place, "a second stream of id " + std::to_string(id));
  }
}

void Parser::event_block() {
  Block found = block();
  if (events_.size() >= kMaxEventClasses) {
    fail(found.place, "more than 65,536 event types are not supported");
  }
  PendingEvent pending;
  pending.place = found.place;
  pending.event.id = integer_of(found, "id", 0);
  pending.event.name = text_of(found, "name");
  if (found.find("stream_id") != nullptr) pending.stream = integer_of(found, "stream_id", 0);
  pending.event.context = found.take("context");
  pending.event.payload = found.take("fields");
  events_.push_back(std::move(pending));
}

Layout Parser::parse() {
  while (token().kind != TokenKind::end) {
    if (is_word("trace")) {
      trace_block();
    } else if (is_word("env")) {
      environment_block();
    } else if (is_word("clock")) {
      clock_block();
    } else if (is_word("stream")) {
      stream_block();
    } else if (is_word("event")) {
      event_block();
    } else if (is_word("callsite")) {
      block();
    } else if (is_word("struct") || is_word("enum") || is_word("variant")) {
      type_specifier();
      expect(";");
    } else if (!type_declaration() && !take_symbol(";")) {
      fail("no block or type declaration of TSDL begins here");
    }
  }
  if (!seen_trace_) fail("the metadata have no trace block");
  // A trace of one stream need not declare it.
  if (layout_.streams.empty() && !events_.empty()) layout_.streams[0];
  for (auto& pending : events_) {
    const uint64_t id = pending.stream.value_or(layout_.streams.begin()->first);
    const auto stream = layout_.streams.find(id);
    if (stream == layout_.streams.end()) {
      fail(pending.place,
           "the event is of stream " + std::to_string(id) + ", which is not declared");
    }
    const uint64_t event = pending.event.id;
    if (!stream->second.events.emplace(event, std::move(pending.event)).second) {
      fail(pending.place, "a second event of id " + std::to_string(event) + " in its stream");
    }
  }
  return std::move(layout_);
}

FieldClass* member_of(FieldClass* field, std::string_view name) {
  if (field == nullptr) return nullptr;
  for (auto& member : field->members) {
    if (member.name == name) return member.field.get();
  }
  return nullptr;
}

void mark(FieldClass* parent, std::string_view name, Role role) {
  FieldClass* field = member_of(parent, name);
  if (field != nullptr && (field->kind == Kind::integer || role == trace_uuid))
    field->roles |= role;
}

// Integers of these names are values of the trace's clock, if it has one clock and they do not say.
void map_to_clock(FieldClass* parent, std::string_view name, const Layout& layout) {
  FieldClass* field = member_of(parent, name);
  if (field != nullptr && field->kind == Kind::integer && field->clock_name.empty() &&
      layout.clocks.size() == 1) {
    field->clock_name = layout.clocks.front().name;
  }
}

void mark_event_id(FieldClass* header) {
  mark(header, "id", event_class_id);
  // LTTng's compact and large headers: the options of `v` may hold the whole id.
  FieldClass* options = member_of(header, "v");
  if (options == nullptr || options->kind != Kind::variant) return;
  for (auto& option : options->members) mark(option.field.get(), "id", event_class_id);
}

// CTF 1.8 tells roles by names.
void give_roles(Layout& layout) {
  mark(layout.packet_header.get(), "magic", packet_magic);
  mark(layout.packet_header.get(), "uuid", trace_uuid);
  mark(layout.packet_header.get(), "stream_id", stream_class_id);
  mark(layout.packet_header.get(), "stream_instance_id", stream_id);
  for (auto& [id, stream] : layout.streams) {
    FieldClass* context = stream.packet_context.get();
    mark(context, "packet_size", packet_bits);
    mark(context, "content_size", content_bits);
    mark(context, "timestamp_begin", begin_timestamp);
    mark(context, "timestamp_end", end_timestamp);
    mark(context, "packet_seq_num", sequence_number);
    mark(context, "events_discarded", discarded_events);
    map_to_clock(context, "timestamp_begin", layout);
    map_to_clock(context, "timestamp_end", layout);
    map_to_clock(stream.event_header.get(), "timestamp", layout);
    mark_event_id(stream.event_header.get());
  }
}

}  // namespace
}  // namespace tsdl

Layout parse_tsdl(std::string_view text) {
  Layout layout = tsdl::Parser(text).parse();
  tsdl::give_roles(layout);
  return layout;
}

}  // namespace ctf
