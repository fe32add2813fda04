// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace camera_pipeline {

/// What a Python module of this workspace printed, and its exit status.
struct Answer {
  std::string text;
  int status = 0;
};

/// Runs `python3 -m MODULE WORDS...` to its end: what nodes in Python and C++ share has one
/// definition. Throws Error when it cannot be started.
Answer ask_python(const std::string& module, const std::vector<std::string>& words);

}  // namespace camera_pipeline
