// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "metadata/layout.hpp"

namespace ctf {

// The bytes up to the first zero (of the encoding's unit), as UTF-8. What is not valid in its
// encoding becomes U+FFFD, one for each maximal part that could have begun a character (Unicode 16,
// 3.9, "U+FFFD substitution of maximal subparts"; what Python's errors="replace" does).
std::string to_utf8(std::span<const uint8_t> bytes, Encoding encoding);

}  // namespace ctf
