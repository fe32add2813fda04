// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "metadata/tsdl_types.hpp"

#include <array>
#include <bit>

#include "metadata/errors.hpp"

namespace ctf::tsdl {
namespace {

constexpr std::array<std::string_view, 13> kCWords = {
    "unsigned", "signed", "char",     "short",      "int",   "long", "float",
    "double",   "void",   "_Complex", "_Imaginary", "_Bool", "const"};

bool is_c_word(const std::string& text) {
  for (const auto word : kCWords) {
    if (text == word) return true;
  }
  return false;
}

std::string shown(const Token& token) {
  switch (token.kind) {
    case TokenKind::end:
      return "the end of the metadata";
    case TokenKind::integer:
      return "the integer " + std::to_string(token.value);
    case TokenKind::string:
      return "the string \"" + token.text + "\"";
    default:
      return "`" + token.text + "`";
  }
}

// Counts how deep the declarations that are being read stand in each other.
class Depth {
 public:
  explicit Depth(int& depth) : depth_(depth) { ++depth_; }
  ~Depth() { --depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  int& depth_;
};

}  // namespace

TypeParser::TypeParser(std::string_view text) : lexer_(text) {
  open_scope();
  token_ = lexer_.next();
}

Token TypeParser::take() {
  Token taken = std::move(token_);
  token_ = lexer_.next();
  return taken;
}

bool TypeParser::is_symbol(std::string_view text) const {
  return token_.kind == TokenKind::symbol && token_.text == text;
}

bool TypeParser::is_word(std::string_view text) const {
  return token_.kind == TokenKind::identifier && token_.text == text;
}

bool TypeParser::take_symbol(std::string_view text) {
  if (!is_symbol(text)) return false;
  take();
  return true;
}

void TypeParser::expect(std::string_view symbol) {
  if (!take_symbol(symbol)) fail("expected `" + std::string(symbol) + "`, found " + shown(token_));
}

void TypeParser::fail(const std::string& fact) const { fail(token_.place(), fact); }

void TypeParser::fail(const std::string& place, const std::string& fact) {
  throw MetadataError(place, fact);
}

FieldPtr TypeParser::type_specifier() {
  const Depth depth(depth_);
  if (depth_ > kMaxDepth)
    fail("types stand more than 64 deep in each other, which is not supported");
  if (token_.kind != TokenKind::identifier) fail("expected a type, found " + shown(token_));
  if (is_word("integer")) return integer_type();
  if (is_word("floating_point")) return real_type();
  if (is_word("string")) return string_type();
  if (is_word("struct")) return structure_type();
  if (is_word("variant")) return variant_type();
  if (is_word("enum")) return enumeration_type();
  return alias_type();
}

FieldPtr TypeParser::alias_type() {
  const std::string place = token_.place();
  const std::string name = alias_name();
  const FieldClass* found = find(name);
  if (found == nullptr) fail(place, "the type `" + name + "` is not declared");
  return copy_of(*found);
}

std::string TypeParser::alias_name() {
  std::string name = take().text;
  if (name == "struct" || name == "enum" || name == "variant") return name + " " + take().text;
  while (is_c_word(name.substr(name.rfind(' ') + 1)) && token_.kind == TokenKind::identifier &&
         is_c_word(token_.text)) {
    name += " " + take().text;
  }
  return name;
}

FieldPtr TypeParser::copy_of(const FieldClass& field) {
  FieldPtr copy = clone(field, budget_);
  if (!copy)
    fail("types copied from aliases make more than a million fields, which is not supported");
  return copy;
}

void TypeParser::declare(const std::string& name, FieldPtr field) {
  if (!scopes_.back().emplace(name, std::move(field)).second) {
    fail("the type `" + name + "` is declared twice in its scope");
  }
}

const FieldClass* TypeParser::find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->find(name);
    if (found != scope->end()) return found->second.get();
  }
  return nullptr;
}

std::vector<TypeParser::Attribute> TypeParser::attributes() {
  std::vector<Attribute> found;
  expect("{");
  while (!take_symbol("}")) {
    std::string name = path();
    expect("=");
    found.emplace_back(std::move(name), value());
    expect(";");
  }
  return found;
}

