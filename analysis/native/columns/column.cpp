// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "columns/column.hpp"

#include "columns/text.hpp"

namespace ctf {
namespace {

bool is_byte(const FieldClass& field) {
  return field.kind == Kind::integer && field.size == 8 && !field.is_signed &&
         field.encoding == Encoding::none && field.labels.empty();
}

ColumnType structure_of(const FieldClass& field, bool options) {
  ColumnType type{ColumnKind::structure, "+s", 0, false, "", {}};
  for (const auto& member : field.members) {
    ColumnType child = type_of(*member.field, true);
    child.name = member.name;
    child.nullable = child.nullable || options;
    type.children.push_back(std::move(child));
  }
  return type;
}

}  // namespace

std::string ColumnType::key() const {
  std::string text = name + ":" + format + (nullable ? "?" : "");
  text += kind == ColumnKind::dictionary ? "d" : "";
  for (const auto& child : children) text += "(" + child.key() + ")";
  return text;
}

ColumnType integer_type(bool is_signed) {
  return {ColumnKind::fixed, is_signed ? "l" : "L", 8, false, "", {}};
}

ColumnType dictionary_type() { return {ColumnKind::dictionary, "i", 4, false, "", {}}; }

ColumnType type_of(const FieldClass& field, bool inner) {
  switch (field.kind) {
    case Kind::integer:
    case Kind::varint:
      return integer_type(field.is_signed);
    case Kind::real:
      return {ColumnKind::fixed, "g", 8, false, "", {}};
    case Kind::string:
    case Kind::text:
      return inner ? ColumnType{ColumnKind::text, "u", 0, false, "", {}} : dictionary_type();
    case Kind::blob:
      return {ColumnKind::binary, "z", 0, false, "", {}};
    case Kind::array: {
      if (is_byte(*field.element)) return {ColumnKind::binary, "z", 0, false, "", {}};
      ColumnType type{ColumnKind::list, "+l", 0, false, "", {}};
      type.children.push_back(type_of(*field.element, true));
      type.children.back().name = "item";
      return type;
    }
    case Kind::structure:
      return structure_of(field, false);
    case Kind::variant:
      return structure_of(field, true);
    case Kind::optional: {
      ColumnType type = type_of(*field.members.front().field, inner);
      type.nullable = true;
      return type;
    }
  }
  return {};
}

Column::Column(const ColumnType& type, const std::shared_ptr<BlockPool>& pool)
    : type_(&type), pool_(pool), values_(pool), offsets_(pool) {
  if (type.kind == ColumnKind::dictionary) dictionary_ = std::make_unique<Dictionary>(pool);
  if (type.kind == ColumnKind::text || type.kind == ColumnKind::binary ||
      type.kind == ColumnKind::list) {
    offsets_.push<int32_t>(0);
  }
  children_.reserve(type.children.size());
  for (const auto& child : type.children) children_.emplace_back(child, pool);
}

size_t Column::bytes() const {
  size_t total = values_.size() + offsets_.size() + (dictionary_ ? dictionary_->bytes() : 0);
  for (const auto& child : children_) total += child.bytes();
  return total;
}

void Column::mark_valid(size_t count) {
  const auto end = static_cast<size_t>(length_);
  const size_t old = validity_->size();
  validity_->resize((end + 7) / 8);
  std::memset(validity_->data() + old, 0, validity_->size() - old);
  for (size_t row = end - count; row < end; ++row) {
    validity_->data()[row / 8] = static_cast<uint8_t>(validity_->data()[row / 8] | 1U << row % 8);
  }
}

void Column::append_integer(uint64_t value) { *extend<uint64_t>(1) = value; }

void Column::append_real(double value) { *extend<double>(1) = value; }

void Column::append_bytes(const FieldClass& field, std::span<const uint8_t> bytes) {
  if (type_->kind == ColumnKind::dictionary) {
    *extend<int32_t>(1) = dictionary_->code(bytes, field.encoding);
  } else if (type_->kind == ColumnKind::text) {
    const std::string text = to_utf8(bytes, field.encoding);
    values_.append({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    end_value();
  } else {
    values_.append(bytes);
    end_value();
  }
}

void Column::end_value() {
  if (type_->kind == ColumnKind::list) {
    offsets_.push(static_cast<int32_t>(children_.front().length()));
  } else if (type_->kind != ColumnKind::structure) {
    offsets_.push(static_cast<int32_t>(values_.size()));
  }
  ++length_;
  if (validity_) mark_valid(1);
}

void Column::append_null() {
  if (!validity_) {
    validity_.emplace(pool_);
    if (length_ > 0) mark_valid(static_cast<size_t>(length_));
  }
  const auto row = static_cast<size_t>(length_);
  if (type_->kind == ColumnKind::fixed || type_->kind == ColumnKind::dictionary) {
    const size_t at = values_.size();
    values_.resize(at + type_->width);
    std::memset(values_.data() + at, 0, type_->width);
  } else if (type_->kind == ColumnKind::structure) {
    for (auto& child : children_) child.append_null();
  } else {
    offsets_.push(type_->kind == ColumnKind::list ? static_cast<int32_t>(children_.front().length())
                                                  : static_cast<int32_t>(values_.size()));
  }
  ++length_;
  ++nulls_;
  mark_valid(1);
  validity_->data()[row / 8] = static_cast<uint8_t>(validity_->data()[row / 8] & ~(1U << row % 8));
}

}  // namespace ctf
