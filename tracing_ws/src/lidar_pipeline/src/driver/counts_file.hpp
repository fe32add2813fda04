// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// What the driver received and published: printed at its end, and written to a file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lidar_pipeline {

/// Counts by their names, in the order of the file.
using Counts = std::vector<std::pair<const char*, std::int64_t>>;

/// The file for them; without a directory they are only printed.
class CountsFile {
 public:
  /// Makes the directory. Throws workload::Error when the file is there already and `force` is not
  /// set.
  CountsFile(const std::string& directory, bool force);

  /// Prints and writes. Throws workload::Error when the file cannot be written.
  void write(const Counts& counts) const;

 private:
  std::string path_;
};

}  // namespace lidar_pipeline
