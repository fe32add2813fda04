// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "metadata/ctf2_fields.hpp"

#include <bit>

namespace ctf::ctf2 {
namespace {

uint16_t roles(const Node& node) {
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

std::vector<Range> ranges(const Node& node) {
  std::vector<Range> found;
  for (size_t i = 0; i < node.size(); ++i) {
    const Node range = node.at(i);
    if (range.size() != 2) range.fail("a range is an array of two integers");
    found.push_back({range.at(size_t{0}).pattern(), range.at(size_t{1}).pattern()});
  }
  return found;
}

Reference location(const Node& node) {
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

void length(FieldClass& field, const Node& node, bool is_static) {
  if (is_static) {
    field.length = node.at("length").unsigned_integer();
  } else {
    field.reference = location(node.at("length-field-location"));
  }
}

uint32_t minimum_alignment(const Node& node) {
  const uint64_t bits = node.unsigned_integer("minimum-alignment", 1);
  if (!std::has_single_bit(bits) || bits > kMaxAlignment) {
    node.at("minimum-alignment").fail("is no power of two up to " + std::to_string(kMaxAlignment));
  }
  return static_cast<uint32_t>(bits);
}

}  // namespace

FieldPtr FieldParser::field_of(const Node& parent, const char* key, int depth) {
  return parent.has(key) ? field(parent.at(key), depth) : nullptr;
}

FieldPtr FieldParser::field(const Node& node, int depth) {
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
    made->roles = roles(node);
    return made;
  }
  node.at("type").fail("field classes of type `" + type + "` are not supported");
}

FieldPtr FieldParser::bit_array(const Node& node, const std::string& type) {
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
  made->roles = roles(node);
  if (node.has("mappings")) {
    for (const auto& [name, value] : node.at("mappings").json.items()) {
      made->labels.push_back({name, ranges({value, node.place + "/mappings/" + name})});
    }
  }
  return made;
}

FieldPtr FieldParser::text_or_blob(const Node& node, const std::string& type) {
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

FieldPtr FieldParser::array(const Node& node, const std::string& type, int depth) {
  auto made = std::make_unique<FieldClass>();
  made->kind = Kind::array;
  made->alignment = minimum_alignment(node);
  length(*made, node, type == "static-length-array");
  made->element = field(node.at("element-field-class"), depth + 1);
  return made;
}

FieldPtr FieldParser::structure(const Node& node, int depth) {
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

FieldPtr FieldParser::choice(const Node& node, bool optional, int depth) {
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

}  // namespace ctf::ctf2
