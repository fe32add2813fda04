// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The distinct strings of a column and their codes, in the order of their first use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "columns/buffer.hpp"
#include "metadata/layout.hpp"

namespace ctf {

class Dictionary {
 public:
  explicit Dictionary(const std::shared_ptr<BlockPool>& pool);

  // The code of a text as it stands in the trace: a NUL ends it before its end.
  int32_t code(std::span<const uint8_t> bytes, Encoding encoding);

  int64_t size() const { return static_cast<int64_t>(offsets_.size() / sizeof(int32_t)) - 1; }
  size_t bytes() const { return text_.size() + offsets_.size() + slots_.size() * sizeof(int32_t); }
  const Buffer& offsets() const { return offsets_; }
  const Buffer& text() const { return text_; }

 private:
  // Raw bytes of up to 16, as they stand in the trace, that were looked up before.
  struct Recent {
    uint64_t low = 0;
    uint64_t high = 0;
    int32_t code = -1;
    uint32_t length = 0;
  };
  // Small, for metadata that declare very many columns; powers of two.
  static constexpr size_t kFirstSlots = 16;
  static constexpr size_t kMostRecent = 256;

  int32_t code_of_utf8(std::span<const uint8_t> bytes);
  std::span<const uint8_t> entry(int32_t code) const;
  void rehash();

  Buffer offsets_;
  Buffer text_;
  std::vector<int32_t> slots_;  // open addressing; -1 is free; a power of two
  std::vector<Recent> recent_;  // by hash
};

}  // namespace ctf
