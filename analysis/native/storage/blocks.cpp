// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "storage/blocks.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

namespace strata::storage {
namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;
constexpr int kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
constexpr size_t kFirstReserve = 32;  // pieces of addresses of a block that grows
constexpr size_t kGrowth = 4;         // times as many, when they do not suffice
// Of one write: the page cache takes larger ones in huge pages (see map_new).
constexpr size_t kWriteBytes = size_t{64} << 10;
constexpr size_t kLookEvery = 16;                    // pieces between looks at what is resident
constexpr size_t kProgramBytes = size_t{192} << 20;  // what the program needs beside blocks
constexpr std::chrono::milliseconds kWatchEvery{5};

void* pointer(uintptr_t at) { return reinterpret_cast<void*>(at); }

size_t pieces_of(size_t bytes) { return (bytes + kPieceBytes - 1) / kPieceBytes; }

off_t place_of(int64_t slot) { return static_cast<off_t>(slot) * static_cast<off_t>(kPieceBytes); }

size_t resident_bytes() {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 128> text{};
  const ssize_t size = ::read(file, text.data(), text.size());
  ::close(file);
  if (size <= 0) return 0;
  const char* begin = text.data();
  const char* end = begin + size;
  const char* second = std::find(begin, end, ' ');
  size_t pages = 0;
  if (second != end) std::from_chars(second + 1, end, pages);
  return pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

// Moves a mapping of one piece. It can only fail where the kernel has no memory for itself; then
// neither place could be trusted.
void move_piece(uintptr_t from, uintptr_t to) {
  if (::mremap(pointer(from), kPieceBytes, kPieceBytes, MREMAP_MAYMOVE | MREMAP_FIXED,
               pointer(to)) == MAP_FAILED) {
    std::abort();
  }
}

}  // namespace

Blocks& Blocks::shared() {
  // Never destroyed: arrays may outlive what is destroyed at exit.
  static auto* blocks = [] {
    auto* made = new Blocks;
    ::pthread_atfork(lock_before_fork, unlock_after_fork, unlock_in_child);
    return made;
  }();
  return *blocks;
}

void Blocks::lock_before_fork() { shared().mutex_.lock(); }
void Blocks::unlock_after_fork() { shared().mutex_.unlock(); }
void Blocks::unlock_in_child() {
  Blocks& own = shared();
  // Of all threads only the one that forked goes on.
  own.is_watched_ = false;
  // What is in the file stays the parent's, and what is written from now on goes to another file.
  for (auto& [at, block] : own.blocks_) {
    for (Piece& piece : block.pieces) {
      if (piece.slot != kInMemory) piece.slot = kOfParent;
    }
  }
  if (own.file_ >= 0) ::close(std::exchange(own.file_, -1));
  own.slots_ = 0;
  own.free_slots_.clear();
  own.mutex_.unlock();
}

Blocks::~Blocks() {
  std::unique_lock lock(mutex_);
  is_ending_ = true;
  watch_changes_.notify_all();
  watch_changes_.wait(lock, [this] { return !is_watched_; });
  while (!blocks_.empty()) release(blocks_.begin());
  drop_spare(0);
  if (file_ >= 0) ::close(file_);
}

void Blocks::set(Settings settings) {
  const std::lock_guard lock(mutex_);
  if (file_ >= 0 && usage_.file_bytes == 0 && settings.directory != settings_.directory) {
    ::close(std::exchange(file_, -1));
    slots_ = 0;
    free_slots_.clear();
  }
  settings_ = std::move(settings);
  usage_.error = 0;
  while (usage_.memory_bytes > settings_.memory_bytes && move_oldest_out(0)) {
  }
  const size_t used = std::min(usage_.memory_bytes, settings_.memory_bytes);
  drop_spare(settings_.memory_bytes - used);
}

Usage Blocks::usage() const {
  const std::lock_guard lock(mutex_);
  return usage_;
}

bool Blocks::owns(const void* data) const {
  const std::lock_guard lock(mutex_);
  return blocks_.contains(reinterpret_cast<uintptr_t>(data));
}

// Addresses at a multiple of a piece; 0 for none.
uintptr_t Blocks::reserve(size_t pieces) {
  const size_t bytes = pieces * kPieceBytes;
  void* found = ::mmap(nullptr, bytes + kPieceBytes, PROT_NONE, kAnonymous, -1, 0);
  if (found == MAP_FAILED) return 0;
  const auto begin = reinterpret_cast<uintptr_t>(found);
  const uintptr_t at = (begin + kPieceBytes - 1) / kPieceBytes * kPieceBytes;
  if (at > begin) ::munmap(found, at - begin);
  const uintptr_t end = begin + bytes + kPieceBytes;
  if (end > at + bytes) ::munmap(pointer(at + bytes), end - at - bytes);
  return at;
}

Blocks::ByAddress::iterator Blocks::add(size_t pieces) {
  const uintptr_t at = reserve(pieces);
  if (at == 0) return blocks_.end();
  const auto made = blocks_.emplace(at, Block()).first;
  made->second.reserved = pieces;
  return made;
}

void* Blocks::allocate(size_t bytes, bool is_zero) {
  const std::lock_guard lock(mutex_);
  const size_t pieces = pieces_of(bytes);
  const auto made = add(pieces);
  if (made == blocks_.end()) return nullptr;
  if (!extend(made, pieces, is_zero)) {
    release(made);
    return nullptr;
  }
  return pointer(made->first);
}

void* Blocks::resize(void* data, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const size_t pieces = pieces_of(bytes);
  const bool is_new = data == nullptr;
  auto found = is_new ? add(std::max(pieces, kFirstReserve))
                      : blocks_.find(reinterpret_cast<uintptr_t>(data));
  if (found == blocks_.end()) return nullptr;
  if (pieces > found->second.reserved) {
    found = moved(found, std::max(kGrowth * found->second.reserved, pieces));
    if (found == blocks_.end()) return nullptr;
  }
  if (extend(found, pieces, false)) return pointer(found->first);
  if (is_new) release(found);
  return nullptr;
}

// Fills a block with pieces up to a number that has addresses.
bool Blocks::extend(ByAddress::iterator found, size_t pieces, bool is_zero) {
  const uintptr_t at = found->first;
  Block& block = found->second;
  while (block.pieces.size() < pieces) {
    const uintptr_t place = at + block.pieces.size() * kPieceBytes;
    size_t count = 1;
    if (is_full() && usage_.error == 0 && spare_.empty()) move_oldest_out(at);
    if (is_zero || !use_spare(place)) {
      // As many as there is memory for, at once.
      const size_t rest = pieces - block.pieces.size();
      const size_t used = std::min(usage_.memory_bytes, settings_.memory_bytes);
      count = std::clamp((settings_.memory_bytes - used) / kPieceBytes, size_t{1}, rest);
      if (!map_new(place, count)) return false;
      drop_spare(settings_.memory_bytes -
                 std::min(used + count * kPieceBytes, settings_.memory_bytes));
    }
    for (size_t i = 0; i < count; ++i) {
      young_.push_back({at, block.pieces.size(), age_});
      block.pieces.push_back({age_++, kInMemory});
    }
    usage_.memory_bytes += count * kPieceBytes;
    since_look_ += count;
  }
  if (usage_.file_bytes > 0 && since_look_ >= kLookEvery) unmap_unused();
  return true;
}

bool Blocks::map_new(uintptr_t at, size_t pieces) {
  const size_t bytes = pieces * kPieceBytes;
  if (::mmap(pointer(at), bytes, kReadWrite, kAnonymous | MAP_FIXED, -1, 0) == MAP_FAILED) {
    return false;
  }
  // No huge pages: a virtual machine gives those that were free for seconds back to its host (free
  // page reporting), and having them again costs six times as much as 512 small ones.
  return true;
}

bool Blocks::use_spare(uintptr_t at) {
  if (spare_.empty()) return false;
  move_piece(spare_.back(), at);
  spare_.pop_back();
  usage_.spare_bytes -= kPieceBytes;
  return true;
}

// Gives a block more addresses elsewhere; its pieces move with it and keep their age.
Blocks::ByAddress::iterator Blocks::moved(ByAddress::iterator found, size_t reserved) {
  const uintptr_t to = reserve(reserved);
  if (to == 0) return blocks_.end();
  const uintptr_t from = found->first;
  Block block = std::move(found->second);
  for (size_t i = 0; i < block.pieces.size(); ++i) {
    move_piece(from + i * kPieceBytes, to + i * kPieceBytes);
  }
  const size_t filled = block.pieces.size() * kPieceBytes;
  if (block.reserved * kPieceBytes > filled) {
    ::munmap(pointer(from + filled), block.reserved * kPieceBytes - filled);
  }
  for (Young& young : young_) {
    if (young.block == from && young.piece < block.pieces.size() &&
        block.pieces[young.piece].age == young.age) {
      young.block = to;
    }
  }
  block.reserved = reserved;
  blocks_.erase(found);
  return blocks_.emplace(to, std::move(block)).first;
}

void Blocks::free(void* data) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(reinterpret_cast<uintptr_t>(data));
  if (found != blocks_.end()) release(found);
}

