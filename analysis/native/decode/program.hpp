// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The fast way to decode an event class: where its fields lie is worked out once.
//
// An event after its header is a run of *segments*. A segment begins at an *anchor*, has a fixed
// number of bytes in which every field lies at a known offset, and ends in nothing, in a field of
// variable length (a string, a sequence), or in padding to an alignment. The next anchor is behind
// that end. Walking an event means finding its anchors; then a column is filled from many events at
// once, by reading at `anchor + offset`. An event of ROS 2 without strings is one segment.
//
// Classes with fields that are not whole bytes, variants, nested arrays and the like have no
// program and are decoded field by field (decode/fields.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metadata/layout.hpp"

namespace ctf {

struct Segment {
  enum class End : uint8_t { none, string, run, padding };

  uint32_t bytes = 0;
  End end = End::none;
  uint32_t unit = 1;  // bytes of an element of a run; of the alignment for padding
  // Where a run's number of elements stands.
  uint32_t count_segment = 0;
  uint32_t count_offset = 0;
  uint32_t count_bytes = 0;
  bool count_swapped = false;
};

// Where a top-level field lies. A variable one lies from there to the next anchor.
struct FieldPlace {
  Scope scope;
  size_t member;
  const FieldClass* field;
  uint32_t segment;
  uint32_t offset;
};

struct Program {
  std::vector<Segment> segments;
  std::vector<FieldPlace> fields;
  bool aligned = false;  // the first segment begins at a whole byte

  bool is_fixed() const { return segments.size() == 1 && segments[0].end == Segment::End::none; }
};

constexpr size_t kMaxSegments = 64;

// None when the class is not one for the fast way.
std::optional<Program> make_program(const StreamClass& stream, const EventClass& event);

inline uint64_t load_swapped(const uint8_t* at, unsigned bytes, bool swapped) {
  uint64_t value = 0;
  __builtin_memcpy(&value, at, bytes);
  return swapped ? __builtin_bswap64(value) >> (64 - bytes * 8) : value;
}

}  // namespace ctf
