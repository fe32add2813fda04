// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// integer, floating_point and string, and their attributes.
#include <bit>

#include "metadata/errors.hpp"
#include "metadata/tsdl_types.hpp"

namespace ctf::tsdl {

uint64_t TypeParser::alignment_of(const Value& value) const {
  const uint64_t bits = unsigned_of(value, kMaxAlignment);
  if (!std::has_single_bit(bits)) {
    fail(value.place, "alignment " + std::to_string(bits) + " is no power of two");
  }
  return bits;
}

ByteOrder TypeParser::byte_order_of(const Value& value) const {
  if (value.text == "native") return ByteOrder::native;
  if (value.text == "le") return ByteOrder::little;
  if (value.text == "be" || value.text == "network") return ByteOrder::big;
  fail(value.place, "byte order `" + value.text + "` is none of native, le, be, network");
}

Encoding TypeParser::encoding_of(const Value& value) const {
  if (value.text == "none" || value.text == "NONE") return Encoding::none;
  for (const auto* name : {"UTF8", "utf8", "UTF-8", "utf-8", "ASCII", "ascii"}) {
    if (value.text == name) return Encoding::utf8;
  }
  fail(value.place, "encoding `" + value.text + "` is none of none, UTF8, ASCII");
}

FieldPtr TypeParser::integer_type() {
  const std::string place = take().place();
  auto field = std::make_unique<FieldClass>();
  field->kind = Kind::integer;
  field->alignment = 0;
  for (const auto& attribute : attributes()) set_integer_attribute(*field, attribute);
  if (field->size == 0) fail(place, "the integer has no size");
  // CTF 1.8, 4.1.2: the default is 8 for whole bytes, else 1.
  if (field->alignment == 0) field->alignment = field->size % 8 == 0 ? 8 : 1;
  return field;
}

void TypeParser::set_integer_attribute(FieldClass& field, const Attribute& attribute) {
  const auto& [name, value] = attribute;
  if (name == "size") {
    field.size = static_cast<uint32_t>(unsigned_of(value, 1ULL << 32U));
    if (field.size == 0 || field.size > 64) {
      fail(value.place, "integers of " + std::to_string(value.integer) +
                            " bits are not supported (1 to 64 are)");
    }
  } else if (name == "align") {
    field.alignment = static_cast<uint32_t>(alignment_of(value));
  } else if (name == "signed") {
    field.is_signed = value.text == "true" || value.text == "TRUE" ||
                      (value.kind == Value::Kind::integer && value.integer != 0);
  } else if (name == "byte_order") {
    field.order = byte_order_of(value);
  } else if (name == "encoding") {
    field.encoding = encoding_of(value);
  } else if (name == "map") {
    // clock.NAME.value
    const bool shaped = value.text.size() > 12 && value.text.starts_with("clock.") &&
                        value.text.ends_with(".value");
    if (!shaped) fail(value.place, "`map = " + value.text + "` is not clock.NAME.value");
    field.clock_name = value.text.substr(6, value.text.size() - 12);
  }
}

FieldPtr TypeParser::real_type() {
  const std::string place = take().place();
  auto field = std::make_unique<FieldClass>();
  field->kind = Kind::real;
  field->alignment = 0;
  uint64_t exponent = 0;
  uint64_t mantissa = 0;
  for (const auto& [name, value] : attributes()) {
    if (name == "exp_dig") exponent = unsigned_of(value, 1024);
    if (name == "mant_dig") mantissa = unsigned_of(value, 1024);
    if (name == "align") field->alignment = static_cast<uint32_t>(alignment_of(value));
    if (name == "byte_order") field->order = byte_order_of(value);
  }
  if (exponent == 8 && mantissa == 24) field->size = 32;
  if (exponent == 11 && mantissa == 53) field->size = 64;
  if (field->size == 0) {
    fail(place, "floating point numbers of " + std::to_string(exponent) + " exponent and " +
                    std::to_string(mantissa) +
                    " mantissa bits are not supported (8 and 24, 11 and 53 are)");
  }
  if (field->alignment == 0) field->alignment = 8;
  return field;
}

FieldPtr TypeParser::string_type() {
  take();
  auto field = std::make_unique<FieldClass>();
  field->kind = Kind::string;
  field->alignment = 8;
  field->encoding = Encoding::utf8;
  if (is_symbol("{")) {
    for (const auto& [name, value] : attributes()) {
      if (name == "encoding") encoding_of(value);
    }
  }
  return field;
}

}  // namespace ctf::tsdl