std::string TypeParser::path() {
  if (token_.kind != TokenKind::identifier) fail("expected a name, found " + shown(token_));
  std::string text = take().text;
  while (take_symbol(".")) {
    if (token_.kind != TokenKind::identifier) fail("expected a name, found " + shown(token_));
    text += "." + take().text;
  }
  return text;
}

TypeParser::Value TypeParser::value() {
  Value found;
  found.place = token_.place();
  found.negative = take_symbol("-");
  if (token_.kind == TokenKind::integer) {
    found.integer = take().value;
  } else if (!found.negative && token_.kind == TokenKind::string) {
    found.kind = Value::Kind::string;
    found.text = take().text;
  } else if (!found.negative && token_.kind == TokenKind::identifier) {
    found.kind = Value::Kind::path;
    found.text = path();
  } else {
    fail("expected a value, found " + shown(token_));
  }
  return found;
}

uint64_t TypeParser::unsigned_of(const Value& value, uint64_t most) const {
  if (value.kind != Value::Kind::integer || value.negative || value.integer > most) {
    fail(value.place, "expected an integer from 0 to " + std::to_string(most));
  }
  return value.integer;
}

FieldPtr TypeParser::structure_type() {
  take();
  std::string name;
  if (token_.kind == TokenKind::identifier && !is_word("align")) name = "struct " + take().text;
  FieldPtr field;
  if (is_symbol("{")) {
    field = std::make_unique<FieldClass>();
    field->kind = Kind::structure;
    structure_body(*field);
  } else {
    const FieldClass* found = find(name);
    if (found == nullptr) fail("the type `" + name + "` is not declared");
    return copy_of(*found);
  }
  if (is_word("align")) {
    take();
    expect("(");
    field->alignment = std::max(field->alignment, static_cast<uint32_t>(alignment_of(value())));
    expect(")");
  }
  if (!name.empty()) declare(name, copy_of(*field));
  return field;
}

void TypeParser::structure_body(FieldClass& field) {
  expect("{");
  open_scope();
  while (!take_symbol("}")) {
    if (type_declaration()) continue;
    const FieldPtr type = type_specifier();
    // A struct, enum or variant that is only given its name declares no field.
    if (take_symbol(";")) continue;
    do {
      field.members.push_back(declarator(*type));
    } while (take_symbol(","));
    expect(";");
  }
  close_scope();
}

FieldPtr TypeParser::variant_type() {
  take();
  std::string name;
  if (token_.kind == TokenKind::identifier) name = "variant " + take().text;
  Reference tag;
  if (take_symbol("<")) {
    tag = reference();
    expect(">");
  }
  FieldPtr field;
  if (is_symbol("{")) {
    field = std::make_unique<FieldClass>();
    field->kind = Kind::variant;
    structure_body(*field);
    if (!name.empty()) declare(name, copy_of(*field));
  } else {
    const FieldClass* found = find(name);
    if (found == nullptr) fail("the type `" + name + "` is not declared");
    field = copy_of(*found);
  }
  if (!tag.path.empty() || tag.root) field->reference = std::move(tag);
  return field;
}

FieldPtr TypeParser::enumeration_type() {
  take();
  std::string name;
  if (token_.kind == TokenKind::identifier) name = "enum " + take().text;
  FieldPtr container;
  if (take_symbol(":")) {
    container = type_specifier();
  } else if (!is_symbol("{")) {
    const FieldClass* found = find(name);
    if (found == nullptr) fail("the type `" + name + "` is not declared");
    return copy_of(*found);
  } else {
    const FieldClass* found = find("int");
    if (found == nullptr)
      fail("the enumeration has no container and the type `int` is not declared");
    container = copy_of(*found);
  }
  if (container->kind != Kind::integer) fail("the container of an enumeration is no integer");
  enumeration_body(*container);
  if (!name.empty()) declare(name, copy_of(*container));
  return container;
}

