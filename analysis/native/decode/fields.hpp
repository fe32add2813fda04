// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Decodes fields of any class, one after the other, and shows them to a visitor. This is the whole
// of CTF and not the fast way: see decode/program.hpp.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "decode/bits.hpp"

namespace ctf {

// Values of the integers that others refer to, by slot.
using Slots = std::vector<uint64_t>;

inline bool selects(const FieldClass& choice, const Member& option, uint64_t selector) {
  if (choice.boolean_selector) return selector != 0;
  for (const Range& range : option.ranges) {
    const bool inside = choice.is_signed
                            ? static_cast<int64_t>(range.low) <= static_cast<int64_t>(selector) &&
                                  static_cast<int64_t>(selector) <= static_cast<int64_t>(range.high)
                            : range.low <= selector && selector <= range.high;
    if (inside) return true;
  }
  return false;
}

// Elements may have no bits, and an event may leave many options null: what fields cost is bounded
// in steps, of which a packet has a number for each of its bits. No producer comes near it.
constexpr uint64_t kFreeSteps = 1024;
constexpr uint64_t kMostSteps = 1U << 26;  // of one event; each may fill eight bytes of a column

constexpr const char* kTooManyFields = "an event has more fields than its packet has bits";

inline uint64_t steps_of_packet(uint64_t bits) {
  constexpr uint64_t kStepsPerBit = 32;
  return kFreeSteps + std::min(bits, uint64_t{1} << 56U) * kStepsPerBit;
}

// A visitor that wants nothing: it measures.
struct Skip {
  void integer(const FieldClass&, uint64_t) {}
  void real(const FieldClass&, double) {}
  void bytes(const FieldClass&, std::span<const uint8_t>) {}
  void begin_array(const FieldClass&, uint64_t) {}
  void end_array(const FieldClass&) {}
  void begin_structure(const FieldClass&) {}
  void member(const FieldClass&, size_t) {}
  void end_structure(const FieldClass&) {}
  void begin_choice(const FieldClass&, int) {}
  void end_choice(const FieldClass&) {}
};

template <typename Visitor>
class FieldDecoder {
 public:
  FieldDecoder(BitCursor& cursor, Slots& slots, Visitor& visitor, uint64_t& steps)
      : cursor_(cursor), slots_(slots), visitor_(visitor), steps_(steps) {}

  // Throws DecodeError when the field leaves the content or its bits are wrong.
  void decode(const FieldClass& field) {
    take_steps(1);
    cursor_.align(field.alignment);
    switch (field.kind) {
      case Kind::integer:
        return integer(field);
      case Kind::varint:
        return varint(field);
      case Kind::real:
        return real(field);
      case Kind::string:
        return string(field);
      case Kind::text:
      case Kind::blob:
        return run_of_bytes(field);
      case Kind::array:
        return array(field);
      case Kind::structure:
        return structure(field);
      case Kind::variant:
      case Kind::optional:
        return choice(field);
    }
  }

 private:
  void take_steps(uint64_t count) {
    if (count > steps_) throw DecodeError{kTooManyFields};
    steps_ -= count;
  }

  void keep(const FieldClass& field, uint64_t value) {
    if (field.slot >= 0) slots_[static_cast<size_t>(field.slot)] = value;
    visitor_.integer(field, value);
  }

  uint64_t bits_of(const FieldClass& field) {
    const uint64_t value = cursor_.integer(field.size, field.order);
    return field.is_reversed ? reverse_bits(value, field.size) : value;
  }

  void integer(const FieldClass& field) {
    const uint64_t value = field.is_boolean ? bits_of(field) != 0 : bits_of(field);
    keep(field, field.is_signed ? sign_extend(value, field.size) : value);
  }

