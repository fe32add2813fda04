// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Values by key where there are nearly always few at a time, which come and go with every message:
// those need no memory of their own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace strata {

template <typename Value>
class FewByKey {
 public:
  bool empty() const { return count_ == 0 && more_.empty(); }
  bool contains(int64_t key) { return find(key) != nullptr; }

  // Until a key is erased. nullptr: there is none.
  Value* find(int64_t key) {
    for (size_t i = 0; i < count_; ++i) {
      if (few_[i].key == key) return &few_[i].value;
    }
    if (more_.empty()) return nullptr;
    const auto known = more_.find(key);
    return known == more_.end() ? nullptr : &known->second;
  }

  // The value of a key, and whether it is this one, as there was none.
  std::pair<Value*, bool> try_emplace(int64_t key, const Value& value) {
    if (Value* known = find(key); known != nullptr) return {known, false};
    if (count_ == kFew) return {&more_.emplace(key, value).first->second, true};
    few_[count_] = {key, value};
    return {&few_[count_++].value, true};
  }

  Value& operator[](int64_t key) { return *try_emplace(key, Value()).first; }

  void erase(int64_t key) {
    for (size_t i = 0; i < count_; ++i) {
      if (few_[i].key != key) continue;
      few_[i] = few_[--count_];
      return;
    }
    if (!more_.empty()) more_.erase(key);
  }

  void clear() {
    count_ = 0;
    if (!more_.empty()) more_.clear();
  }

  // Calls `visit(value)` for all, in no order.
  template <typename Visitor>
  void each(Visitor&& visit) const {
    for (size_t i = 0; i < count_; ++i) visit(few_[i].value);
    for (const auto& [key, value] : more_) visit(value);
  }

 private:
  static constexpr size_t kFew = 4;
  struct Entry {
    int64_t key;
    Value value;
  };

  std::array<Entry, kFew> few_{};
  size_t count_ = 0;
  std::unordered_map<int64_t, Value> more_;
};

}  // namespace strata
