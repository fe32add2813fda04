// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace fuzz {

// A file in memory whose content is another one for each input; made once.
class StreamFile {
 public:
  StreamFile() : descriptor_(::memfd_create("stream", MFD_CLOEXEC)) {
    if (descriptor_ < 0) std::abort();
  }
  std::string put(const uint8_t* data, size_t size) const {
    if (::ftruncate(descriptor_, 0) != 0) std::abort();
    if (::pwrite(descriptor_, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_;
};

}  // namespace fuzz
