// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Any bytes as a `metadata` file: a layout or a MetadataError.
#include <cstdint>

#include "metadata/metadata.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    ctf::parse_metadata({data, size});
  } catch (const ctf::MetadataError&) {
    // What is wrong was told.
  }
  return 0;
}
