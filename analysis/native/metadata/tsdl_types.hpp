// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The types of TSDL: specifiers, declarators, and the scopes in which they get names.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metadata/layout.hpp"
#include "metadata/tsdl_lexer.hpp"

namespace ctf::tsdl {

class TypeParser {
 public:
  explicit TypeParser(std::string_view text);

 protected:
  // What may stand on the right of an attribute's `=`.
  struct Value {
    enum class Kind : uint8_t { integer, string, path } kind = Kind::integer;
    bool negative = false;
    uint64_t integer = 0;
    std::string text;  // of a string; of a path with its dots
    std::string place;
  };

  // A type that names its own length, before the names after it are read: `int a[2], b;`.
  FieldPtr type_specifier();
  Member declarator(const FieldClass& type);
  bool type_declaration();  // typealias, typedef, or a named struct, enum or variant; with its `;`
  Value value();
  std::string path();

  const Token& token() const { return token_; }
  Token take();
  bool is_symbol(std::string_view text) const;
  bool is_word(std::string_view text) const;
  bool take_symbol(std::string_view text);
  void expect(std::string_view symbol);
  [[noreturn]] void fail(const std::string& fact) const;
  [[noreturn]] static void fail(const std::string& place, const std::string& fact);

  void open_scope() { scopes_.emplace_back(); }
  void close_scope() { scopes_.pop_back(); }

  uint64_t unsigned_of(const Value& value, uint64_t most) const;
  ByteOrder byte_order_of(const Value& value) const;

 private:
  using Attribute = std::pair<std::string, Value>;

  FieldPtr integer_type();
  FieldPtr real_type();
  FieldPtr string_type();
  FieldPtr structure_type();
  FieldPtr variant_type();
  FieldPtr enumeration_type();
  FieldPtr alias_type();
  void set_integer_attribute(FieldClass& field, const Attribute& attribute);
  void structure_body(FieldClass& field);
  void enumeration_body(FieldClass& field);
  Range enumerator_range(const FieldClass& field, uint64_t next);
  uint64_t enumerator_value(const FieldClass& field);
  std::vector<Attribute> attributes();
  FieldPtr dimension(FieldPtr element);
  Reference reference();
  std::string alias_name();
  void declare(const std::string& name, FieldPtr field);
  const FieldClass* find(const std::string& name) const;
  FieldPtr copy_of(const FieldClass& field);
  uint64_t alignment_of(const Value& value) const;
  Encoding encoding_of(const Value& value) const;

  Lexer lexer_;
  Token token_;
  std::vector<std::map<std::string, FieldPtr>> scopes_;
  uint64_t budget_ = kMaxFields;
  int depth_ = 0;
};

}  // namespace ctf::tsdl
