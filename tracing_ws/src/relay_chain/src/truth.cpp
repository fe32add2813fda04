// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "truth.hpp"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <utility>
#include <workload_rclcpp/settings.hpp>

namespace relay_chain {

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

std::string own_file(const std::string& directory, const std::string& node,
                     const std::string& suffix, const std::string& what, bool force) {
  const auto path = std::filesystem::path(directory) / (node + suffix);
  if (!force && std::filesystem::exists(path)) {
    throw workload::Error(
        "Cannot write " + what + " to " + path.string() +
        ": it is there already. Name another directory, or allow replacing it (--force; "
        "parameter force).");
  }
  return path.string();
}

TruthLog::TruthLog(std::string node, const std::string& directory, bool force)
    : node_(std::move(node)) {
  if (!directory.empty()) {
    path_ = own_file(directory, node_, ".csv", "stamps", force);
  }
}

void TruthLog::add(const char* event, std::int64_t seq, std::int64_t at_ns, std::int64_t sent_ns) {
  if (!path_.empty()) {
    const std::lock_guard lock(mutex_);
    rows_.push_back({gettid(), event, seq, at_ns, sent_ns});
  }
}

std::optional<std::string> TruthLog::write() {
  if (path_.empty()) {
    return std::nullopt;
  }
  const std::filesystem::path path(std::exchange(path_, ""));
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  // The line ends of RFC 4180, as Python's writer has them.
  file << "node,pid,tid,event,seq,t_mono_ns,src_mono_ns\r\n";
  const auto pid = getpid();
  for (const Row& row : rows_) {
    file << node_ << ',' << pid << ',' << row.tid << ',' << row.event << ',' << row.seq << ','
         << row.at_ns << ',' << row.sent_ns << "\r\n";
  }
  file.close();
  if (!file) {
    throw workload::Error("Cannot write stamps to " + path.string() +
                          ": the file system refused it.");
  }
  return path.string();
}

}  // namespace relay_chain