  // LEB128: seven bits a byte, the least significant first; the eighth says that more follow.
  void varint(const FieldClass& field) {
    uint64_t value = 0;
    unsigned bits = 0;
    uint64_t byte = 0;
    do {
      byte = cursor_.integer(8, ByteOrder::little);
      // The tenth byte has one bit of the number; the others repeat its sign.
      const uint64_t last = field.is_signed && (byte & 1U) != 0 ? 0x7F : byte & 1U;
      if (bits >= 64 || (bits == 63 && (byte & 0x7F) != last)) {
        throw DecodeError{"a variable-length integer has more than 64 bits"};
      }
      value |= (byte & 0x7F) << bits;
      bits += 7;
    } while ((byte & 0x80) != 0);
    keep(field, field.is_signed && bits < 64 ? sign_extend(value, bits) : value);
  }

  void real(const FieldClass& field) {
    const uint64_t bits = bits_of(field);
    visitor_.real(field, field.size == 32 ? static_cast<double>(
                                                std::bit_cast<float>(static_cast<uint32_t>(bits)))
                                          : std::bit_cast<double>(bits));
  }

  void string(const FieldClass& field) {
    const uint8_t* first = cursor_.byte();
    const unsigned unit = unit_of(field.encoding);
    uint64_t length = 0;
    if (unit == 1) {
      const uint8_t* end = cursor_.string_end();
      if (end == nullptr) throw DecodeError{"a string does not end in the packet's content", true};
      length = static_cast<uint64_t>(end - first);
    } else {
      const uint64_t bytes = cursor_.left() / 8;
      while (length + unit <= bytes && load_bytes(first + length, unit) != 0) length += unit;
      if (length + unit > bytes)
        throw DecodeError{"a string does not end in the packet's content", true};
    }
    cursor_.skip((length + unit) * 8);
    visitor_.bytes(field, {first, length});
  }

  static unsigned unit_of(Encoding encoding) {
    switch (encoding) {
      case Encoding::utf16le:
      case Encoding::utf16be:
        return 2;
      case Encoding::utf32le:
      case Encoding::utf32be:
        return 4;
      default:
        return 1;
    }
  }

  uint64_t length_of(const FieldClass& field) const {
    return field.length ? *field.length : slots_[static_cast<size_t>(field.reference.slot)];
  }

  void run_of_bytes(const FieldClass& field) {
    const uint64_t length = length_of(field);
    if (length > cursor_.left() / 8)
      throw DecodeError{"a field ends beyond the packet's content", true};
    const uint8_t* first = cursor_.byte();
    cursor_.skip(length * 8);
    visitor_.bytes(field, {first, length});
  }

  void array(const FieldClass& field) {
    const uint64_t length = length_of(field);
    if (length > steps_) throw DecodeError{"an array has more elements than the packet has bits"};
    visitor_.begin_array(field, length);
    for (uint64_t i = 0; i < length; ++i) decode(*field.element);
    visitor_.end_array(field);
  }

  void structure(const FieldClass& field) {
    visitor_.begin_structure(field);
    for (size_t i = 0; i < field.members.size(); ++i) {
      visitor_.member(field, i);
      decode(*field.members[i].field);
    }
    visitor_.end_structure(field);
  }

  void choice(const FieldClass& field) {
    take_steps(field.weight);
    const uint64_t selector = slots_[static_cast<size_t>(field.reference.slot)];
    int chosen = -1;
    for (size_t i = 0; i < field.members.size() && chosen < 0; ++i) {
      if (selects(field, field.members[i], selector)) chosen = static_cast<int>(i);
    }
    if (chosen < 0 && field.kind == Kind::variant) {
      throw DecodeError{"no option of a variant has the selector's value"};
    }
    visitor_.begin_choice(field, chosen);
    if (chosen >= 0) decode(*field.members[static_cast<size_t>(chosen)].field);
    visitor_.end_choice(field);
  }

  BitCursor& cursor_;
  Slots& slots_;
  Visitor& visitor_;
  uint64_t& steps_;
};

template <typename Visitor>
void decode_field(const FieldClass* field, BitCursor& cursor, Slots& slots, Visitor& visitor,
                  uint64_t& steps) {
  if (field != nullptr) FieldDecoder<Visitor>(cursor, slots, visitor, steps).decode(*field);
}

}  // namespace ctf
