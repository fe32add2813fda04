// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// A column of rows that grows at its end, in chunks that never move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace strata {

// Null in columns of ids, instants and durations.
inline constexpr int64_t kNone = -1;

template <typename T>
class Column {
 public:
  using value_type = T;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  void push_back(T value) {
    if ((size_ & kMask) == 0) chunks_.push_back(std::make_unique_for_overwrite<T[]>(kChunk));
    chunks_[size_ >> kShift][size_ & kMask] = value;
    ++size_;
  }

  // Rows behind the end are filled with `value`; those beyond `rows` go.
  void resize(size_t rows, T value) {
    while (size_ < rows) push_back(value);
    size_ = rows;
    chunks_.resize((rows + kMask) >> kShift);
  }

  T& operator[](size_t row) { return chunks_[row >> kShift][row & kMask]; }
  const T& operator[](size_t row) const { return chunks_[row >> kShift][row & kMask]; }

  // All rows, one after the other; `to` holds `size()` of them.
  void copy_to(T* to) const {
    for (size_t at = 0; at < size_; at += kChunk) {
      const size_t count = size_ - at < kChunk ? size_ - at : kChunk;
      std::memcpy(to + at, chunks_[at >> kShift].get(), count * sizeof(T));
    }
  }

  size_t bytes() const { return chunks_.size() * kChunk * sizeof(T); }

 private:
  static constexpr size_t kShift = 14;
  static constexpr size_t kChunk = size_t{1} << kShift;
  static constexpr size_t kMask = kChunk - 1;

  std::vector<std::unique_ptr<T[]>> chunks_;
  size_t size_ = 0;
};

// `column[row]`, and null for null.
template <typename T>
int64_t pick(const Column<T>& column, int64_t row) {
  return row == kNone ? kNone : static_cast<int64_t>(column[static_cast<size_t>(row)]);
}

}  // namespace strata
