// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "python_answers.hpp"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <workload_rclcpp/settings.hpp>

namespace camera_pipeline {

namespace {

/// Writes a word for the shell that popen starts.
std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char letter : word) {
    out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return out + "'";
}

}  // namespace

Answer ask_python(const std::string& module, const std::vector<std::string>& words) {
  std::string command = "exec python3 -m " + module;
  for (const auto& word : words) {
    command += " " + quoted(word);
  }
  std::FILE* file = popen(command.c_str(), "r");
  if (file == nullptr) {
    throw workload::Error("Cannot start python3 -m " + module + ": the system refused a process.");
  }
  Answer answer;
  std::array<char, 4096> part{};
  while (const auto count = std::fread(part.data(), 1, part.size(), file)) {
    answer.text.append(part.data(), count);
  }
  const int status = pclose(file);
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return answer;
}

}  // namespace camera_pipeline
