// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Puts a decoded field of any class into its column: the visitor of decode/fields.hpp.
#pragma once

#include <vector>

#include "columns/column.hpp"
#include "decode/fields.hpp"

namespace ctf {

class Fill {
 public:
  explicit Fill(Column& column) : stack_{&column} {}

  void integer(const FieldClass&, uint64_t value) {
    if (top().type().kind == ColumnKind::binary) {
      top().append_byte(static_cast<uint8_t>(value));
    } else {
      top().append_integer(value);
    }
  }
  void real(const FieldClass&, double value) { top().append_real(value); }
  void bytes(const FieldClass& field, std::span<const uint8_t> bytes) {
    top().append_bytes(field, bytes);
  }

  void begin_array(const FieldClass&, uint64_t) {
    // Elements of a binary value go to the column itself.
    const bool binary = top().type().kind == ColumnKind::binary;
    stack_.push_back(binary ? &top() : &top().children().front());
  }
  void end_array(const FieldClass&) {
    stack_.pop_back();
    top().end_value();
  }

  void begin_structure(const FieldClass&) { stack_.push_back(nullptr); }
  void member(const FieldClass&, size_t index) {
    stack_.back() = &stack_[stack_.size() - 2]->children()[index];
  }
  void end_structure(const FieldClass&) {
    stack_.pop_back();
    top().end_value();
  }

  void begin_choice(const FieldClass& field, int chosen) {
    if (field.kind == Kind::optional) {
      if (chosen < 0) top().append_null();
      stack_.push_back(&top());
      return;
    }
    auto& options = top().children();
    for (size_t i = 0; i < options.size(); ++i) {
      if (static_cast<int>(i) != chosen) options[i].append_null();
    }
    stack_.push_back(&options[static_cast<size_t>(chosen)]);
  }
  void end_choice(const FieldClass& field) {
    stack_.pop_back();
    if (field.kind == Kind::variant) top().end_value();
  }

 private:
  Column& top() { return *stack_.back(); }

  std::vector<Column*> stack_;
};

}  // namespace ctf
