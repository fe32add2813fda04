// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// A column of rows that grows at its end; its values lie one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "storage/blocks.hpp"

namespace strata {

// Null in columns of ids, instants and durations.
inline constexpr int64_t kNone = -1;

// Columns of row numbers are of 32 bits.
inline constexpr size_t kMostRows = INT32_MAX;

// The fuzzers look at every row that is asked for: null as a row number, and what is between the
// last row and the end of a column's memory, are seen by no sanitizer.
#ifdef STRATA_CHECK_ROWS
inline constexpr bool kChecksRows = true;
#else
inline constexpr bool kChecksRows = false;
#endif

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_row(const char* table) {
  throw std::overflow_error("more than " + std::to_string(kMostRows) + " rows of " + table);
}

template <typename T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;

  Column() = default;
  Column(Column&& other) noexcept { swap(other); }
  Column& operator=(Column&& other) noexcept {
    swap(other);
    return *this;
  }
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;
  ~Column() { release(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  [[gnu::always_inline]] void push_back(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = value;
  }

  // Rows behind the end are filled with `value`; those beyond `rows` go.
  void resize(size_t rows, T value) {
    if (rows > capacity_) grow(rows);
    if (rows > size_) std::fill(data_ + size_, data_ + rows, value);
    size_ = rows;
  }

  void clear() {
    release();
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

  T& operator[](size_t row) {
    check(row);
    return data_[row];
  }
  const T& operator[](size_t row) const {
    check(row);
    return data_[row];
  }

  // Until the next row is added.
  T* data() { return data_; }
  const T* data() const { return data_; }

  size_t bytes() const { return capacity_ * sizeof(T); }

  void swap(Column& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  static constexpr size_t kFirstBytes = 256;

  void check(size_t row) const {
    if constexpr (kChecksRows) {
      if (row >= size_) std::abort();
    }
  }

  bool is_large() const { return bytes() >= storage::kLeastBytes; }

  [[gnu::noinline]] void grow(size_t rows) {
    const size_t before = bytes();
    size_t after = before == 0 ? kFirstBytes : 2 * before;
    if (before >= storage::kPieceBytes) after = before + storage::kPieceBytes;
    after = std::max(after, rows * sizeof(T));
    void* grown = nullptr;
    if (after < storage::kLeastBytes) {
      grown = std::realloc(data_, after);
    } else if (is_large()) {
      grown = storage::Blocks::shared().resize(data_, after);
    } else {
      grown = storage::Blocks::shared().resize(nullptr, after);
      if (grown != nullptr && before > 0) {
        __builtin_memcpy(grown, data_, before);
        std::free(data_);
      }
    }
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(grown);
    capacity_ = after / sizeof(T);
  }

  void release() {
    if (is_large()) {
      storage::Blocks::shared().free(data_);
    } else {
      std::free(data_);
    }
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

// `column[row]`, and null for null.
template <typename T>
int64_t pick(const Column<T>& column, int64_t row) {
  return row == kNone ? kNone : static_cast<int64_t>(column[static_cast<size_t>(row)]);
}

}  // namespace strata
