// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "storage/blocks.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace strata::storage {
namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;
constexpr size_t kSparePart = 4;                     // of the bound, for blocks that were freed
constexpr size_t kLookEvery = size_t{64} << 20;      // bytes between looks at what is resident
constexpr size_t kFirstReserve = size_t{64} << 20;   // addresses of a block that grows
constexpr size_t kGrowth = 4;                        // times as many, when they do not suffice
constexpr size_t kProgramBytes = size_t{256} << 20;  // what the program needs beside blocks

void* pointer(uintptr_t at) { return reinterpret_cast<void*>(at); }

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

}  // namespace

Blocks& Blocks::shared() {
  // Never destroyed: arrays may outlive what is destroyed at exit.
  static auto* blocks = new Blocks;
  return *blocks;
}

Blocks::~Blocks() {
  while (!blocks_.empty()) release(blocks_.begin());
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
  drop_spare(settings_.memory_bytes / kSparePart);
  hold_bound();
}

Usage Blocks::usage() const {
  const std::lock_guard lock(mutex_);
  return usage_;
}

bool Blocks::owns(const void* data) const {
  const std::lock_guard lock(mutex_);
  return blocks_.contains(reinterpret_cast<uintptr_t>(data));
}

// Up to an eighth more, so that blocks of about one size can follow each other.
size_t Blocks::rounded(size_t bytes) {
  size_t step = size_t{1} << 16;
  while (step * 16 < bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

uintptr_t Blocks::reserve(size_t bytes) {
  // Pieces begin at multiples of their size, so that huge pages fit.
  void* found = ::mmap(nullptr, bytes + kPieceBytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return 0;
  const auto begin = reinterpret_cast<uintptr_t>(found);
  const uintptr_t at = (begin + kPieceBytes - 1) / kPieceBytes * kPieceBytes;
  if (at > begin) ::munmap(found, at - begin);
  const uintptr_t end = begin + bytes + kPieceBytes;
  if (end > at + bytes) ::munmap(pointer(at + bytes), end - at - bytes);
  return at;
}

void* Blocks::allocate(size_t bytes, bool is_zero) {
  const std::lock_guard lock(mutex_);
  const size_t size = rounded(bytes);
  if (!is_zero) {
    if (void* spare = reused(size)) return spare;
  }
  const uintptr_t at = reserve(size);
  if (at == 0) return nullptr;
  Block& block = blocks_[at];
  block.reserved = size;
  if (!extend(at, block, size, true)) {
    release(blocks_.find(at));
    return nullptr;
  }
  hold_bound();
  return pointer(at);
}

void* Blocks::reused(size_t bytes) {
  const auto found = spare_.find(bytes);
  if (found == spare_.end()) return nullptr;
  const uintptr_t at = found->second.back();
  found->second.pop_back();
  if (found->second.empty()) spare_.erase(found);
  usage_.spare_bytes -= bytes;
  Block& block = blocks_[at];
  block.reserved = block.bytes = bytes;
  for (size_t begin = 0; begin < bytes; begin += kPieceBytes) {
    block.pieces.push_back({age_++, -1, std::min(kPieceBytes, bytes - begin)});
    young_.push_back({at, block.pieces.size() - 1, block.pieces.back().age});
  }
  usage_.memory_bytes += bytes;
  since_look_ += bytes;
  hold_bound();
  return pointer(at);
}

// Fills a block with pieces up to `bytes`, which are reserved.
bool Blocks::extend(uintptr_t at, Block& block, size_t bytes, bool has_huge_pages) {
  const size_t before = block.bytes;
  if (bytes <= before) return true;
  // One mapping for all of it: neighbours would be made one anyway.
  if (::mmap(pointer(at + before), bytes - before, kReadWrite,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED) {
    return false;
  }
  if (has_huge_pages && bytes - before >= kPieceBytes) {
    ::madvise(pointer(at + before), bytes - before, MADV_HUGEPAGE);
  }
  size_t begin = before;
  if (!block.pieces.empty() && block.pieces.back().bytes < kPieceBytes) {
    Piece& last = block.pieces.back();
    const size_t more = std::min(kPieceBytes - last.bytes, bytes - begin);
    last.bytes += more;
    begin += more;
  }
  for (; begin < bytes; begin += kPieceBytes) {
    block.pieces.push_back({age_++, -1, std::min(kPieceBytes, bytes - begin)});
    young_.push_back({at, block.pieces.size() - 1, block.pieces.back().age});
  }
  block.bytes = bytes;
  usage_.memory_bytes += bytes - before;
  since_look_ += bytes - before;
  return true;
}

void* Blocks::resize(void* data, size_t bytes) {
  const std::lock_guard lock(mutex_);
  auto found = blocks_.find(reinterpret_cast<uintptr_t>(data));
  if (data == nullptr) {
    found = growing(bytes);
    if (found == blocks_.end()) return nullptr;
  }
  // The last piece is filled up first: one that is in the file already is never cut in two.
  const size_t size =
      bytes <= kPieceBytes ? rounded(bytes) : (bytes + kPieceBytes - 1) / kPieceBytes * kPieceBytes;
  if (size <= found->second.bytes) return data;
  if (size > found->second.reserved) {
    found = moved(found, std::max(kGrowth * found->second.reserved, size));
    if (found == blocks_.end()) return nullptr;
  }
  if (!bring_back_last(found->first, found->second)) return nullptr;
  if (!extend(found->first, found->second, size, false)) return nullptr;
  hold_bound();
  return pointer(found->first);
}

Blocks::ByAddress::iterator Blocks::growing(size_t bytes) {
  const size_t reserved = std::max(bytes, kFirstReserve);
  const uintptr_t at = reserve(reserved);
  if (at == 0) return blocks_.end();
  const auto made = blocks_.emplace(at, Block()).first;
  made->second.reserved = reserved;
  return made;
}

// A last piece that is not full is in memory while its block grows.
bool Blocks::bring_back_last(uintptr_t at, Block& block) {
  if (block.pieces.empty()) return true;
  Piece& piece = block.pieces.back();
  if (piece.slot < 0 || piece.bytes == kPieceBytes) return true;
  const uintptr_t from = at + (block.pieces.size() - 1) * kPieceBytes;
  std::vector<char> content(piece.bytes);
  std::memcpy(content.data(), pointer(from), piece.bytes);
  if (::mmap(pointer(from), piece.bytes, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) == MAP_FAILED) {
    return false;
  }
  std::memcpy(pointer(from), content.data(), piece.bytes);
  free_slots_.push_back(piece.slot);
  piece.slot = -1;
  piece.age = age_++;
  young_.push_back({at, block.pieces.size() - 1, piece.age});
  usage_.file_bytes -= piece.bytes;
  usage_.memory_bytes += piece.bytes;
  return true;
}

// Gives a block more addresses elsewhere; its pages move with it.
Blocks::ByAddress::iterator Blocks::moved(ByAddress::iterator found, size_t reserved) {
  const uintptr_t to = reserve(reserved);
  if (to == 0) return blocks_.end();
  const uintptr_t from = found->first;
  Block block = std::move(found->second);
  size_t begin = 0;
  for (Piece& piece : block.pieces) {
    // Piece by piece, as each mapping moves on its own.
    // Both ranges are the block's: it can only fail where the kernel has no memory for itself.
    if (::mremap(pointer(from + begin), piece.bytes, piece.bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                 pointer(to + begin)) == MAP_FAILED) {
      std::abort();
    }
    begin += piece.bytes;
  }
  if (block.reserved > begin) ::munmap(pointer(from + begin), block.reserved - begin);
  block.reserved = reserved;
  blocks_.erase(found);
  const auto now = blocks_.emplace(to, std::move(block)).first;
  note_young(to, now->second);
  return now;
}

// Pieces that moved with their block keep their age.
void Blocks::note_young(uintptr_t at, Block& block) {
  std::map<uint64_t, size_t> pieces;
  for (size_t i = 0; i < block.pieces.size(); ++i) {
    if (block.pieces[i].slot < 0) pieces[block.pieces[i].age] = i;
  }
  for (Young& young : young_) {
    const auto found = pieces.find(young.age);
    if (found != pieces.end()) young.block = at;
  }
}

void Blocks::free(void* data) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(reinterpret_cast<uintptr_t>(data));
  if (found == blocks_.end()) return;
  const Block& block = found->second;
  const bool is_kept = block.is_whole() && block.bytes == block.reserved &&
                       usage_.spare_bytes + block.bytes <= settings_.memory_bytes / kSparePart;
  if (!is_kept) {
    release(found);
    return;
  }
  usage_.memory_bytes -= block.bytes;
  usage_.spare_bytes += block.bytes;
  spare_[block.bytes].push_back(found->first);
  blocks_.erase(found);
}

bool Blocks::Block::is_whole() const {
  return std::ranges::all_of(pieces, [](const Piece& piece) { return piece.slot < 0; });
}

void Blocks::release(ByAddress::iterator found) {
  const Block& block = found->second;
  for (const Piece& piece : block.pieces) {
    if (piece.slot < 0) {
      usage_.memory_bytes -= piece.bytes;
      continue;
    }
    usage_.file_bytes -= piece.bytes;
    free_slots_.push_back(piece.slot);
    // What is of no use any more need not be written to the disk.
    const auto place = static_cast<off_t>(piece.slot) * static_cast<off_t>(kPieceBytes);
    ::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, place,
                static_cast<off_t>(kPieceBytes));
  }
  ::munmap(pointer(found->first), block.reserved);
  blocks_.erase(found);
}

void Blocks::drop_spare(size_t most) {
  while (usage_.spare_bytes > most) {
    const auto largest = std::prev(spare_.end());
    ::munmap(pointer(largest->second.back()), largest->first);
    usage_.spare_bytes -= largest->first;
    largest->second.pop_back();
    if (largest->second.empty()) spare_.erase(largest);
  }
}

void Blocks::hold_bound() {
  const auto is_held = [this] {
    return usage_.memory_bytes + usage_.spare_bytes <= settings_.memory_bytes;
  };
  // Spare blocks stay: what is made and dropped over and over is not to be cleared each time.
  for (size_t left = young_.size(); left > 0 && !is_held() && usage_.error == 0; --left) {
    const Young oldest = young_.front();
    const auto found = blocks_.find(oldest.block);
    const bool is_there = found != blocks_.end() && oldest.piece < found->second.pieces.size() &&
                          found->second.pieces[oldest.piece].age == oldest.age;
    if (is_there) {
      Piece& piece = found->second.pieces[oldest.piece];
      // What a column is filled with next stays: the piece counts as young again.
      if (piece.bytes < kPieceBytes && found->second.bytes < found->second.reserved) {
        piece.age = age_++;
        young_.push_back({oldest.block, oldest.piece, piece.age});
        young_.pop_front();
        continue;
      }
      if (!move_out(oldest.block, piece, oldest.piece * kPieceBytes)) break;
    }
    young_.pop_front();
  }
  if (!is_held()) drop_spare(0);
  if (usage_.file_bytes > 0 && since_look_ >= kLookEvery) unmap_unused();
}

bool Blocks::move_out(uintptr_t block, Piece& piece, size_t offset) {
  if (!open_file()) return false;
  const int64_t slot = free_slot();
  const auto place = static_cast<off_t>(slot) * static_cast<off_t>(kPieceBytes);
  const auto* from = static_cast<const char*>(pointer(block + offset));
  for (size_t done = 0; done < piece.bytes;) {
    const ssize_t count =
        ::pwrite(file_, from + done, piece.bytes - done, place + static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      usage_.error = count < 0 ? errno : ENOSPC;
      free_slots_.push_back(slot);
      return false;
    }
    done += static_cast<size_t>(count);
  }
  if (::mmap(pointer(block + offset), piece.bytes, kReadWrite, MAP_SHARED | MAP_FIXED, file_,
             place) == MAP_FAILED) {
    usage_.error = errno;
    free_slots_.push_back(slot);
    return false;
  }
  piece.slot = slot;
  usage_.memory_bytes -= piece.bytes;
  usage_.file_bytes += piece.bytes;
  return true;
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

// Pages of the file that were looked at count as the process's: they are given back to the kernel,
// which keeps them as long as it has memory.
void Blocks::unmap_unused() {
  since_look_ = 0;
  if (resident_bytes() < settings_.memory_bytes + kProgramBytes) return;
  for (const auto& [at, block] : blocks_) {
    size_t begin = 0;
    for (size_t i = 0; i < block.pieces.size(); ++i) {
      const Piece& piece = block.pieces[i];
      if (piece.slot >= 0) ::madvise(pointer(at + begin), piece.bytes, MADV_DONTNEED);
      begin += piece.bytes;
    }
  }
}

}  // namespace strata::storage