void Blocks::release(ByAddress::iterator found) {
  const uintptr_t at = found->first;
  const Block& block = found->second;
  for (size_t i = 0; i < block.pieces.size(); ++i) {
    const uintptr_t place = at + i * kPieceBytes;
    const int64_t slot = block.pieces[i].slot;
    if (slot == kInMemory) {
      // What has no more use stays, for what comes next.
      usage_.memory_bytes -= kPieceBytes;
      usage_.spare_bytes += kPieceBytes;
      spare_.push_back(place);
      continue;
    }
    usage_.file_bytes -= kPieceBytes;
    ::munmap(pointer(place), kPieceBytes);
    if (slot == kOfParent) continue;
    free_slots_.push_back(slot);
    // What is of no use any more need not be written to the disk.
    ::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, place_of(slot),
                static_cast<off_t>(kPieceBytes));
  }
  const size_t filled = block.pieces.size() * kPieceBytes;
  if (block.reserved * kPieceBytes > filled) {
    ::munmap(pointer(at + filled), block.reserved * kPieceBytes - filled);
  }
  blocks_.erase(found);
  const size_t used = std::min(usage_.memory_bytes, settings_.memory_bytes);
  drop_spare(settings_.memory_bytes - used);
}

void Blocks::drop_spare(size_t most) {
  while (usage_.spare_bytes > most) {
    ::munmap(pointer(spare_.back()), kPieceBytes);
    spare_.pop_back();
    usage_.spare_bytes -= kPieceBytes;
  }
}

