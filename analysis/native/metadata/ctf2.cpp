// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The metadata of CTF 2 (CTF2-SPEC-2.0): JSON fragments, each after a record separator.
#include "metadata/ctf2_fields.hpp"
#include "metadata/metadata.hpp"

namespace ctf {
namespace ctf2 {
namespace {

constexpr char kRecordSeparator = '\x1e';

class Parser : public FieldParser {
 public:
  Layout parse(std::string_view text);

 private:
  void fragment(const Node& node);
  void preamble(const Node& node);
  void trace_class(const Node& node);
  void clock_class(const Node& node);
  void stream_class(const Node& node);
  void event_class(const Node& node);
  void alias(const Node& node);

  void give_clock(FieldClass* field, const std::string& clock);

  Layout layout_;
  bool seen_trace_class_ = false;
  size_t event_classes_ = 0;
};

Layout Parser::parse(std::string_view text) {
  layout_.version = 2;
  size_t at = 0;
  for (int number = 1; at < text.size(); ++number) {
    if (text[at] == kRecordSeparator) ++at;
    const size_t end = std::min(text.find(kRecordSeparator, at), text.size());
    const std::string place = "fragment " + std::to_string(number);
    const std::string_view body = text.substr(at, end - at);
    at = end;
    if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) continue;
    try {
      fragment({Json::parse(body), place});
    } catch (const Json::exception& error) {
      throw MetadataError(place, error.what());
    }
  }
  return std::move(layout_);
}

void Parser::fragment(const Node& node) {
  if (node.has("extensions") && !node.at("extensions").json.empty()) {
    node.at("extensions").fail("extensions are not supported");
  }
  const std::string type = node.at("type").text();
  if (type == "preamble") return preamble(node);
  if (type == "field-class-alias") return alias(node);
  if (type == "trace-class") return trace_class(node);
  if (type == "clock-class") return clock_class(node);
  if (type == "data-stream-class") return stream_class(node);
  if (type == "event-record-class") return event_class(node);
  node.fail("fragments of type `" + type + "` are not supported");
}

void Parser::preamble(const Node& node) {
  if (node.at("version").unsigned_integer() != 2) {
    node.at("version").fail("only version 2 is supported in JSON");
  }
  if (!node.has("uuid")) return;
  const Node uuid = node.at("uuid");
  if (uuid.size() != 16) uuid.fail("a UUID has 16 bytes");
  Uuid bytes{};
  for (size_t i = 0; i < 16; ++i) {
    bytes[i] = static_cast<uint8_t>(uuid.at(i).unsigned_integer(255));
  }
  layout_.uuid = bytes;
}

void Parser::trace_class(const Node& node) {
  if (seen_trace_class_) node.fail("a second trace class");
  seen_trace_class_ = true;
  if (node.has("environment")) {
    for (const auto& [name, value] : node.at("environment").json.items()) {
      if (value.is_string()) {
        layout_.environment.emplace_back(name, value.get<std::string>());
      } else {
        const Node entry{value, node.place + "/environment/" + name};
        layout_.environment.emplace_back(name, static_cast<int64_t>(entry.pattern()));
      }
    }
  }
  if (!layout_.uuid && node.has("uid")) layout_.uuid = parse_uuid(node.at("uid").text());
  layout_.packet_header = field_of(node, "packet-header-field-class");
}

void Parser::clock_class(const Node& node) {
  Clock clock;
  clock.name = node.text("name", "");
  clock.uuid = node.text("uid", "");
  clock.frequency = node.at("frequency").unsigned_integer();
  if (clock.frequency == 0) node.at("frequency").fail("is 0");
  if (node.has("offset-from-origin")) {
    const Node offset = node.at("offset-from-origin");
    if (offset.has("seconds")) {
      clock.offset_seconds = static_cast<int64_t>(offset.at("seconds").pattern());
    }
    clock.offset_cycles = offset.unsigned_integer("cycles", 0);
  }
  // Streams refer to a clock by its id; release candidates of the specification did by its name.
  const std::string id = node.text("id", clock.name);
  clock.name = id;
  layout_.clocks.push_back(std::move(clock));
}

void Parser::stream_class(const Node& node) {
  StreamClass stream;
  stream.id = node.unsigned_integer("id", 0);
  stream.packet_context = field_of(node, "packet-context-field-class");
  stream.event_header = field_of(node, "event-record-header-field-class");
  stream.event_context = field_of(node, "event-record-common-context-field-class");
  const std::string clock =
      node.text("default-clock-class-id", node.text("default-clock-class-name", ""));
  if (!clock.empty()) {
    for (size_t i = 0; i < layout_.clocks.size(); ++i) {
      if (layout_.clocks[i].name == clock) stream.clock = static_cast<int>(i);
    }
    if (stream.clock < 0) node.fail("the clock class `" + clock + "` is not declared");
    give_clock(stream.packet_context.get(), clock);
    give_clock(stream.event_header.get(), clock);
  }
  const uint64_t id = stream.id;
  if (!layout_.streams.emplace(id, std::move(stream)).second) {
    node.fail("a second data stream class of id " + std::to_string(id));
  }
}

// Timestamps are values of the default clock; `clock_name` waits on them until it is known.
void Parser::give_clock(FieldClass* field, const std::string& clock) {
  if (field == nullptr) return;
  if ((field->roles & (begin_timestamp | end_timestamp)) != 0) field->clock_name = clock;
  give_clock(field->element.get(), clock);
  for (auto& member : field->members) give_clock(member.field.get(), clock);
}

void Parser::event_class(const Node& node) {
  if (++event_classes_ > kMaxEventClasses) {
    node.fail("more than 65,536 event types are not supported");
  }
  EventClass event;
  event.id = node.unsigned_integer("id", 0);
  event.name = node.text("name", "");
  event.context = field_of(node, "specific-context-field-class");
  event.payload = field_of(node, "payload-field-class");
  const uint64_t id = node.unsigned_integer("data-stream-class-id", 0);
  const auto stream = layout_.streams.find(id);
  if (stream == layout_.streams.end()) {
    node.fail("data stream class " + std::to_string(id) + " is not declared");
  }
  const uint64_t event_id = event.id;
  if (!stream->second.events.emplace(event_id, std::move(event)).second) {
    node.fail("a second event record class of id " + std::to_string(event_id));
  }
}

void Parser::alias(const Node& node) {
  const std::string name = node.at("name").text();
  if (!aliases_.emplace(name, field(node.at("field-class"))).second) {
    node.fail("a second field class alias `" + name + "`");
  }
}

}  // namespace
}  // namespace ctf2

Layout parse_ctf2(std::string_view text) { return ctf2::Parser().parse(text); }

}  // namespace ctf
