// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Stream files. They are read, not mapped: a file that shrinks while it is read is an error that
// can be told, not a signal; and what was read is not counted as memory of the process for ever.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

namespace ctf {

struct StreamFile {
  std::string path;
  uint64_t bytes = 0;
  size_t source = 0;  // of TraceSet::sources
};

// Keeps a bounded number of files open: a trace of per-process buffers has thousands.
class OpenFiles {
 public:
  explicit OpenFiles(const std::vector<StreamFile>& files) : files_(files) {}
  ~OpenFiles();
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  // Reads up to `bytes`, fewer only at the end of the file, none of one that was removed; throws
  // std::system_error.
  size_t read(size_t file, uint64_t offset, uint8_t* to, size_t bytes);
  // To be opened again when they are read again.
  void close_all();

 private:
  static constexpr size_t kMostOpen = 128;

  // -1 when the file is not there any more.
  int descriptor(size_t file);
  void close_oldest();

  const std::vector<StreamFile>& files_;
  std::list<std::pair<size_t, int>> open_;  // the last used first
  std::unordered_map<size_t, std::list<std::pair<size_t, int>>::iterator> found_;
};

}  // namespace ctf
