// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace workload {

/// A Python module that sums up what a node measured: the nodes in Python use the same code.
///
/// It reads lines from its standard input, whose fields are separated by tabs.
class SummaryProcess {
 public:
  /// Starts `python3 -m MODULE`. Throws Error when that is impossible.
  explicit SummaryProcess(const std::string& module);
  SummaryProcess(const SummaryProcess&) = delete;
  SummaryProcess& operator=(const SummaryProcess&) = delete;
  ~SummaryProcess();

  /// Writes a line of fields: texts and whole numbers.
  template <typename... Fields>
  void line(const std::string& key, const Fields&... fields) {
    std::fputs(key.c_str(), file_);
    (field(fields), ...);
    std::fputc('\n', file_);
  }

  /// Ends the input and waits; the exit status, 128 and more for a signal.
  int finish();

 private:
  void field(const std::string& text) { std::fprintf(file_, "\t%s", text.c_str()); }
  void field(std::int64_t number) { std::fprintf(file_, "\t%lld", static_cast<long long>(number)); }

  std::FILE* file_;
};

}  // namespace workload
