// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "workload_rclcpp/summary_process.hpp"

#include <sys/wait.h>

#include <csignal>
#include <utility>

#include "workload_rclcpp/settings.hpp"

namespace workload {

SummaryProcess::SummaryProcess(const std::string& module) {
  // Its end is told by its exit status.
  std::signal(SIGPIPE, SIG_IGN);
  file_ = popen(("exec python3 -m " + module).c_str(), "w");
  if (file_ == nullptr) {
    throw Error("Cannot start python3 -m " + module + ": the system refused a process.");
  }
}

SummaryProcess::~SummaryProcess() {
  if (file_ != nullptr) {
    pclose(file_);
  }
}

int SummaryProcess::finish() {
  const int status = pclose(std::exchange(file_, nullptr));
  if (status < 0) {
    return 1;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace workload
