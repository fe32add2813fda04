// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Memory for what grows with a trace: in memory up to a bound, what is oldest in a file beyond it.
//
//   block   [ piece | piece | piece | piece |  reserved addresses ...  ]
//             file    file    memory  memory
//
// A block is a range of addresses that pieces of 2 MiB fill from its begin. When all pieces in
// memory are as many as the bound allows, the oldest is written to a file without a name, and the
// file is mapped in its place: addresses and contents stay, while the kernel may keep as much of
// the file in memory as is free. So a column that nobody looks at costs no memory.
//
// While anything is in the file, a thread watches how much of it is in memory: of one column only
// what is looked at for long is worth its memory.
//
// The memory of pieces that go is that of pieces to come: what the kernel gives it has to clear,
// which costs more than most work on a column.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace strata::storage {

inline constexpr size_t kPieceBytes = size_t{2} << 20;
// Less is left to malloc.
inline constexpr size_t kLeastBytes = kPieceBytes;

struct Settings {
  size_t memory_bytes = size_t{512} << 20;  // of all pieces in memory
  std::string directory = "/var/tmp";       // of the file; it has no name there
};

// What is where, in bytes, and why nothing goes to the file any more (an errno; 0: it does).
struct Usage {
  size_t memory_bytes = 0;
  size_t file_bytes = 0;
  size_t spare_bytes = 0;  // in memory, of no block: for the next one
  int error = 0;
};

// Blocks of one process. Several threads may allocate; a block is written by one thread, as what
// another writes while its piece goes to the file could be lost.
class Blocks {
 public:
  static Blocks& shared();

  Blocks() = default;
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks();

  void set(Settings settings);
  Usage usage() const;

  // Returns nullptr where the system has no more memory. `is_zero`: all bytes are 0; else they are
  // anything.
  void* allocate(size_t bytes, bool is_zero);
  // A block with at least `bytes`, that begins with what `data` held; it may have moved. Of
  // nullptr: a new one, that grows without being copied.
  void* resize(void* data, size_t bytes);
  void free(void* data);
  bool owns(const void* data) const;
  // Between steps that look at much of what is in the file: its pages that are in memory meanwhile
  // go when they are too many.
  void trim();

 private:
  static constexpr int64_t kInMemory = -1;
  static constexpr int64_t kOfParent = -2;  // in the file of the process that was forked
  struct Piece {
    uint64_t age = 0;  // a number that grows
    int64_t slot = kInMemory;
  };
  struct Block {
    size_t reserved = 0;  // pieces that there are addresses for
    std::vector<Piece> pieces;
  };
  struct Young {
    uintptr_t block;
    size_t piece;
    uint64_t age;
  };
  using ByAddress = std::map<uintptr_t, Block>;

  static uintptr_t reserve(size_t pieces);
  ByAddress::iterator add(size_t pieces);
  bool extend(ByAddress::iterator found, size_t pieces, bool is_zero);
  bool map_new(uintptr_t at, size_t pieces);
  bool use_spare(uintptr_t at);
  ByAddress::iterator moved(ByAddress::iterator found, size_t reserved);
  void release(ByAddress::iterator found);
  void drop_spare(size_t most);

  bool is_full() const { return usage_.memory_bytes >= settings_.memory_bytes; }
  bool move_oldest_out(uintptr_t growing);
  bool write_out(uintptr_t at, Piece& piece);
  bool open_file();
  int64_t free_slot();
  void unmap_unused();
  void watch();
  void keep_watch();
  static void lock_before_fork();
  static void unlock_after_fork();
  static void unlock_in_child();

  mutable std::mutex mutex_;
  std::condition_variable watch_changes_;
  bool is_watched_ = false;
  bool is_ending_ = false;
  Settings settings_;
  Usage usage_;
  ByAddress blocks_;
  std::vector<uintptr_t> spare_;  // pieces in memory of no block
  std::deque<Young> young_;       // pieces in memory, the oldest first
  uint64_t age_ = 0;
  int file_ = -1;
  int64_t slots_ = 0;
  std::vector<int64_t> free_slots_;
  size_t since_look_ = 0;  // pieces that were asked for since the last look at what is resident
};

}  // namespace strata::storage
