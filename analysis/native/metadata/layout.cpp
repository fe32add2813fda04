// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "metadata/layout.hpp"

#include <algorithm>

namespace ctf {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// What a copy of the field itself takes, in fields: long names count too.
uint64_t cost_of(const FieldClass& field) {
  constexpr uint64_t kTextOfField = 64;  // bytes
  uint64_t text = field.clock_name.size() + field.reference.place.size();
  uint64_t cost = 1;
  for (const auto& name : field.reference.path) text += sizeof name + name.size();
  for (const auto& label : field.labels) {
    cost += 1 + label.ranges.size() / 4;
    text += label.name.size();
  }
  for (const auto& member : field.members) {
    cost += member.ranges.size() / 4;
    text += member.name.size();
  }
  return cost + text / kTextOfField;
}

}  // namespace

bool has_role(const FieldClass& field, uint16_t role) {
  if ((field.roles & role) != 0 || (field.element && has_role(*field.element, role))) return true;
  return std::ranges::any_of(
      field.members, [role](const Member& member) { return has_role(*member.field, role); });
}

FieldPtr clone(const FieldClass& field, uint64_t& budget) {
  const uint64_t cost = cost_of(field);
  if (budget < cost) return nullptr;
  budget -= cost;
  auto copy = std::make_unique<FieldClass>();
  copy->kind = field.kind;
  copy->alignment = field.alignment;
  copy->size = field.size;
  copy->order = field.order;
  copy->is_reversed = field.is_reversed;
  copy->is_boolean = field.is_boolean;
  copy->is_signed = field.is_signed;
  copy->encoding = field.encoding;
  copy->clock = field.clock;
  copy->clock_name = field.clock_name;
  copy->roles = field.roles;
  copy->labels = field.labels;
  copy->length = field.length;
  copy->reference = field.reference;
  copy->boolean_selector = field.boolean_selector;
  if (field.element) {
    copy->element = clone(*field.element, budget);
    if (!copy->element) return nullptr;
  }
  for (const auto& member : field.members) {
    FieldPtr inner = clone(*member.field, budget);
    if (!inner) return nullptr;
    copy->members.push_back({member.name, std::move(inner), member.ranges});
  }
  return copy;
}

std::string format_uuid(const Uuid& uuid) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[uuid[i] >> 4U];
    text += kDigits[uuid[i] & 15U];
  }
  return text;
}

std::optional<Uuid> parse_uuid(const std::string& text) {
  Uuid uuid{};
  size_t digits = 0;
  for (const char c : text) {
    if (c == '-') continue;
    const int value = hex_value(c);
    if (value < 0 || digits == 32) return std::nullopt;
    uuid[digits / 2] = static_cast<uint8_t>(uuid[digits / 2] * 16 + value);
    ++digits;
  }
  if (digits != 32) return std::nullopt;
  return uuid;
}

}  // namespace ctf
