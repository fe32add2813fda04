// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Vectors of as many values as a trace has rows. Large ones lie in blocks: what went before of
// that size is used again, while what the system gives anew has to be cleared first.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

#include "storage/blocks.hpp"

namespace strata {

template <typename T>
struct InBlocks {
  using value_type = T;

  InBlocks() = default;
  template <typename U>
  InBlocks(const InBlocks<U>&) noexcept {}

  static bool is_large(size_t count) { return count >= storage::kLeastBytes / sizeof(T); }

  T* allocate(size_t count) {
    if (count > std::numeric_limits<size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    if (!is_large(count)) return static_cast<T*>(::operator new(count * sizeof(T)));
    void* found = storage::Blocks::shared().allocate(count * sizeof(T), false);
    if (found == nullptr) throw std::bad_alloc();
    return static_cast<T*>(found);
  }
  void deallocate(T* values, size_t count) noexcept {
    if (is_large(count)) {
      storage::Blocks::shared().free(values);
    } else {
      ::operator delete(values);
    }
  }

  template <typename U>
  bool operator==(const InBlocks<U>&) const {
    return true;
  }
};

template <typename T>
using Many = std::vector<T, InBlocks<T>>;

}  // namespace strata
