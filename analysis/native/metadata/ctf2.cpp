// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The metadata of CTF 2 (CTF2-SPEC-2.0): JSON fragments, each after a record separator.
#include <bit>
#include <map>
#include <nlohmann/json.hpp>

#include "metadata/metadata.hpp"

namespace ctf {
namespace {

using Json = nlohmann::json;

constexpr char kRecordSeparator = '\x1e';

// One fragment, or a value in it; knows its place for messages.
struct Node {
  const Json& json;
  std::string place;

  [[noreturn]] void fail(const std::string& fact) const { throw MetadataError(place, fact); }
  bool has(const char* key) const { return json.is_object() && json.contains(key); }
  Node at(const char* key) const {
    if (!has(key)) fail(std::string("has no `") + key + "`");
    return {json.at(key), place + "/" + key};
  }
  Node at(size_t index) const { return {json.at(index), place + "/" + std::to_string(index)}; }
  size_t size() const {
    if (!json.is_array()) fail("is no array");
    return json.size();
  }
  std::string text() const {
    if (!json.is_string()) fail("is no string");
    return json.get<std::string>();
  }
  std::string text(const char* key, const std::string& otherwise) const {
    return has(key) ? at(key).text() : otherwise;
  }
  uint64_t unsigned_integer(uint64_t most = UINT64_MAX) const {
    if (!json.is_number_integer() || (!json.is_number_unsigned() && json.get<int64_t>() < 0) ||
        json.get<uint64_t>() > most) {
      fail("is no integer from 0 to " + std::to_string(most));
    }
    return json.get<uint64_t>();
  }
  uint64_t unsigned_integer(const char* key, uint64_t otherwise) const {
    return has(key) ? at(key).unsigned_integer() : otherwise;
  }
  uint64_t pattern() const {
    if (!json.is_number_integer()) fail("is no integer");
    return json.is_number_unsigned() ? json.get<uint64_t>()
                                     : static_cast<uint64_t>(json.get<int64_t>());
  }
};

class Parser {
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

  FieldPtr field(const Node& node, int depth = 0);
  FieldPtr field_of(const Node& parent, const char* key, int depth = 0);
  FieldPtr bit_array(const Node& node, const std::string& type);
  FieldPtr text_or_blob(const Node& node, const std::string& type);
  FieldPtr array(const Node& node, const std::string& type, int depth);
  FieldPtr structure(const Node& node, int depth);
  FieldPtr choice(const Node& node, bool optional, int depth);
  void length(FieldClass& field, const Node& node, bool is_static);
  uint16_t roles(const Node& node);
  Reference location(const Node& node);
  std::vector<Range> ranges(const Node& node);
  void give_clock(FieldClass* field, const std::string& clock);

