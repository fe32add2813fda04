// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "decode/program.hpp"

#include <map>

namespace ctf {
namespace {

bool is_byte_number(const FieldClass& field) {
  return (field.kind == Kind::integer || field.kind == Kind::real) &&
         (field.size == 8 || field.size == 16 || field.size == 32 || field.size == 64) &&
         field.alignment % 8 == 0 && !field.is_reversed && !field.is_boolean;
}

class Compiler {
 public:
  bool scope(Scope scope, const FieldClass* structure) {
    if (structure == nullptr) return true;
    // Only an empty structure may have an alignment of less than a byte.
    if (structure->alignment > 1 && structure->alignment % 8 != 0) return false;
    align(structure->alignment);
    program_.aligned = program_.aligned || structure->alignment >= 8 || !structure->members.empty();
    for (size_t i = 0; i < structure->members.size(); ++i) {
      if (!field(scope, i, *structure->members[i].field)) return false;
      if (program_.segments.size() > kMaxSegments || segment().bytes > kMostBytes) return false;
    }
    return true;
  }

  Program take() { return std::move(program_); }

 private:
  static constexpr uint32_t kMostBytes = 1U << 24;

  struct Count {
    uint32_t segment;
    uint32_t offset;
    uint32_t bytes;
    bool swapped;
  };

  Segment& segment() { return program_.segments.back(); }

  // Fields begin at whole bytes; a larger alignment is known only relative to the last padding.
  void align(uint32_t bits) {
    const uint32_t bytes = bits / 8;
    if (bytes <= 1) return;
    if (known_ >= bytes) {
      const uint32_t beyond = segment().bytes % bytes;
      if (beyond != 0) segment().bytes += bytes - beyond;
      return;
    }
    segment().end = Segment::End::padding;
    segment().unit = bytes;
    program_.segments.emplace_back();
    known_ = bytes;
  }

  void place(Scope scope, size_t member, const FieldClass& field) {
    const auto number = static_cast<uint32_t>(program_.segments.size() - 1);
    program_.fields.push_back({scope, member, &field, number, segment().bytes});
  }

  void end_segment(Segment::End end) {
    segment().end = end;
    program_.segments.emplace_back();
    known_ = 1;
  }

  bool field(Scope scope, size_t member, const FieldClass& field) {
    if (field.alignment % 8 != 0) return false;
    align(field.alignment);
    if (is_byte_number(field)) {
      place(scope, member, field);
      if (field.slot >= 0) {
        counts_[field.slot] = {static_cast<uint32_t>(program_.segments.size() - 1), segment().bytes,
                               field.size / 8, field.order == ByteOrder::big};
      }
      segment().bytes += field.size / 8;
      return true;
    }
    switch (field.kind) {
      case Kind::string:
        place(scope, member, field);
        end_segment(Segment::End::string);
        return field.encoding == Encoding::utf8;
      case Kind::text:
      case Kind::blob:
        return run(scope, member, field, 1);
      case Kind::array: {
        const FieldClass& element = *field.element;
        const bool packed =
            is_byte_number(element) && element.size % element.alignment == 0 && element.slot < 0;
        return packed && run(scope, member, field, element.size / 8);
      }
      default:
        return false;
    }
  }

  bool run(Scope scope, size_t member, const FieldClass& field, uint32_t unit) {
    if (field.length) {
      // What is fixed and large is no event of any producer; it would overflow offsets.
      if (*field.length > 65536) return false;
      place(scope, member, field);
      segment().bytes += static_cast<uint32_t>(*field.length) * unit;
      return true;
    }
    const auto count = counts_.find(field.reference.slot);
    if (count == counts_.end()) return false;
    place(scope, member, field);
    Segment& ended = segment();
    ended.unit = unit;
    ended.count_segment = count->second.segment;
    ended.count_offset = count->second.offset;
    ended.count_bytes = count->second.bytes;
    ended.count_swapped = count->second.swapped;
    end_segment(Segment::End::run);
    return true;
  }

  Program program_{{Segment{}}, {}, false};
  std::map<int, Count> counts_;  // by slot
  uint32_t known_ = 1;           // bytes to which the segment's anchor is aligned
};

}  // namespace

std::optional<Program> make_program(const StreamClass& stream, const EventClass& event) {
  Compiler compiler;
  if (!compiler.scope(Scope::common_context, stream.event_context.get()) ||
      !compiler.scope(Scope::specific_context, event.context.get()) ||
      !compiler.scope(Scope::payload, event.payload.get())) {
    return std::nullopt;
  }
  return compiler.take();
}

}  // namespace ctf
