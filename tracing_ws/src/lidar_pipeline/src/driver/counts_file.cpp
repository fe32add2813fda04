// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "counts_file.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <workload_rclcpp/settings.hpp>

namespace lidar_pipeline {

namespace {

/// JSON of an object, as Python writes it.
std::string json_of(const Counts& counts, const char* begin, const char* between, const char* end) {
  std::string out = begin;
  for (const auto& [name, count] : counts) {
    out += (&name == &counts.front().first ? "\"" : std::string(between) + "\"") + name +
           "\": " + std::to_string(count);
  }
  return out + end;
}

}  // namespace

CountsFile::CountsFile(const std::string& directory, bool force) {
  if (directory.empty()) {
    return;
  }
  const auto path = std::filesystem::path(directory) / "ouster_driver.json";
  path_ = path.string();
  if (!force && std::filesystem::exists(path)) {
    throw workload::Error("Cannot write counts to " + path_ + ": it is there already. Use force.");
  }
  std::filesystem::create_directories(path.parent_path());
}

void CountsFile::write(const Counts& counts) const {
  std::fprintf(stderr, "ouster_driver: %s\n", json_of(counts, "{", ", ", "}").c_str());
  if (path_.empty()) {
    return;
  }
  std::ofstream file(path_);
  file << (counts.empty() ? "{}\n" : json_of(counts, "{\n  ", ",\n  ", "\n}\n"));
  file.close();
  if (!file) {
    throw workload::Error("Cannot write counts to " + path_ + ": the file system refused it.");
  }
  std::fprintf(stderr, "ouster_driver: wrote %s\n", path_.c_str());
}

}  // namespace lidar_pipeline
