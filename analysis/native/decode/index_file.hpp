// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// LTTng's index of a stream file, `index/<file>.idx` beside it: what the headers of its packets
// said when they were written. It is a witness of the stream, and a stream without one is as good.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ctf {

// What the index says of one packet. Times are clock values.
struct IndexEntry {
  uint64_t offset = 0;  // bytes in the stream file
  uint64_t bytes = 0;
  uint64_t content_bits = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t discarded = 0;
  uint64_t stream_class = 0;
  std::optional<uint64_t> instance;  // since version 1.1
  std::optional<uint64_t> sequence;  // since version 1.1
};

struct IndexFile {
  std::vector<IndexEntry> entries;  // in the order of the packets
  std::string fault;                // why it cannot be used; empty when it can, or is not there
  bool out_of_descriptors = false;  // it could be read with more of them
};

// Never throws for what is or is not there. A last entry that is cut is left out.
IndexFile read_index_file(const std::string& stream_path);

}  // namespace ctf