  Layout layout_;
  std::map<std::string, FieldPtr> aliases_;
  std::map<std::string, std::string> clock_ids_;
  uint64_t budget_ = kMaxFields;
  bool seen_trace_class_ = false;
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
  clock.description = node.text("description", "");
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
  if (!aliases_.emplace(name, field_of(node, "field-class")).second) {
    node.fail("a second field class alias `" + name + "`");
  }
}

FieldPtr Parser::field_of(const Node& parent, const char* key, int depth) {
  return parent.has(key) ? field(parent.at(key), depth) : nullptr;
}

FieldPtr Parser::field(const Node& node, int depth) {
  if (depth > kMaxDepth) node.fail("stands more than 64 deep, which is not supported");
  if (node.json.is_string()) {
    const auto found = aliases_.find(node.text());
    if (found == aliases_.end()) node.fail("the alias `" + node.text() + "` is not declared");
    FieldPtr copy = clone(*found->second, budget_);
    if (!copy) node.fail("aliases make more than a million fields, which is not supported");
    return copy;
  }
  const std::string type = node.at("type").text();
  if (type.starts_with("fixed-length-")) return bit_array(node, type);
  if (type == "structure") return structure(node, depth);
  if (type == "variant") return choice(node, false, depth);
  if (type == "optional") return choice(node, true, depth);
  if (type.ends_with("-length-array")) return array(node, type, depth);
  if (type.ends_with("-string") || type.ends_with("-length-blob")) return text_or_blob(node, type);
  if (type == "variable-length-unsigned-integer" || type == "variable-length-signed-integer") {
    auto made = std::make_unique<FieldClass>();
    made->kind = Kind::varint;
    made->alignment = 8;
    made->is_signed = type == "variable-length-signed-integer";
    made->base = static_cast<uint32_t>(node.unsigned_integer("preferred-display-base", 10));
    made->roles = roles(node);
    return made;
  }
  node.at("type").fail("field classes of type `" + type + "` are not supported");
}

FieldPtr Parser::bit_array(const Node& node, const std::string& type) {
  auto made = std::make_unique<FieldClass>();
  const bool real = type == "fixed-length-floating-point-number";
  made->kind = real ? Kind::real : Kind::integer;
  made->is_signed = type == "fixed-length-signed-integer";
  made->is_boolean = type == "fixed-length-boolean";
  if (!real && !made->is_signed && type != "fixed-length-unsigned-integer" &&
      type != "fixed-length-bit-array" && type != "fixed-length-bit-map" && !made->is_boolean) {
    node.at("type").fail("field classes of type `" + type + "` are not supported");
  }
  made->size = static_cast<uint32_t>(node.at("length").unsigned_integer(1ULL << 31));
  if (made->size == 0 || made->size > 64 || (real && made->size != 32 && made->size != 64)) {
    node.at("length").fail("a length of " + std::to_string(made->size) + " bits is not supported");
  }
  const uint64_t alignment = node.unsigned_integer("alignment", 1);
  if (!std::has_single_bit(alignment) || alignment > kMaxAlignment) {
    node.at("alignment").fail("is no power of two up to " + std::to_string(kMaxAlignment));
  }
  made->alignment = static_cast<uint32_t>(alignment);
  const std::string order = node.at("byte-order").text();
  if (order != "little-endian" && order != "big-endian") {
    node.at("byte-order").fail("`" + order + "` is no byte order");
  }
  made->order = order == "big-endian" ? ByteOrder::big : ByteOrder::little;
  const char* natural = made->order == ByteOrder::big ? "last-to-first" : "first-to-last";
  const std::string bit_order = node.text("bit-order", natural);
  if (bit_order != "first-to-last" && bit_order != "last-to-first") {
    node.at("bit-order").fail("`" + bit_order + "` is no bit order");
  }
  made->is_reversed = bit_order != natural;
  made->base = static_cast<uint32_t>(node.unsigned_integer("preferred-display-base", 10));
  made->roles = roles(node);
  if (node.has("mappings")) {
    for (const auto& [name, value] : node.at("mappings").json.items()) {
      made->labels.push_back({name, ranges({value, node.place + "/mappings/" + name})});
    }
  }
  return made;
}

uint16_t Parser::roles(const Node& node) {
  static const std::map<std::string, Role> names = {
      {"packet-magic-number", packet_magic},
      {"metadata-stream-uuid", trace_uuid},
      {"data-stream-class-id", stream_class_id},
      {"data-stream-id", stream_id},
      {"event-record-class-id", event_class_id},
      {"packet-total-length", packet_bits},
      {"packet-content-length", content_bits},
      {"default-clock-timestamp", begin_timestamp},
      {"packet-end-default-clock-timestamp", end_timestamp},
      {"packet-sequence-number", sequence_number},
      {"discarded-event-record-counter-snapshot", discarded_events}};
  uint16_t found = 0;
  if (!node.has("roles")) return found;
  const Node list = node.at("roles");
  for (size_t i = 0; i < list.size(); ++i) {
    const auto known = names.find(list.at(i).text());
    if (known == names.end()) list.at(i).fail("the role is not supported");
    found = static_cast<uint16_t>(found | known->second);
  }
  return found;
}

std::vector<Range> Parser::ranges(const Node& node) {
  std::vector<Range> found;
  for (size_t i = 0; i < node.size(); ++i) {
    const Node range = node.at(i);
    if (range.size() != 2) range.fail("a range is an array of two integers");
    found.push_back({range.at(size_t{0}).pattern(), range.at(size_t{1}).pattern()});
  }
  return found;
}

void Parser::length(FieldClass& field, const Node& node, bool is_static) {
  if (is_static) {
    field.length = node.at("length").unsigned_integer();
  } else {
    field.reference = location(node.at("length-field-location"));
  }
}

Reference Parser::location(const Node& node) {
  static const std::map<std::string, Scope> scopes = {
      {"packet-header", Scope::packet_header},
      {"packet-context", Scope::packet_context},
      {"event-record-header", Scope::event_header},
      {"event-record-common-context", Scope::common_context},
      {"event-record-specific-context", Scope::specific_context},
      {"event-record-payload", Scope::payload}};
  Reference found;
  found.place = node.place;
  if (node.has("origin")) {
    const auto scope = scopes.find(node.at("origin").text());
    if (scope == scopes.end()) node.at("origin").fail("the origin is not supported");
    found.root = scope->second;
  }
  const Node path = node.at("path");
  for (size_t i = 0; i < path.size(); ++i) {
    // null is the structure around the one that was reached.
    if (path.at(i).json.is_null() && !found.root && found.path.empty()) {
      ++found.parents;
    } else if (path.at(i).json.is_null()) {
      path.at(i).fail("null after a name in a path is not supported");
    } else {
      found.path.push_back(path.at(i).text());
    }
  }
  return found;
}

FieldPtr Parser::text_or_blob(const Node& node, const std::string& type) {
  static const std::map<std::string, Encoding> encodings = {{"utf-8", Encoding::utf8},
                                                            {"utf-16le", Encoding::utf16le},
                                                            {"utf-16be", Encoding::utf16be},
                                                            {"utf-32le", Encoding::utf32le},
                                                            {"utf-32be", Encoding::utf32be}};
  auto made = std::make_unique<FieldClass>();
  made->alignment = 8;
  made->roles = roles(node);
  if (type.ends_with("-blob")) {
    made->kind = Kind::blob;
  } else {
    const auto encoding = encodings.find(node.text("encoding", "utf-8"));
    if (encoding == encodings.end()) node.at("encoding").fail("the encoding is not supported");
    made->encoding = encoding->second;
    made->kind = Kind::text;
  }
  if (type == "null-terminated-string") {
    made->kind = Kind::string;
  } else if (type.starts_with("static-length-")) {
    length(*made, node, true);
  } else if (type.starts_with("dynamic-length-")) {
    length(*made, node, false);
  } else {
    node.at("type").fail("field classes of type `" + type + "` are not supported");
  }
  return made;
}

uint32_t minimum_alignment(const Node& node) {
  const uint64_t bits = node.unsigned_integer("minimum-alignment", 1);
  if (!std::has_single_bit(bits) || bits > kMaxAlignment) {
    node.at("minimum-alignment").fail("is no power of two up to " + std::to_string(kMaxAlignment));
  }
  return static_cast<uint32_t>(bits);
}

FieldPtr Parser::array(const Node& node, const std::string& type, int depth) {
  auto made = std::make_unique<FieldClass>();
  made->kind = Kind::array;
  made->alignment = minimum_alignment(node);
  length(*made, node, type == "static-length-array");
  made->element = field(node.at("element-field-class"), depth + 1);
  return made;
}

FieldPtr Parser::structure(const Node& node, int depth) {
  auto made = std::make_unique<FieldClass>();
  made->alignment = minimum_alignment(node);
  if (!node.has("member-classes")) return made;
  const Node list = node.at("member-classes");
  for (size_t i = 0; i < list.size(); ++i) {
    const Node member = list.at(i);
    made->members.push_back(
        {member.at("name").text(), field(member.at("field-class"), depth + 1), {}});
  }
  return made;
}

FieldPtr Parser::choice(const Node& node, bool optional, int depth) {
  auto made = std::make_unique<FieldClass>();
  made->kind = optional ? Kind::optional : Kind::variant;
  made->reference = location(node.at("selector-field-location"));
  if (optional) {
    made->boolean_selector = !node.has("selector-field-ranges");
    std::vector<Range> selected;
    if (!made->boolean_selector) selected = ranges(node.at("selector-field-ranges"));
    made->members.push_back({"", field(node.at("field-class"), depth + 1), std::move(selected)});
    return made;
  }
  const Node options = node.at("options");
  for (size_t i = 0; i < options.size(); ++i) {
    const Node option = options.at(i);
    made->members.push_back({option.text("name", "option" + std::to_string(i)),
                             field(option.at("field-class"), depth + 1),
                             ranges(option.at("selector-field-ranges"))});
  }
  return made;
}

}  // namespace

Layout parse_ctf2(std::string_view text) { return Parser().parse(text); }

}  // namespace ctf
