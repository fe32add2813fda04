// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "messages.hpp"

#include <array>
#include <utility>

namespace relay_chain {

namespace {

constexpr std::int64_t kKib = 1024;
constexpr std::array<std::pair<std::int64_t, const char*>, 8> kFixed{{
    {256, "TimingFixed256"},
    {1 * kKib, "TimingFixed1k"},
    {4 * kKib, "TimingFixed4k"},
    {16 * kKib, "TimingFixed16k"},
    {64 * kKib, "TimingFixed64k"},
    {256 * kKib, "TimingFixed256k"},
    {1024 * kKib, "TimingFixed1m"},
    {4096 * kKib, "TimingFixed4m"},
}};

}  // namespace

std::string message_name(bool fixed, std::int64_t payload) {
  if (!fixed) {
    return "Timing";
  }
  std::string known;
  for (const auto& [size, name] : kFixed) {
    if (size == payload) {
      return name;
    }
    const bool is_last = size == kFixed.back().first;
    known += (known.empty() ? "" : is_last ? " or " : ", ") + std::to_string(size);
  }
  throw Error("Cannot use parameter payload: no type of fixed size has a payload of " +
              std::to_string(payload) + " bytes: " + known + ".");
}

}  // namespace relay_chain
