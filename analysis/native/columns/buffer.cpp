// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "columns/buffer.hpp"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <new>

namespace ctf {
namespace {

// Blocks of this size are mappings of their own: the system makes them longer without copying them
// and without touching their pages again. (Huge pages were tried: moving them takes them apart.)
constexpr size_t kMapped = 1U << 20;

}  // namespace

BlockPool::~BlockPool() {
  for (size_t exponent = 0; exponent < 64; ++exponent) {
    for (uint8_t* block : free_[exponent]) free_block(block, size_t{1} << exponent);
  }
}

size_t BlockPool::block_size(size_t bytes) {
  // Small, for metadata that declare very many columns.
  constexpr size_t kLeast = 256;
  return std::bit_ceil(bytes < kLeast ? kLeast : bytes);
}

uint8_t* BlockPool::allocate(size_t size) {
  if (size < kMapped) {
    auto* block = static_cast<uint8_t*>(std::aligned_alloc(64, size));
    if (block == nullptr) throw std::bad_alloc();
    return block;
  }
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  return static_cast<uint8_t*>(mapped);
}

void BlockPool::free_block(uint8_t* block, size_t size) noexcept {
  if (size < kMapped) {
    std::free(block);
  } else {
    ::munmap(block, size);
  }
}

// Null when no block of the size waits.
uint8_t* BlockPool::take_free(size_t size) {
  const std::lock_guard lock(mutex_);
  auto& blocks = free_[std::countr_zero(size)];
  if (blocks.empty()) return nullptr;
  uint8_t* block = blocks.back();
  blocks.pop_back();
  kept_ -= size;
  return block;
}

uint8_t* BlockPool::acquire(size_t bytes) {
  const size_t size = block_size(bytes);
  uint8_t* block = take_free(size);
  return block != nullptr ? block : allocate(size);
}

uint8_t* BlockPool::grow(uint8_t* block, size_t old_bytes, size_t used, size_t bytes) {
  const size_t size = block_size(bytes);
  uint8_t* fresh = take_free(size);
  if (fresh == nullptr && block != nullptr && old_bytes >= kMapped) {
    void* moved = ::mremap(block, old_bytes, size, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) throw std::bad_alloc();
    return static_cast<uint8_t*>(moved);
  }
  if (fresh == nullptr) fresh = allocate(size);
  if (used > 0) std::memcpy(fresh, block, used);
  if (block != nullptr) release(block, old_bytes);
  return fresh;
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
  free_block(block, size);
}

void Buffer::grow(size_t bytes) {
  const size_t wanted = BlockPool::block_size(bytes);
  data_ = pool_->grow(data_, capacity_, size_, wanted);
  capacity_ = wanted;
}

void Buffer::reset() noexcept {
  if (data_ != nullptr) pool_->release(data_, capacity_);
  data_ = nullptr;
  size_ = capacity_ = 0;
}

}  // namespace ctf
