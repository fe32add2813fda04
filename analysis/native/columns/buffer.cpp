// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "columns/buffer.hpp"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <new>

namespace ctf {
namespace {

constexpr size_t kHugePage = 2U << 20;

// Blocks of this size are mappings of their own: the system makes them longer without copying them
// and without touching their pages again. They ask for huge pages, whose first touch costs a sixth
// of that of small ones. Only where the old and the new address are multiples of a huge page does a
// move keep huge pages whole.
constexpr size_t kMapped = kHugePage;

// A mapping at a multiple of kHugePage.
uint8_t* map_aligned(size_t size, int protection) {
  void* mapped = ::mmap(nullptr, size + kHugePage, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* found = static_cast<uint8_t*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(found) % kHugePage;
  if (before > 0) ::munmap(found, before);
  ::munmap(found + before + size, kHugePage - before);
  return found + before;
}

// Without huge pages (the system decides) all is the same, but slower.
void ask_for_huge_pages(uint8_t* block, size_t size) { ::madvise(block, size, MADV_HUGEPAGE); }

uint8_t* move(uint8_t* block, size_t old_size, size_t size) {
  uint8_t* target = map_aligned(size, PROT_NONE);
  // A move that fails may have unmapped the target, where another thread maps then: it is left.
  if (::mremap(block, old_size, size, MREMAP_MAYMOVE | MREMAP_FIXED, target) == MAP_FAILED) {
    throw std::bad_alloc();
  }
  ask_for_huge_pages(target, size);
  return target;
}

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
  uint8_t* block = map_aligned(size, PROT_READ | PROT_WRITE);
  ask_for_huge_pages(block, size);
  return block;
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

uint8_t* BlockPool::grow(uint8_t* block, size_t old_bytes, size_t used, size_t bytes) {
  const size_t size = block_size(bytes);
  uint8_t* fresh = take_free(size);
  if (fresh == nullptr && block != nullptr && old_bytes >= kMapped) {
    return move(block, old_bytes, size);
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
