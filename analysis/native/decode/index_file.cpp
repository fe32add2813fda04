// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "decode/index_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace ctf {
namespace {

// lttng-tools, src/common/index/ctf-index.h: all numbers are big endian.
constexpr uint32_t kIndexMagic = 0xC1F1DCC1;
constexpr size_t kHeader = 16;         // magic, major, minor, bytes of an entry; u32 each
constexpr size_t kSmallestEntry = 56;  // of version 1.0: seven numbers of 64 bits
constexpr size_t kKnownEntry = 72;     // of version 1.1: nine
constexpr size_t kLargestEntry = 4096;
constexpr uint64_t kLargestFile = 1ULL << 30;  // 14 million packets

class File {
 public:
  explicit File(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), error_(errno) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  bool is_absent() const { return error_ == ENOENT || error_ == ENOTDIR; }
  bool is_out_of_descriptors() const { return error_ == EMFILE || error_ == ENFILE; }
  std::optional<uint64_t> regular_size() const {
    struct stat status{};
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    return static_cast<uint64_t>(status.st_size);
  }
  size_t read(uint8_t* to, size_t bytes) const {
    size_t done = 0;
    while (done < bytes) {
      const ssize_t got = ::read(descriptor_, to + done, bytes - done);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

 private:
  int descriptor_;
  int error_;
};

uint64_t load(const uint8_t* from, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8U | from[i];
  return value;
}

IndexEntry entry_at(const uint8_t* at, size_t bytes) {
  IndexEntry entry;
  const auto number = [&](size_t n) { return load(at + 8 * n, 8); };
  entry.offset = number(0);
  entry.bytes = number(1) / 8;
  entry.content_bits = number(2);
  entry.begin = number(3);
  entry.end = number(4);
  entry.discarded = number(5);
  entry.stream_class = number(6);
  if (bytes >= kKnownEntry) {
    entry.instance = number(7);
    entry.sequence = number(8);
  }
  return entry;
}

std::string index_path(const std::string& stream_path) {
  const size_t slash = stream_path.rfind('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  return stream_path.substr(0, name) + "index/" + stream_path.substr(name) + ".idx";
}

}  // namespace

IndexFile read_index_file(const std::string& stream_path) {
  IndexFile found;
  const File file(index_path(stream_path));
  if (!file.is_open()) {
    if (!file.is_absent()) found.fault = "it cannot be opened";
    found.out_of_descriptors = file.is_out_of_descriptors();
    return found;
  }
  const auto size = file.regular_size();
  // A recorder that was killed at once has written nothing of it.
  if (size == 0) return found;
  std::array<uint8_t, kHeader> header{};
  if (!size || *size > kLargestFile || file.read(header.data(), kHeader) != kHeader) {
    found.fault = "it is no index of LTTng";
    return found;
  }
  const size_t bytes = load(header.data() + 12, 4);
  if (load(header.data(), 4) != kIndexMagic || load(header.data() + 4, 4) != 1 ||
      bytes < kSmallestEntry || bytes > kLargestEntry) {
    found.fault = "it is no index of LTTng";
    return found;
  }
  std::vector<uint8_t> content(*size - kHeader);
  content.resize(file.read(content.data(), content.size()));
  for (size_t at = 0; at + bytes <= content.size(); at += bytes) {
    found.entries.push_back(entry_at(content.data() + at, bytes));
  }
  return found;
}

}  // namespace ctf
