// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace ctf {

// Metadata that is wrong, or says what this decoder does not do. The text begins with the place.
class MetadataError : public std::runtime_error {
 public:
  MetadataError(const std::string& place, const std::string& fact)
      : std::runtime_error(place + ": " + fact) {}
};

}  // namespace ctf
