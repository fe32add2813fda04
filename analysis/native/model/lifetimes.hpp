// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Entities by (process, handle). Handles are addresses: one may be several entities one after the
// other, and the same one another entity in another process. Each lives from its begin until its
// handle is new again.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model/column.hpp"
#include "model/differences.hpp"

namespace strata {

struct HandleKey {
  int64_t process;
  int64_t handle;
  bool operator==(const HandleKey&) const = default;
  auto operator<=>(const HandleKey&) const = default;
};

struct HandleHash {
  size_t operator()(const HandleKey& key) const {
    const uint64_t mixed =
        (static_cast<uint64_t>(key.handle) ^ static_cast<uint64_t>(key.process) << 48U) *
        0x9e3779b97f4a7c15U;
    return mixed ^ mixed >> 29U;
  }
};

// While events go by: who has a handle now.
class Living {
 public:
  void begin(int64_t process, int64_t handle, int64_t row) {
    row_[{process, handle}] = row;
    recent_[slot_of({process, handle})] = {{process, handle}, row};
  }
  int64_t find(int64_t process, int64_t handle) const {
    const HandleKey key{process, handle};
    Recent& recent = recent_[slot_of(key)];
    if (recent.key == key) return recent.row;
    const auto known = row_.find(key);
    recent = {key, known == row_.end() ? kNone : known->second};
    return recent.row;
  }

 private:
  // What was asked for last, of those that share a slot: most events name one of a few.
  struct Recent {
    HandleKey key{kNone, kNone};
    int64_t row = kNone;
  };
  static size_t slot_of(const HandleKey& key) { return HandleHash{}(key) >> 57U; }

  mutable std::array<Recent, 128> recent_{};
  std::unordered_map<HandleKey, int64_t, HandleHash> row_;
};

// When all were made: who had a handle at a time. Rows are numbered as they are added.
class Lifetimes {
  struct Life {
    HandleKey key;
    int64_t begin_ns;
    int64_t row;
    std::tuple<HandleKey, int64_t, int64_t> order() const { return {key, begin_ns, row}; }
  };

 public:
  void add(int64_t process, int64_t handle, int64_t begin_ns) {
    lives_.push_back({{process, handle}, begin_ns, static_cast<int64_t>(lives_.size())});
  }
  void sort() { std::ranges::sort(lives_, {}, &Life::order); }

  // The row of the entity that lived at a time; kNone where there was none.
  int64_t find(int64_t process, int64_t handle, int64_t at_ns) const {
    const auto after = first_after(process, handle, at_ns);
    if (after == lives_.begin()) return kNone;
    const Life& before = *(after - 1);
    return before.key == HandleKey{process, handle} ? before.row : kNone;
  }

  // The row whose begin is nearest in time, before or after, of equals the one before.
  int64_t nearest(int64_t process, int64_t handle, int64_t at_ns) const {
    const HandleKey key{process, handle};
    const auto after = first_after(process, handle, at_ns);
    const bool has_after = after != lives_.end() && after->key == key;
    const bool has_before = after != lives_.begin() && (after - 1)->key == key;
    if (!has_before) return has_after ? after->row : kNone;
    const Life& before = *(after - 1);
    const bool nearer = has_after && apart(after->begin_ns, at_ns) < apart(at_ns, before.begin_ns);
    return nearer ? after->row : before.row;
  }

  bool has(int64_t process, int64_t handle) const {
    return find(process, handle, INT64_MAX) != kNone;
  }

 private:
  std::vector<Life>::const_iterator first_after(int64_t process, int64_t handle,
                                                int64_t at_ns) const {
    return std::ranges::upper_bound(
        lives_, std::make_tuple(HandleKey{process, handle}, at_ns, INT64_MAX), {}, &Life::order);
  }

  std::vector<Life> lives_;
};

}  // namespace strata
