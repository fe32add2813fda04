// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Memory of columns. Blocks of a chunk that was let go serve the next one: a page that was touched
// once costs nothing the second time, and to touch it first costs as much as to decode what fills
// it (docs/reading-speed.md, "The floor").
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace ctf {

// Free blocks by size class; sizes are powers of two from 256. Thread-safe.
class BlockPool {
 public:
  ~BlockPool();
  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // A block of `bytes` that begins with the first `used` bytes of `block`, which is gone then; null
  // for none.
  uint8_t* grow(uint8_t* block, size_t old_bytes, size_t used, size_t bytes);
  void release(uint8_t* block, size_t bytes) noexcept;

  // The power of two that is allocated for a number of bytes.
  static size_t block_size(size_t bytes);

 private:
  static uint8_t* allocate(size_t size);
  static void free_block(uint8_t* block, size_t size) noexcept;
  uint8_t* take_free(size_t size);

  // What may wait to be used again; the rest goes back to the system.
  static constexpr size_t kMostKept = 256U << 20;

  std::mutex mutex_;
  std::vector<uint8_t*> free_[64];
  size_t kept_ = 0;
};

// A growing run of bytes from a pool. 64-byte aligned, as Arrow recommends.
class Buffer {
 public:
  explicit Buffer(std::shared_ptr<BlockPool> pool) : pool_(std::move(pool)) {}
  ~Buffer() { reset(); }
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      reset();
      pool_ = other.pool_;
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, 0);
    }
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }

  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(data_);
  }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }

  void reserve(size_t bytes) {
    if (bytes > capacity_) grow(bytes);
  }
  // Bytes beyond the old size are not initialised.
  void resize(size_t bytes) {
    reserve(bytes);
    size_ = bytes;
  }
  template <typename T>
  void push(T value) {
    reserve(size_ + sizeof value);
    std::memcpy(data_ + size_, &value, sizeof value);
    size_ += sizeof value;
  }
  void append(std::span<const uint8_t> bytes) {
    if (bytes.empty()) return;
    reserve(size_ + bytes.size());
    std::memcpy(data_ + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }

 private:
  void grow(size_t bytes);
  void reset() noexcept;

  std::shared_ptr<BlockPool> pool_;
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace ctf
