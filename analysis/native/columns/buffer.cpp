// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "columns/buffer.hpp"

#include <bit>
#include <cstdlib>
#include <new>

namespace ctf {
BlockPool::~BlockPool() {
  for (auto& blocks : free_) {
    for (uint8_t* block : blocks) std::free(block);
  }
}

size_t BlockPool::block_size(size_t bytes) {
  // Small, for metadata that declare very many columns.
  constexpr size_t kLeast = 256;
  return std::bit_ceil(bytes < kLeast ? kLeast : bytes);
}

uint8_t* BlockPool::acquire(size_t bytes) {
  const size_t size = block_size(bytes);
  {
    const std::lock_guard lock(mutex_);
    auto& blocks = free_[std::countr_zero(size)];
    if (!blocks.empty()) {
      uint8_t* block = blocks.back();
      blocks.pop_back();
      kept_ -= size;
      return block;
    }
  }
  auto* block = static_cast<uint8_t*>(std::aligned_alloc(64, size));
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void BlockPool::release(uint8_t* block, size_t bytes) noexcept {
  const size_t size = block_size(bytes);
  {
    const std::lock_guard lock(mutex_);
    if (kept_ + size <= kMostKept) {
      try {
        free_[std::countr_zero(size)].push_back(block);
        kept_ += size;
        return;
      } catch (const std::bad_alloc&) {
        // Then it is freed.
      }
    }
  }
  std::free(block);
}

void Buffer::grow(size_t bytes) {
  const size_t wanted = BlockPool::block_size(bytes);
  uint8_t* fresh = pool_->acquire(wanted);
  if (size_ > 0) std::memcpy(fresh, data_, size_);
  if (data_ != nullptr) pool_->release(data_, capacity_);
  data_ = fresh;
  capacity_ = wanted;
}

void Buffer::reset() noexcept {
  if (data_ != nullptr) pool_->release(data_, capacity_);
  data_ = nullptr;
  size_ = capacity_ = 0;
}

}  // namespace ctf
