// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What the metadata of a CTF trace says of its bytes. Both front ends (TSDL of CTF 1.8, JSON of
// CTF 2) make this one representation; nothing after them knows which it was.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ctf {

enum class ByteOrder : uint8_t { native, little, big };

// Encoding of text, or none: then 8-bit integers are bytes.
enum class Encoding : uint8_t { none, utf8, utf16le, utf16be, utf32le, utf32be };

enum class Kind : uint8_t {
  integer,  // 1 to 64 bits
  varint,   // LEB128, up to 64 bits
  real,     // IEEE 754 of 32 or 64 bits
  string,   // up to a NUL
  text,     // of a length in bytes; a NUL ends it before
  blob,     // bytes of a length
  array,    // elements of a length
  structure,
  variant,   // one of its members, by a selector
  optional,  // its only member or nothing, by a selector
};

// What an integer tells beside its value. A bit set: CTF 2 allows several.
enum Role : uint16_t {
  packet_magic = 1 << 0,
  trace_uuid = 1 << 1,
  stream_class_id = 1 << 2,
  stream_id = 1 << 3,
  event_class_id = 1 << 4,
  packet_bits = 1 << 5,
  content_bits = 1 << 6,
  begin_timestamp = 1 << 7,
  end_timestamp = 1 << 8,
  sequence_number = 1 << 9,
  discarded_events = 1 << 10,
};

// Roots of field references, in the order of decoding.
enum class Scope : uint8_t {
  packet_header,
  packet_context,
  event_header,
  common_context,
  specific_context,
  payload,
};

// An inclusive range of integers, as 64-bit patterns of the signedness of what they are matched to.
struct Range {
  uint64_t low;
  uint64_t high;
};

struct Label {
  std::string name;
  std::vector<Range> ranges;
};

// A field that gives a length or selects an option: found by its path, known by its slot later.
struct Reference {
  std::vector<std::string> path;
  std::optional<Scope> root;  // none: relative to where the reference stands
  unsigned parents = 0;       // of a relative path: structures to leave before it begins
  std::string place;          // in the metadata, for messages
  int slot = -1;
};

struct FieldClass;
using FieldPtr = std::unique_ptr<FieldClass>;

struct Member {
  std::string name;
  FieldPtr field;
  std::vector<Range> ranges;  // of the selector's values, for an option
};

struct FieldClass {
  Kind kind = Kind::structure;
  uint32_t alignment = 1;  // bits, a power of two

  uint32_t size = 0;  // bits, of integers and reals
  ByteOrder order = ByteOrder::native;
  bool is_reversed = false;  // the bits stand in the other order than the byte order's own
  bool is_boolean = false;   // any value but 0 is 1
  bool is_signed = false;
  Encoding encoding = Encoding::none;
  int clock = -1;  // of Layout::clocks, when the integer is a value of it
  std::string clock_name;
  uint16_t roles = 0;         // Role
  int slot = -1;              // where the value is kept for references, when there are any
  std::vector<Label> labels;  // of an enumeration

  std::optional<uint64_t> length;  // bytes of text and blobs, elements of arrays
  Reference reference;             // to the length, or to the selector
  FieldPtr element;
  std::vector<Member> members;
  bool boolean_selector = false;
  uint32_t weight = 1;  // how many values a null of it is: without those inside lists
};

struct Clock {
  std::string name;
  std::string uuid;  // of what it counts: LTTng's is the boot of the machine; may be empty
  uint64_t frequency = 1'000'000'000;  // Hz
  int64_t offset_seconds = 0;
  uint64_t offset_cycles = 0;
};

struct EventClass {
  uint64_t id = 0;
  std::string name;
  FieldPtr context;
  FieldPtr payload;
};

struct StreamClass {
  uint64_t id = 0;
  FieldPtr packet_context;
  FieldPtr event_header;
  FieldPtr event_context;
  std::map<uint64_t, EventClass> events;
  int clock = -1;  // of Layout::clocks
};

using Uuid = std::array<uint8_t, 16>;
using EnvironmentValue = std::variant<int64_t, std::string>;

struct Layout {
  int version = 1;  // of CTF: 1 (1.8) or 2
  ByteOrder order = ByteOrder::little;
  std::optional<Uuid> uuid;
  std::vector<std::pair<std::string, EnvironmentValue>> environment;
  std::vector<Clock> clocks;
  FieldPtr packet_header;
  std::map<uint64_t, StreamClass> streams;
  int slot_count = 0;
  std::string cut;  // where and how the metadata end too early; empty when they are whole
};

// Bounds that no real trace comes near; hostile metadata must not exhaust memory or the stack.
constexpr int kMaxDepth = 64;
constexpr uint64_t kMaxFields = 1'000'000;
constexpr size_t kMaxEventClasses = 1U << 16;  // the kernel has some thousands
constexpr uint64_t kMaxMetadataBytes = 64ULL << 20;
constexpr uint32_t kMaxAlignment = 1U << 20;

// Whether a field, or one inside it, has a role.
bool has_role(const FieldClass& field, uint16_t role);

FieldPtr clone(const FieldClass& field, uint64_t& budget);

std::string format_uuid(const Uuid& uuid);
std::optional<Uuid> parse_uuid(const std::string& text);

}  // namespace ctf
