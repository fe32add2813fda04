// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "decode/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace ctf {

OpenFiles::~OpenFiles() { close_all(); }

void OpenFiles::close_all() {
  while (!open_.empty()) close_oldest();
}

int OpenFiles::descriptor(size_t file) {
  const auto known = found_.find(file);
  if (known != found_.end()) {
    open_.splice(open_.begin(), open_, known->second);
    return open_.front().second;
  }
  if (open_.size() >= kMostOpen) close_oldest();
  int descriptor = -1;
  for (;;) {
    descriptor = ::open(files_[file].path.c_str(), O_RDONLY | O_CLOEXEC);
    // The process may have fewer descriptors than would be useful: one is enough.
    if (descriptor >= 0 || open_.empty() || (errno != EMFILE && errno != ENFILE)) break;
    close_oldest();
  }
  if (descriptor < 0 && errno == ENOENT) return -1;
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), files_[file].path);
  open_.emplace_front(file, descriptor);
  found_[file] = open_.begin();
  return descriptor;
}

void OpenFiles::close_oldest() {
  ::close(open_.back().second);
  found_.erase(open_.back().first);
  open_.pop_back();
}

size_t OpenFiles::read(size_t file, uint64_t offset, uint8_t* to, size_t bytes) {
  const int from = descriptor(file);
  if (from < 0) return 0;
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(from, to + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::system_error(errno, std::generic_category(), files_[file].path);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

}  // namespace ctf
