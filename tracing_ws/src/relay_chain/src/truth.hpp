// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace relay_chain {

/// CLOCK_MONOTONIC, ns.
std::int64_t now_ns();

/// Gives the file of `what` a node writes: DIRECTORY/NODE and the suffix. Throws Error when it is
/// there already and `force` is not set.
std::string own_file(const std::string& directory, const std::string& node,
                     const std::string& suffix, const std::string& what, bool force);

/// A node's own stamps, as ground truth that is independent of any tracer.
///
/// Rows stay in memory until `write`: callbacks do no I/O. Events: `cb_start` (first thing in a
/// callback), `publish` (just before publishing) and `cb_end` (last thing).
class TruthLog {
 public:
  /// Log for a node into DIRECTORY/NODE.csv; with an empty directory nothing is kept or written.
  /// Throws Error when that file is there already and `force` is not set.
  TruthLog(std::string node, const std::string& directory, bool force);

  /// Notes a stamp that was taken just now; `sent_ns` is that of the source's publish.
  void add(const char* event, std::int64_t seq, std::int64_t at_ns, std::int64_t sent_ns);

  /// Writes the file, once; returns its path, nothing when there is none to write.
  std::optional<std::string> write();

 private:
  struct Row {
    int tid;
    const char* event;
    std::int64_t seq;
    std::int64_t at_ns;
    std::int64_t sent_ns;
  };

  std::string node_;
  std::string path_;
  /// Held by callbacks, which a reentrant group does not keep apart.
  std::mutex mutex_;
  std::vector<Row> rows_;
};

}  // namespace relay_chain
