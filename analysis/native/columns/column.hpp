// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// A column while it is written, laid out as Apache Arrow lays it out.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "columns/buffer.hpp"
#include "columns/dictionary.hpp"
#include "metadata/layout.hpp"

namespace ctf {

enum class ColumnKind : uint8_t {
  fixed,       // integers and reals, of 8 bytes whatever their width in the trace
  dictionary,  // text: int32 codes
  text,        // text inside lists and structures
  binary,
  list,
  structure,
};

// What a column holds. Equal types have equal `key()`s.
struct ColumnType {
  ColumnKind kind = ColumnKind::fixed;
  std::string format;  // of Arrow's C data interface; of the codes for a dictionary
  unsigned width = 0;  // bytes of a fixed value or a code
  bool nullable = false;
  std::string name;  // of a child
  std::vector<ColumnType> children;

  std::string key() const;
};

// The type of a field; `inner` when it stands inside a list or structure.
ColumnType type_of(const FieldClass& field, bool inner = false);
ColumnType integer_type(bool is_signed);
ColumnType dictionary_type();

class Column {
 public:
  Column(const ColumnType& type, const std::shared_ptr<BlockPool>& pool);

  const ColumnType& type() const { return *type_; }
  int64_t length() const { return length_; }
  int64_t null_count() const { return nulls_; }
  size_t bytes() const;

  void reserve(size_t rows) { values_.reserve(rows * type_->width); }

  // Space for `count` more fixed values (or codes), to be filled by the caller.
  template <typename T>
  T* extend(size_t count) {
    const size_t at = values_.size();
    values_.resize(at + count * sizeof(T));
    length_ += static_cast<int64_t>(count);
    if (validity_) mark_valid(count);
    return reinterpret_cast<T*>(values_.data() + at);
  }

  void append_integer(uint64_t value);
  void append_real(double value);
  void append_bytes(const FieldClass& field, std::span<const uint8_t> bytes);
  void append_null();
  void append_byte(uint8_t byte) { values_.push(byte); }  // of a binary value that is not ended
  void end_value();  // of a list, structure or binary value: its parts were appended
  int32_t code(std::span<const uint8_t> bytes, Encoding encoding) {
    return dictionary_->code(bytes, encoding);
  }

  std::vector<Column>& children() { return children_; }
  const std::vector<Column>& children() const { return children_; }
  const Buffer& values() const { return values_; }
  const Buffer& offsets() const { return offsets_; }
  const Buffer* validity() const { return validity_ ? &*validity_ : nullptr; }
  const Dictionary* dictionary() const { return dictionary_.get(); }

 private:
  void mark_valid(size_t count);

  const ColumnType* type_;
  std::shared_ptr<BlockPool> pool_;
  Buffer values_;
  Buffer offsets_;
  std::optional<Buffer> validity_;  // only once there was a null
  std::unique_ptr<Dictionary> dictionary_;
  std::vector<Column> children_;
  int64_t length_ = 0;
  int64_t nulls_ = 0;
};

}  // namespace ctf