// Writes the oldest piece out; what it had in memory is spare. The last piece of a block that grows
// stays, as it is written next.
bool Blocks::move_oldest_out(uintptr_t growing) {
  for (size_t left = young_.size(); left > 0; --left) {
    const Young oldest = young_.front();
    young_.pop_front();
    const auto found = blocks_.find(oldest.block);
    if (found == blocks_.end() || oldest.piece >= found->second.pieces.size()) continue;
    Block& block = found->second;
    Piece& piece = block.pieces[oldest.piece];
    if (piece.age != oldest.age || piece.slot != kInMemory) continue;
    const bool is_last = oldest.piece + 1 == block.pieces.size();
    if (is_last && (oldest.block == growing || block.reserved > block.pieces.size())) {
      young_.push_back(oldest);
      continue;
    }
    if (write_out(oldest.block + oldest.piece * kPieceBytes, piece)) return true;
    young_.push_front(oldest);
    return false;
  }
  return false;
}

bool Blocks::write_out(uintptr_t at, Piece& piece) {
  if (!open_file()) return false;
  const int64_t slot = free_slot();
  for (size_t done = 0; done < kPieceBytes;) {
    const ssize_t count = ::pwrite(file_, static_cast<const char*>(pointer(at)) + done,
                                   std::min(kWriteBytes, kPieceBytes - done),
                                   place_of(slot) + static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      usage_.error = count < 0 ? errno : ENOSPC;
      free_slots_.push_back(slot);
      return false;
    }
    done += static_cast<size_t>(count);
  }
  const uintptr_t kept = reserve(1);
  if (kept != 0) move_piece(at, kept);
  if (::mmap(pointer(at), kPieceBytes, kReadWrite, MAP_SHARED | MAP_FIXED, file_, place_of(slot)) ==
      MAP_FAILED) {
    usage_.error = errno;
    if (kept != 0) move_piece(kept, at);
    free_slots_.push_back(slot);
    return false;
  }
  if (kept != 0) {
    spare_.push_back(kept);
    usage_.spare_bytes += kPieceBytes;
  }
  piece.slot = slot;
  usage_.memory_bytes -= kPieceBytes;
  usage_.file_bytes += kPieceBytes;
  watch();
  return true;
}

void Blocks::watch() {
  if (is_watched_) return;
  try {
    std::thread(&Blocks::keep_watch, this).detach();
    is_watched_ = true;
  } catch (const std::system_error&) {
    // Without a thread, what is resident is looked at when pieces are asked for.
  }
}

void Blocks::keep_watch() {
  std::unique_lock lock(mutex_);
  while (!is_ending_ && usage_.file_bytes > 0) {
    unmap_unused();
    watch_changes_.wait_for(lock, kWatchEvery);
  }
  is_watched_ = false;
  watch_changes_.notify_all();
}

bool Blocks::open_file() {
  if (file_ >= 0) return true;
  file_ = ::open(settings_.directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file_ < 0) {
    // Not every file system has files without a name.
    std::string name = settings_.directory + "/strata-XXXXXX";
    file_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (file_ >= 0) ::unlink(name.c_str());
  }
  if (file_ < 0) usage_.error = errno;
  return file_ >= 0;
}

int64_t Blocks::free_slot() {
  if (free_slots_.empty()) return slots_++;
  const int64_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void Blocks::trim() {
  const std::lock_guard lock(mutex_);
  if (usage_.file_bytes > 0) unmap_unused();
}

// Pages of the file that were looked at count as the process's: they are given back to the kernel,
// which keeps them as long as it has memory.
void Blocks::unmap_unused() {
  since_look_ = 0;
  if (resident_bytes() < settings_.memory_bytes + kProgramBytes) return;
  for (const auto& [at, block] : blocks_) {
    const size_t count = block.pieces.size();
    for (size_t begin = 0; begin < count;) {
      size_t end = begin;
      while (end < count && block.pieces[end].slot != kInMemory) ++end;
      if (end > begin) {
        ::madvise(pointer(at + begin * kPieceBytes), (end - begin) * kPieceBytes, MADV_DONTNEED);
      }
      begin = end + 1;
    }
  }
}

}  // namespace strata::storage