void TypeParser::enumeration_body(FieldClass& field) {
  expect("{");
  uint64_t next = 0;
  while (!take_symbol("}")) {
    if (token_.kind != TokenKind::identifier && token_.kind != TokenKind::string) {
      fail("expected the label of an enumerator, found " + shown(token_));
    }
    Label label;
    label.name = take().text;
    const Range range = enumerator_range(field, next);
    next = range.high + 1;
    label.ranges.push_back(range);
    field.labels.push_back(std::move(label));
    if (!take_symbol(",") && !is_symbol("}")) expect("}");
  }
}

Range TypeParser::enumerator_range(const FieldClass& field, uint64_t next) {
  if (!take_symbol("=")) return {next, next};
  const std::string place = token_.place();
  Range range{};
  range.low = range.high = enumerator_value(field);
  if (take_symbol("...")) range.high = enumerator_value(field);
  const bool ordered = field.is_signed
                           ? static_cast<int64_t>(range.low) <= static_cast<int64_t>(range.high)
                           : range.low <= range.high;
  if (!ordered) fail(place, "the range of the enumerator ends before it begins");
  return range;
}

uint64_t TypeParser::enumerator_value(const FieldClass& field) {
  const Value found = value();
  if (found.kind != Value::Kind::integer) fail(found.place, "the enumerator's value is no integer");
  if (found.negative && !field.is_signed) {
    fail(found.place, "the enumerator is negative and its container unsigned");
  }
  return found.negative ? 0 - found.integer : found.integer;
}

Member TypeParser::declarator(const FieldClass& type) {
  if (is_symbol("*")) fail("pointers are not supported");
  if (token_.kind != TokenKind::identifier) fail("expected a field's name, found " + shown(token_));
  Member member;
  member.name = take().text;
  member.field = dimension(copy_of(type));
  return member;
}

FieldPtr TypeParser::dimension(FieldPtr element) {
  // `int a[2][3]` is two arrays of three, as in C: the last bracket is the innermost.
  if (!take_symbol("[")) return element;
  const Depth depth(depth_);
  if (depth_ > kMaxDepth)
    fail("arrays stand more than 64 deep in each other, which is not supported");
  auto array = std::make_unique<FieldClass>();
  array->kind = Kind::array;
  if (token_.kind == TokenKind::integer) {
    array->length = take().value;
  } else {
    array->reference = reference();
  }
  expect("]");
  array->element = dimension(std::move(element));
  return array;
}

Reference TypeParser::reference() {
  struct Root {
    std::string_view prefix;
    Scope scope;
  };
  static constexpr std::array<Root, 6> kRoots = {{{"trace.packet.header", Scope::packet_header},
                                                  {"stream.packet.context", Scope::packet_context},
                                                  {"stream.event.header", Scope::event_header},
                                                  {"stream.event.context", Scope::common_context},
                                                  {"event.context", Scope::specific_context},
                                                  {"event.fields", Scope::payload}}};
  Reference found;
  found.place = token_.place();
  std::string text = path();
  if (text == "env" || text.starts_with("env.")) {
    fail(found.place, "references to the environment (`" + text + "`) are not supported");
  }
  for (const auto& root : kRoots) {
    const std::string prefix = std::string(root.prefix) + ".";
    if (text.starts_with(prefix)) {
      found.root = root.scope;
      text = text.substr(prefix.size());
      break;
    }
  }
  for (size_t at = 0; at <= text.size();) {
    const size_t dot = std::min(text.find('.', at), text.size());
    found.path.push_back(text.substr(at, dot - at));
    at = dot + 1;
  }
  return found;
}

bool TypeParser::type_declaration() {
  if (is_word("typealias")) {
    take();
    FieldPtr type = type_specifier();
    // An abstract declarator (`typealias int [4] := four;`) would stand here.
    type = dimension(std::move(type));
    expect(":=");
    if (token_.kind != TokenKind::identifier)
      fail("expected a type's name, found " + shown(token_));
    const std::string name = alias_name();
    if (is_symbol("*")) fail("pointers are not supported");
    declare(name, std::move(type));
    expect(";");
    return true;
  }
  if (is_word("typedef")) {
    take();
    const FieldPtr type = type_specifier();
    do {
      Member named = declarator(*type);
      declare(named.name, std::move(named.field));
    } while (take_symbol(","));
    expect(";");
    return true;
  }
  return false;
}

}  // namespace ctf::tsdl
